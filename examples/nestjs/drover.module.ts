/** NestJS: the client as a provider of the whole application. */
import { Global, Module } from "@nestjs/common";
import { DroverHttpClient } from "drover/client";
import { MovesController } from "./moves.controller.js";
import { MovesService } from "./moves.service.js";

@Global()
@Module({
  controllers: [MovesController],
  providers: [
    MovesService,
    {
      provide: DroverHttpClient,
      useFactory: () => {
        const token = process.env["DROVER_API_TOKEN"];
        return new DroverHttpClient({ url: process.env["DROVER_API_URL"] ?? "http://127.0.0.1:3000", ...(token === undefined ? {} : { token }) });
      },
    },
  ],
  exports: [DroverHttpClient],
})
export class DroverModule {}
