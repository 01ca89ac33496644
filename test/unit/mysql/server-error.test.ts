/** One classification of what the driver, the network and the servers say, for sessions and for the binlog's connection. */
import { describe, expect, it } from "vitest";
import { DroverError } from "../../../src/shared/errors.js";
import { isTimeLimit, serverError } from "../../../src/shared/mysql/server-error.js";
import { streamError } from "../../../src/workers/binlog/stream-error.js";

const driver = (more: object, message = "x") => Object.assign(new Error(message), more);
const session = (thrown: unknown) => serverError(thrown, "SRC").code;
const stream = (thrown: unknown) => streamError(thrown).code;

describe("sessions and the binlog's connection agree", () => {
  it.each<[string, object, string]>([
    ["a refused login: a password is being rotated", { errno: 1045, code: "ER_ACCESS_DENIED_ERROR", sqlState: "28000", fatal: true }, "SERVER_UNAVAILABLE"],
    ["a login without the plugin's word", { errno: 1698, fatal: true }, "SERVER_UNAVAILABLE"],
    ["a locked account", { errno: 3118, fatal: true }, "SERVER_UNAVAILABLE"],
    ["a host that the server does not know at present", { errno: 1130, fatal: true }, "SERVER_UNAVAILABLE"],
    ["too many connections", { errno: 1040, sqlState: "08004", fatal: true }, "SERVER_UNAVAILABLE"],
    ["a shutdown", { errno: 1053, sqlState: "08S01" }, "SERVER_UNAVAILABLE"],
    ["a killed query", { errno: 1317 }, "SERVER_BUSY"],
    ["a missing grant", { errno: 1227, sqlState: "42000" }, "STATEMENT_REFUSED"],
    ["an unknown system variable", { errno: 1193 }, "STATEMENT_REFUSED"],
    ["a server that wants TLS", { errno: 3159, fatal: true }, "STATEMENT_REFUSED"],
    ["a closed connection", { code: "PROTOCOL_CONNECTION_LOST", fatal: true }, "CONNECTION_LOST"],
    ["Node's number of a refused one", { code: "ECONNREFUSED", errno: -111, syscall: "connect", fatal: true }, "CONNECTION_LOST"],
    ["a certificate", { code: "CERT_HAS_EXPIRED" }, "CONNECTION_LOST"],
    ["a destroyed stream", { code: "ERR_STREAM_DESTROYED" }, "CONNECTION_LOST"],
    ["an error without a code that broke the connection", { fatal: true }, "CONNECTION_LOST"],
  ])("%s", (_what, more, code) => expect([session(driver(more)), stream(driver(more))]).toEqual([code, code]));

  it.each<[string, unknown]>([
    ["a TypeError", new TypeError("cells is undefined")],
    ["a RangeError with Node's code", Object.assign(new RangeError("out of range"), { code: "ERR_OUT_OF_RANGE" })],
    ["one that the driver has marked", Object.assign(new TypeError("x"), { fatal: true })],
    ["an assertion", driver({ code: "ERR_ASSERTION" })],
  ])("%s of our own code is a defect, not a lost connection", (_what, thrown) => {
    expect([session(thrown), stream(thrown)]).toEqual(["BUG", "BUG"]);
    expect(serverError(thrown, "SRC").cause).toBe(thrown);
  });

  it("what nobody has marked is a defect in a session, and a complaint of the stream's library in the stream", () => {
    expect([session(new Error("x")), stream(new Error("the GTID set is of another kind"))]).toEqual(["BUG", "STATEMENT_REFUSED"]);
  });

  it("errors of ours stay what they are", () => {
    const ours = new DroverError("ABORTED", "x");
    expect([serverError(ours, "SRC"), streamError(ours)]).toEqual([ours, ours]);
  });
});

describe("of the binlog alone", () => {
  it.each([
    ["Cannot replicate because the source purged required binary logs.", "BINLOG_PURGED"],
    ["Could not find GTID state requested by slave in any binlog files.", "BINLOG_PURGED"],
    ["A replica with the same server_uuid/server_id as this replica has connected", "CONNECTION_LOST"],
    ["log event entry exceeded max_allowed_packet", "STATEMENT_REFUSED"],
  ])("1236: %s", (text, code) => expect(stream(driver({ errno: 1236, sqlState: "HY000" }, text))).toBe(code));
});

it("a time limit is one on both families", () => {
  expect([3024, 1969, 1317, 1205].map((errno) => isTimeLimit(serverError(driver({ errno }), "SRC")))).toEqual([true, true, false, false]);
});
