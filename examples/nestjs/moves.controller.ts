/** NestJS: the routes; errors of Drover are handed on with all their problems. */
import { Controller, Get, HttpException, Param, Post } from "@nestjs/common";
import { DroverError } from "drover/client";
import { MovesService } from "./moves.service.js";

@Controller("tenants/:tenant/move")
export class MovesController {
  constructor(private readonly moves: MovesService) {}

  @Post()
  async start(@Param("tenant") tenant: string) {
    return { id: await handedOn(this.moves.start(tenant)) };
  }

  @Get()
  async status(@Param("tenant") tenant: string) {
    return await handedOn(this.moves.status(tenant));
  }
}

async function handedOn<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    throw new HttpException({ code: error.code, message: error.message, cure: error.cure, problems: error.problems }, error.kind === "config" ? 422 : 503);
  }
}
