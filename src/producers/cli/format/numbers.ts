/** Figures as people read them. */
import { formatDuration } from "../../../shared/units.js";

/** `1,234,567` */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `1 batch`, `2 batches` */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `950/s`, `41.2k/s`, `1.2M/s` */
export function rate(perSecond: number): string {
  if (perSecond < 10_000) return `${count(perSecond)}/s`;
  return perSecond < 1_000_000 ? `${(perSecond / 1000).toFixed(1)}k/s` : `${(perSecond / 1_000_000).toFixed(1)}M/s`;
}

export function seconds(value: number | null): string {
  if (value === null) return "–";
  return value === 0 ? "0 s" : formatDuration(value * 1000);
}

/** `42 %`; 100 only at the end. */
export function percent(done: number, total: number): string {
  if (total <= 0) return "0 %";
  return `${done >= total ? 100 : Math.min(99, Math.floor((100 * done) / total))} %`;
}
