/** Columns that line up, also with names in wide characters and with colours. */
import stringWidth from "string-width";

export type Align = "left" | "right";

/**
 * @param header its cells may be painted
 * @param align per column; default left
 */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[], align: readonly Align[] = []): string[] {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => stringWidth(line[column] ?? ""))));
  return lines.map((line) =>
    line.map((cell, column) => {
        const space = " ".repeat((widths[column] ?? 0) - stringWidth(cell));
        return align[column] === "right" ? space + cell : cell + space;
      })
      .join("  ")
      .trimEnd(),
  );
}
