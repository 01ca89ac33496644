/** The position that `follow` begins at is one that the source can go on from. */
import { Position } from "../../mysql/position.js";
import { executedPosition } from "../../mysql/position.js";
import { bytesLiteral, sql, utf8Sql, type ByteSql } from "../../mysql/bytes.js";
import type { Session } from "../../mysql/session.js";
import { bounded } from "../../errors.js";
import type { Check } from "../check.js";
import { failure } from "../finding.js";
import { isOn, type ServerFacts } from "../server-facts.js";
import { versionName } from "../server-version.js";

export const startPosition: Check = {
  name: "start position",
  async run(context) {
    const { source, spec } = context;
    if (spec.startPosition === null) return [];
    const wrongForm = (message: string) => [failure("start-position", `"startPosition" ${message}`, "take it from the source: @@gtid_executed (MySQL) or @@gtid_current_pos (MariaDB) at the time of the copy")];
    let position: Position;
    try {
      position = Position.parse(spec.startPosition);
    } catch {
      return wrongForm("is neither a GTID set (uuid:1-5,…) nor a MariaDB GTID position (0-1-5,…)");
    }
    if (source === null || !isOn(source.variables.get("log_bin"))) return [];
    const text = position.toString();
    if (text !== "" && text.includes(":") !== (source.version.flavor === "mysql")) return wrongForm(`has not the form of ${versionName(source.version)}, which ${source.name} is`);
    const executed = Position.parse(await context.onSource(executedPosition));
    if (!executed.covers(position))
      return [failure("start-position-ahead", `"startPosition" has transactions that ${source.name} has not executed (it has ${bounded(executed.toString(), 200)})`, "take the position from this source; transactions that come under these numbers would be left out")];
    const purged = await context.onSource((session) => purgedPosition(session, source));
    if (purged === null || position.covers(Position.parse(purged))) return [];
    return [failure("start-position-purged", `${source.name} no longer has the binlog that comes after "startPosition" (purged: ${bounded(purged, 200)})`, `copy the tables anew (mode "copy+follow")`)];
  },
};

/** Everything before the oldest binlog file; null when the user may not see it. */
async function purgedPosition(session: Session, source: ServerFacts): Promise<string | null> {
  if (source.version.flavor === "mysql") return source.variables.get("gtid_purged") ?? "";
  if (!source.privileges.has("REPLICATION CLIENT", "global")) return null;
  const [oldest] = await session.rows("SHOW BINARY LOGS" as ByteSql);
  if (typeof oldest?.["Log_name"] !== "string") return null;
  const [row] = await session.rows(sql`SELECT BINLOG_GTID_POS(${bytesLiteral(utf8Sql(oldest["Log_name"]))}, 4) AS position`);
  return row?.["position"] ?? null;
}
