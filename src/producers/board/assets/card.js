// One migration: made once from the template, brought up to date in place, so that focus and open details stay.
import { Charts } from "/assets/charts.js";
import { ago, bytes, count, element, reconcile, seconds, setText } from "/assets/figures.js";

const WORKING = ["planning", "copying", "catching-up", "streaming"];
const ENDED = ["completed", "stopped"];
const KINDS = { mismatched: "different", missingOnTarget: "missing on the target", extraOnTarget: "only on the target", inconclusive: "kept changing" };

export class Card {
  constructor(id, { readOnly, onAction }) {
    this.root = document.getElementById("card").content.firstElementChild.cloneNode(true);
    this.root.id = `migration-${id}`;
    this.find = (selector) => this.root.querySelector(selector);
    const heading = this.find("h2");
    heading.id = `name-${id}`;
    heading.textContent = id;
    this.root.setAttribute("aria-labelledby", heading.id);
    this.charts = new Charts(this.root);
    this.find(".actions").hidden = readOnly;
    for (const button of this.root.querySelectorAll("[data-action]")) button.addEventListener("click", () => onAction(button.dataset.action, this));
  }

  update(m) {
    // Where something is still to be copied, the tables are of interest; from then on the person decides.
    if (this.view === undefined) this.find(".tables").open = m.tableCounts.copied < m.tableCounts.total;
    this.view = m;
    this.root.dataset.phase = m.phase;
    const phase = this.find(".phase");
    setText(phase, m.phase);
    phase.dataset.phase = m.phase;
    this.updateVerdict(m.verdict);
    this.updateAttention(m);
    this.updateCopy(m);
    this.updateFigures(m);
    this.updateTables(m);
    this.updateDiff(m.diff);
    this.updateActions(m.phase);
  }

  updateVerdict({ safe, checks }) {
    const verdict = this.find(".verdict");
    verdict.dataset.safe = String(safe);
    setText(this.find(".verdict .mark"), safe ? "✓" : "✗");
    setText(this.find(".verdict-text"), safe ? "Safe to cut over" : "Not safe to cut over");
    reconcile(this.find(".checks"), checks, (check) => check.name, () => element("li", {}, element("span", { class: "mark", "aria-hidden": "true" }), element("span", { class: "hidden-text" }), element("span")), (node, check) => {
      node.dataset.ok = String(check.ok);
      const [mark, spoken, text] = node.children;
      setText(mark, check.ok ? "✓" : "✗");
      setText(spoken, check.ok ? "Yes: " : "No: ");
      setText(text, check.text);
    });
  }

  updateAttention(m) {
    const lines = [];
    if (m.error !== null) lines.push({ kind: "error", title: m.error.code, text: m.error.message, more: m.phase === "failed" ? "It does not go on by itself: remove the cause, then resume it." : `Last seen ${ago(m.error.at)} ago, ${count(m.error.retries)} in a row; it is tried again by itself.` });
    if (m.stuck !== null) lines.push({ kind: "stuck", title: `Nothing has moved for ${ago(m.stuck.since)}`, text: m.stuck.reason, more: "" });
    const box = this.find(".attention");
    box.hidden = lines.length === 0;
    reconcile(box, lines, (line) => line.kind, (line) => element("div", { class: line.kind }, element("strong"), element("p"), element("p", { class: "more" })), (node, line) => {
      setText(node.children[0], line.title);
      setText(node.children[1], line.text);
      setText(node.children[2], line.more);
    });
  }

  updateCopy(m) {
    const { rowsCopied, bytesCopied } = m.totals;
    const done = m.tableCounts.total > 0 && m.tableCounts.copied === m.tableCounts.total;
    this.find(".copy").hidden = m.tableCounts.total === 0;
    const bar = this.find(".copy progress");
    bar.max = Math.max(1, m.rowsEstimated);
    bar.value = done ? bar.max : Math.min(rowsCopied, m.rowsEstimated);
    const percent = done ? 100 : Math.floor((100 * rowsCopied) / Math.max(1, m.rowsEstimated));
    setText(this.find(".copy-text"), done ? `all ${count(rowsCopied)} rows, ${bytes(bytesCopied)}` : `${percent} % · ${count(rowsCopied)} of about ${count(m.rowsEstimated)} rows, ${bytes(bytesCopied)}`);
  }

  updateFigures(m) {
    const figures = [];
    if (m.phase === "copying") figures.push(["Copying", `${count(m.rates.copyRowsPerSecond)} rows/s`], ["Left", seconds(m.etaSeconds)]);
    figures.push(["Lag", seconds(m.lagSeconds)], ["Applying", `${count(m.rates.applyRowsPerSecond)} rows/s`], ["Applied", `${count(m.totals.rowsApplied)} changes`], ["Backlog", `${bytes(m.backlog.bytes)}, ${count(m.backlog.batches)} ${m.backlog.batches === 1 ? "batch" : "batches"}`]);
    figures.push(["Started", `${ago(m.startedAt)} ago`]);
    reconcile(this.find(".figures"), figures, ([name]) => name, ([name]) => element("div", {}, element("dt", {}, name), element("dd")), (node, [, value]) => setText(node.lastElementChild, value));
  }

  updateTables(m) {
    const { total, copied } = m.tableCounts;
    const tables = this.find(".tables");
    tables.hidden = total === 0;
    setText(tables.querySelector("summary"), `Tables: ${count(copied)} of ${count(total)} copied`);
    reconcile(tables.querySelector("tbody"), m.tables, (t) => t.source, (t) => element("tr", {}, element("th", { scope: "row" }, t.source === t.target ? t.source : `${t.source} → ${t.target}`), element("td", {}, element("progress", { "aria-label": `Copy of ${t.source}` })), element("td", { class: "number" }), element("td")), (row, t) => {
      const bar = row.querySelector("progress");
      bar.max = Math.max(1, t.rowsEstimated);
      bar.value = t.phase === "copied" || t.phase === "indexing" ? bar.max : Math.min(t.rowsCopied, t.rowsEstimated);
      setText(row.children[2], count(t.rowsCopied));
      setText(row.children[3], t.phase);
    });
    const more = tables.querySelector(".more");
    more.hidden = total <= m.tables.length;
    setText(more, `… and ${count(total - m.tables.length)} more tables`);
  }

  updateDiff(diff) {
    const bar = this.find(".diff-progress");
    const running = diff !== null && (diff.state === "running" || diff.state === "pending");
    bar.hidden = !running;
    if (running) bar.value = diff.progress.percent;
    setText(this.find(".diff-text"), diffText(diff));
    const samples = diff === null ? [] : diff.different.flatMap((table) => table.samples.map((sample) => ({ ...sample, table: table.source })));
    const box = this.find(".samples");
    box.hidden = samples.length === 0;
    setText(box.querySelector("summary"), `Keys of ${count(samples.length)} of these rows`);
    reconcile(box.querySelector("tbody"), samples, (s) => `${s.table} ${s.kind} ${JSON.stringify(s.key)}`, (s) => element("tr", {},
      element("th", { scope: "row" }, s.table), element("td", {}, KINDS[s.kind] ?? s.kind), element("td", {}, Object.entries(s.key).map(([name, value]) => `${name} = ${value}`).join(", ")), element("td", {}, s.columns.join(", "))), () => undefined);
  }

  updateActions(phase) {
    const offered = { pause: WORKING.includes(phase), resume: phase === "paused" || phase === "failed", stop: !ENDED.includes(phase), diff: phase !== "planning" };
    for (const [action, is] of Object.entries(offered)) this.find(`[data-action=${action}]`).hidden = !is;
  }

  say(text, failed = false) {
    const outcome = this.find(".outcome");
    outcome.dataset.failed = String(failed);
    setText(outcome, text);
  }

  busy(is) {
    for (const button of this.root.querySelectorAll("[data-action]")) button.disabled = is;
  }

  close() {
    this.charts.close();
    this.root.remove();
  }
}

function diffText(diff) {
  if (diff === null) return "Both sides have not been compared yet.";
  const t = diff.totals;
  const found = [[t.mismatched, "different"], [t.missingOnTarget, "missing on the target"], [t.extraOnTarget, "only on the target"], [t.inconclusive, "kept changing"]].filter(([n]) => n > 0).map(([n, what]) => `${count(n)} ${what}`);
  const result = found.length > 0 ? found.join(", ") : "no difference";
  if (diff.state === "completed") return `Completed ${ago(diff.completedAt)} ago: ${count(t.rowsCompared)} rows compared, ${found.length > 0 ? result : "all equal"}${diff.limited ? " (a part of the rows only)" : ""}.`;
  if (diff.state === "running" || diff.state === "pending") return `Running: ${diff.progress.percent} %, ${count(t.rowsCompared)} rows compared, ${result} so far${diff.progress.etaSeconds === null ? "" : `, about ${seconds(diff.progress.etaSeconds)} left`}.`;
  return `${diff.state === "failed" ? "Failed" : "Stopped"}: ${diff.lastError?.message ?? "no reason is recorded"}`;
}
