/** NestJS: starting a tenant's migration and reading its status. */
import { Injectable } from "@nestjs/common";
import { DroverHttpClient, type MigrationStatus } from "drover/client";

@Injectable()
export class MovesService {
  constructor(private readonly drover: DroverHttpClient) {}

  async start(tenant: string): Promise<string> {
    const spec = { id: `tenant-${tenant}`, source: "SRC", target: "DST", tables: [{ schema: `tenant_${tenant}` }] };
    return (await this.drover.startMigration(spec, { preflight: true })).id;
  }

  async status(tenant: string): Promise<Pick<MigrationStatus, "phase" | "lagSeconds" | "etaSeconds" | "error">> {
    const { phase, lagSeconds, etaSeconds, error } = await this.drover.status(`tenant-${tenant}`);
    return { phase, lagSeconds, etaSeconds, error };
  }
}
