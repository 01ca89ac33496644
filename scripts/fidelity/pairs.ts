/** Which servers, and how they are set against each other: zones, modes and character sets that differ wherever they can. */
import type { Flavor, MysqlServer, ServerConfig, Servers } from "../servers/index.js";

export const PAIRS = ["mysql-mysql", "mysql-mariadb", "mariadb-mysql", "mariadb-mariadb"] as const;
export type Pair = (typeof PAIRS)[number];

export function flavorsOf(pair: Pair): { source: Flavor; target: Flavor } {
  const [source, target] = pair.split("-") as [Flavor, Flavor];
  return { source, target };
}

const COMMON: ServerConfig = { max_allowed_packet: "64M", innodb_flush_log_at_trx_commit: 2, sync_binlog: 0 };

const SOURCE_CONFIG: ServerConfig = {
  ...COMMON,
  default_time_zone: "+05:30",
  sql_mode: "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH",
  character_set_server: "latin1",
  collation_server: "latin1_german1_ci",
};

const TARGET_CONFIG: ServerConfig = {
  ...COMMON,
  default_time_zone: "-08:00",
  sql_mode: "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,PIPES_AS_CONCAT,IGNORE_SPACE,NO_UNSIGNED_SUBTRACTION,HIGH_NOT_PRECEDENCE,REAL_AS_FLOAT,ONLY_FULL_GROUP_BY",
  character_set_server: "gbk",
  collation_server: "gbk_bin",
};

/** Servers are started once for all pairs that have them. */
export class PairServers {
  private readonly opened = new Map<string, Promise<MysqlServer>>();

  constructor(private readonly servers: Servers) {}

  source(flavor: Flavor): Promise<MysqlServer> {
    return this.open(`${flavor}-source`, flavor, SOURCE_CONFIG);
  }

  target(flavor: Flavor): Promise<MysqlServer> {
    return this.open(`${flavor}-target`, flavor, TARGET_CONFIG);
  }

  private open(name: string, flavor: Flavor, config: ServerConfig): Promise<MysqlServer> {
    const known = this.opened.get(name) ?? this.servers.mysql({ name, flavor, config });
    this.opened.set(name, known);
    return known;
  }
}
