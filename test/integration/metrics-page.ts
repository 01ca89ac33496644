/**
 * A `/metrics` page, read as strictly as the text format 0.0.4 says
 * (https://prometheus.io/docs/instrumenting/exposition_formats/): a family's lines stand together behind its HELP and TYPE, no
 * series comes twice, buckets are cumulative and end with their count. There was no parser in the npm registry that keeps the
 * labels of histograms.
 */
type Labels = Record<string, string>;

interface Sample {
  name: string;
  labels: Labels;
  value: number;
}

interface Family {
  type: string;
  samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
// Go, which Prometheus reads with, takes NaN in any case; prom-client writes "Nan".
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([Nn]a[Nn]|[+-]Inf|[+-]?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

export class MetricsPage {
  readonly text: string;
  readonly families: ReadonlyMap<string, Family>;

  constructor(text: string) {
    this.text = text;
    this.families = parse(text);
    for (const [name, family] of this.families) if (family.type === "histogram") checkHistogram(name, family);
  }

  static async fetch(url: string | URL, init: RequestInit = {}): Promise<MetricsPage> {
    const answer = await fetch(url, init);
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`${String(url)} answered ${answer.status}: ${body}`);
    if (!/^text\/plain; version=0\.0\.4/.test(answer.headers.get("content-type") ?? "")) throw new Error(`its type is ${answer.headers.get("content-type")}`);
    return new MetricsPage(body);
  }

  /** The sum over all series with these labels; of a histogram, the number of observations. */
  value(name: string, labels: Labels = {}): number {
    return this.samples(name, labels).reduce((sum, sample) => sum + sample.value, 0);
  }

  has(name: string, labels: Labels = {}): boolean {
    return this.samples(name, labels).length > 0;
  }

  private samples(name: string, labels: Labels): Sample[] {
    const family = this.families.get(name);
    const wanted = family?.type === "histogram" ? `${name}_count` : name;
    return (family?.samples ?? []).filter((sample) => sample.name === wanted && Object.entries(labels).every(([label, value]) => sample.labels[label] === value));
  }
}

function parse(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  const series = new Set<string>();
  let helped = "";
  let current = "";
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (comment) {
      const [, kind, name = "", rest = ""] = comment;
      if (kind === "HELP") helped = name;
      else {
        if (families.has(name) || helped !== name || !/^(counter|gauge|histogram|summary)$/.test(rest)) throw new Error(`out of place: ${line}`);
        families.set(name, { type: rest, samples: [] });
        current = name;
      }
      continue;
    }
    const sample = sampleOf(line);
    const family = families.get(current);
    const suffix = sample.name.startsWith(current) ? sample.name.slice(current.length) : null;
    if (family === undefined || suffix === null || !(suffix === "" ? family.type !== "histogram" : /^(histogram|summary)$/.test(family.type) && /^_(bucket|sum|count)$/.test(suffix))) throw new Error(`in no family: ${line}`);
    const id = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted(([a], [b]) => a.localeCompare(b)))}`;
    if (series.has(id)) throw new Error(`twice: ${line}`);
    series.add(id);
    family.samples.push(sample);
  }
  return families;
}

function sampleOf(line: string): Sample {
  const match = SAMPLE.exec(line);
  if (!match) throw new Error(`no sample: ${line}`);
  const [, name = "", inside = "", value = ""] = match;
  const labels: Labels = {};
  for (LABEL.lastIndex = 0; LABEL.lastIndex < inside.length; ) {
    const label = LABEL.exec(inside);
    if (!label || label[1]! in labels) throw new Error(`wrong labels: ${line}`);
    labels[label[1]!] = label[2]!.replace(/\\(.)/g, (_, c: string) => (c === "n" ? "\n" : c));
  }
  return { name, labels, value: /Inf$/.test(value) ? (value.startsWith("-") ? -Infinity : Infinity) : Number(value) };
}

function checkHistogram(name: string, family: Family): void {
  const last = new Map<string, { le: number; count: number }>();
  for (const sample of family.samples) {
    const { le, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    const before = last.get(key) ?? { le: -Infinity, count: 0 };
    if (sample.name === `${name}_bucket`) {
      const bound = le === "+Inf" ? Infinity : Number(le);
      if (!(bound > before.le) || sample.value < before.count) throw new Error(`${name} ${key}: buckets are not cumulative`);
      last.set(key, { le: bound, count: sample.value });
    } else if (sample.name === `${name}_count` && (before.le !== Infinity || before.count !== sample.value)) throw new Error(`${name} ${key}: its buckets do not end with its count`);
  }
}
