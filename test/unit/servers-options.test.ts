import { expect, test } from "vitest";

import { optionArguments, serverConfig } from "../../scripts/servers/mysql/options.js";

test("a server has what Drover's sources need", () => {
  const options = optionArguments(serverConfig("mysql", 7, {}));
  expect(options).toEqual(
    expect.arrayContaining([
      "--server-id=7",
      "--log-bin=binlog",
      "--loose-binlog-format=ROW",
      "--binlog-row-image=FULL",
      "--binlog-row-metadata=FULL",
      "--gtid-mode=ON",
      "--enforce-gtid-consistency=ON",
      "--local-infile=ON",
    ]),
  );
});

test("the caller's options win, however they are spelt", () => {
  const options = optionArguments(
    serverConfig("mysql", 7, { "binlog-row-image": "MINIMAL", local_infile: false, max_connections: 5 }),
  );
  expect(options).toContain("--binlog-row-image=MINIMAL");
  expect(options).not.toContain("--binlog-row-image=FULL");
  expect(options).toContain("--local-infile=OFF");
  expect(options).toContain("--max-connections=5");
});

test.each([false, 0, "OFF"])("log_bin: %s switches the binlog off, instead of naming its file", (value) => {
  const options = optionArguments(serverConfig("mysql", 7, { log_bin: value }));
  expect(options).toContain("--skip-log-bin");
  expect(options.filter((option) => option.startsWith("--log-bin"))).toEqual([]);
});

test("MariaDB gets no option that only MySQL has", () => {
  const options = optionArguments(serverConfig("mariadb", 7, {}));
  expect(options.filter((option) => /--gtid-mode|enforce-gtid|mysqlx|secure-file/.test(option))).toEqual([]);
});
