/** Sizes and durations as people write them (`8MiB`, `500ms`) to plain numbers, and back. */

const BYTE_UNITS: Record<string, number> = {
  b: 1, k: 1024, kb: 1000, kib: 1024, m: 1024 ** 2, mb: 1000 ** 2, mib: 1024 ** 2, g: 1024 ** 3, gb: 1000 ** 3, gib: 1024 ** 3,
};

const TIME_UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

function parseUnit(text: string, units: Record<string, number>, plain: number): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  if (!match) return undefined;
  const unit = (match[2] ?? "").toLowerCase();
  const factor = unit === "" ? plain : units[unit];
  return factor === undefined ? undefined : Math.round(Number(match[1]) * factor);
}

/** Bytes of `8MiB`, `512k`, `1000`; undefined when it is no size. */
export function parseBytes(text: string): number | undefined {
  return parseUnit(text, BYTE_UNITS, 1);
}

/** Milliseconds of `500ms`, `60s`, `1h`; a bare number counts milliseconds; undefined when it is no duration. */
export function parseDuration(text: string): number | undefined {
  return parseUnit(text, TIME_UNITS, 1);
}

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return milliseconds < 10_000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
