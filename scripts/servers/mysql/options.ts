/** The command line of a test server: this module's defaults, under what the caller asks for. */
import type { Flavor, ServerConfig } from "../server.js";

/** What Drover's sources need; durability stays at the server's own defaults unless the caller says otherwise. */
const common: ServerConfig = {
  log_bin: "binlog",
  binlog_format: "ROW",
  binlog_row_image: "FULL",
  binlog_row_metadata: "FULL",
  local_infile: true,
  innodb_buffer_pool_size: "256M",
};

const byFlavor: Record<Flavor, ServerConfig> = {
  mysql: { gtid_mode: true, enforce_gtid_consistency: true, mysqlx: false, secure_file_priv: "NULL" },
  mariadb: { gtid_strict_mode: true },
};

export function serverConfig(flavor: Flavor, serverId: number, config: ServerConfig): ServerConfig {
  const wanted = Object.fromEntries(Object.entries(config).map(([name, value]) => [name.replaceAll("-", "_"), value]));
  return { server_id: serverId, ...common, ...byFlavor[flavor], ...wanted };
}

export function optionArguments(config: ServerConfig): string[] {
  return Object.entries(config).map(([name, value]) => {
    const option = name.replaceAll("_", "-");
    // log_bin takes a file name, so a value of OFF would switch it on
    if (name === "log_bin" && isOff(value)) return "--skip-log-bin";
    // known to MySQL as deprecated: a version without it logs a warning instead of refusing to start
    const loose = name === "binlog_format" || name === "mysqlx" ? "loose-" : "";
    return `--${loose}${option}=${value === true ? "ON" : value === false ? "OFF" : value}`;
  });
}

function isOff(value: string | number | boolean): boolean {
  return value === false || value === 0 || String(value).toUpperCase() === "OFF";
}
