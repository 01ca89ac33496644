// Draws /progress.json once a second. Text enters the page as text nodes only.
const INTERVAL = 1000;
const main = document.getElementById("migrations");
const footer = document.getElementById("footer");

function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

const count = (n) => n.toLocaleString("en-US");
const seconds = (s) => (s === null ? "unknown" : s < 60 ? `${s} s` : `${Math.round(s / 60)} min`);

function figures(m) {
  const parts = [];
  if (m.phase === "copying") parts.push(`${count(m.rates.copyRowsPerSecond)} rows/s`, `left: ${seconds(m.etaSeconds)}`);
  parts.push(`lag: ${seconds(m.lagSeconds)}`, `applying ${count(m.rates.applyRowsPerSecond)} rows/s`, `backlog: ${count(m.backlog.batches)} batches, ${count(m.backlog.bytes)} bytes`);
  return parts.join(" · ");
}

function tableRow(t) {
  const name = t.source === t.target ? t.source : `${t.source} → ${t.target}`;
  const done = t.phase === "copied" || t.phase === "indexing";
  const bar = element("progress", { max: Math.max(1, t.rowsEstimated), value: done ? Math.max(1, t.rowsEstimated) : t.rowsCopied, "aria-label": name });
  return element("tr", {}, element("td", {}, name), element("td", {}, bar), element("td", { class: "number" }, `${count(t.rowsCopied)} rows`), element("td", {}, t.phase));
}

function section(m) {
  return element("section", { id: `migration-${m.id}` },
    element("h2", {}, m.id, element("span", { class: `phase ${m.phase}` }, m.phase)),
    element("p", { class: "figures" }, figures(m)),
    m.error && element("p", { class: "error" }, `${m.error.code}: ${m.error.message} (at ${m.error.at}, ${m.error.retries} times)`),
    m.stuck && element("p", { class: "stuck" }, `nothing has moved since ${m.stuck.since}: ${m.stuck.reason}`),
    element("table", {}, ...m.tables.map(tableRow)));
}

async function draw() {
  try {
    const answer = await fetch("/progress.json", { headers: { accept: "application/json" } });
    if (answer.status === 401) return location.assign("/login");
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.detail ?? answer.statusText);
    const notes = body.unreachable.map((u) => element("p", { class: "error" }, `connection ${u.connection} could not be asked: ${u.message}`));
    main.replaceChildren(...notes, ...(body.migrations.length === 0 ? [element("p", {}, "No migrations.")] : body.migrations.map(section)));
    footer.textContent = `as of ${new Date().toLocaleTimeString()}`;
  } catch (error) {
    footer.textContent = `not up to date: ${error.message}`;
  }
  setTimeout(draw, INTERVAL);
}

void draw();
