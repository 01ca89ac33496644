import { expect, test } from "vitest";
import { notFound } from "../../../src/producers/client/migration-finder.js";
import { DroverError } from "../../../src/shared/errors.js";
import { connectionCures } from "../../../src/shared/mysql/server-address.js";
import { serverError } from "../../../src/shared/mysql/server-error.js";

const driverError = (fields: object) => Object.assign(new Error("no"), fields);

test("a refused login and a server that is not there come with a cure that names the setting", () => {
  const cures = connectionCures("src");
  expect(serverError(driverError({ errno: 1045, sqlState: "28000" }), "SRC", cures)).toMatchObject({ code: "SERVER_UNAVAILABLE", cure: expect.stringContaining("DROVER_CONNECTION_SRC") });
  expect(serverError(driverError({ code: "ECONNREFUSED" }), "SRC", cures)).toMatchObject({ code: "CONNECTION_LOST", cure: expect.stringContaining("see that the server runs") });
  expect(serverError(driverError({ errno: 1290 }), "SRC", cures).cure).toBeUndefined();
});

test("a migration that is nowhere while a server is away: which one, and to try again", () => {
  const error = notFound("shop", [{ connection: "DST", error: new DroverError("CONNECTION_LOST", "DST: refused") }]);
  expect(error.message).toMatch(/^DST did not answer.*"shop".*try again when it answers$/);
});
