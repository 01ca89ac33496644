// The progress page: listens to /events, or asks /progress.json where that cannot be had, and sends commands to the API.
import { Card } from "/assets/card.js";
import { element, reconcile, setText } from "/assets/figures.js";

const POLL = 2000;
const LISTEN_AGAIN = 60000;
const readOnly = document.body.dataset.readOnly === "true";
const cards = new Map();
const list = document.getElementById("migrations");
const connection = document.getElementById("connection");
const known = new Map();
let history = {};

function show(snapshot) {
  state("live", `live · ${new Date(snapshot.at).toLocaleTimeString("en-GB")}`);
  document.querySelector(".loading")?.remove();
  notes(snapshot.unreachable.map((u) => ({ key: u.connection, text: `Connection ${u.connection} could not be asked: ${u.message}` })));
  for (const [id, card] of cards) if (!snapshot.migrations.some((m) => m.id === id)) {
    card.close();
    cards.delete(id);
  }
  const empty = list.querySelector(".empty");
  if (snapshot.migrations.length > 0) empty?.remove();
  else if (empty === null && snapshot.unreachable.length === 0) list.append(document.getElementById("empty").content.cloneNode(true));
  for (const m of snapshot.migrations) {
    let card = cards.get(m.id);
    if (card === undefined) {
      card = new Card(m.id, { readOnly, onAction: act });
      cards.set(m.id, card);
      list.append(card.root);
      if (history[m.id]) card.charts.setHistory(history[m.id]);
    }
    card.update(m);
    card.charts.add([Date.parse(snapshot.at) / 1000, m.rates.copyRowsPerSecond, m.rates.applyRowsPerSecond, m.lagSeconds, m.backlog.bytes]);
    announce(m);
  }
}

/** Says what a person who does not see the page must hear: changes of phase, verdict and error. */
function announce(m) {
  const now = `${m.phase}|${m.verdict.safe}|${m.error?.code ?? ""}|${m.diff?.state ?? ""}`;
  const before = known.get(m.id);
  known.set(m.id, now);
  if (before === undefined || before === now) return;
  const parts = [`${m.id}: ${m.phase}`, m.verdict.safe ? "safe to cut over" : "not safe to cut over"];
  if (m.error !== null) parts.push(`error ${m.error.code}`);
  if (m.diff !== null) parts.push(`comparison ${m.diff.state}`);
  setText(document.getElementById("announce"), parts.join(", "));
}

function notes(items) {
  reconcile(document.getElementById("notes"), items, (item) => item.key, () => element("p", { class: "note" }), (node, item) => setText(node, item.text));
}

function trouble(message) {
  state("stale", "not up to date");
  notes([{ key: "trouble", text: message }]);
}

function state(name, text) {
  connection.dataset.state = name;
  setText(connection, text);
}

let polling = 0;

function listen() {
  const events = new EventSource("/events");
  events.addEventListener("open", () => clearInterval(polling));
  events.addEventListener("history", (event) => {
    history = JSON.parse(event.data);
    for (const [id, points] of Object.entries(history)) cards.get(id)?.charts.setHistory(points);
  });
  events.addEventListener("snapshot", (event) => show(JSON.parse(event.data)));
  events.addEventListener("trouble", (event) => trouble(JSON.parse(event.data).message));
  events.addEventListener("error", () => {
    state("stale", "not up to date: the board does not answer");
    // An answer that is no stream (too many listeners, a login that is over) is not tried again by the browser.
    if (events.readyState !== EventSource.CLOSED) return;
    clearInterval(polling);
    polling = setInterval(poll, POLL);
    void poll();
    setTimeout(listen, LISTEN_AGAIN);
  });
}

async function poll() {
  try {
    const answer = await fetch("/progress.json", { headers: { accept: "application/json" } });
    if (answer.status === 401) return location.assign("/login");
    const body = await answer.json();
    if (answer.ok) show(body);
    else trouble(body.detail ?? answer.statusText);
  } catch {
    state("stale", "not up to date: the board does not answer");
  }
}

const COMMANDS = {
  pause: { path: "pause", doing: "Pausing …", done: "Paused." },
  resume: { path: "resume", doing: "Resuming …", done: "It goes on." },
  stop: { path: "stop", doing: "Stopping …", done: "Stopped." },
  diff: { path: "diffs", doing: "Starting a comparison …", done: "The comparison has begun." },
};

async function act(action, card) {
  const id = card.view.id;
  if (action === "stop" && !(await confirmed(id))) return;
  const { path, doing, done } = COMMANDS[action];
  card.busy(true);
  card.say(doing);
  try {
    const session = await (await fetch("/session", { headers: { accept: "application/json" } })).json();
    const answer = await fetch(`/api/v1/migrations/${encodeURIComponent(id)}/${path}`, { method: "POST", headers: { accept: "application/json", "content-type": "application/json", "x-drover-csrf": session.csrfToken }, body: "{}" });
    if (answer.status === 401) return location.assign("/login");
    if (answer.ok) return card.say(done);
    const problem = await answer.json().catch(() => ({}));
    card.say([problem.detail ?? `The board answered ${answer.status}.`, problem.cure].filter(Boolean).join(" "), true);
  } catch {
    card.say("The board does not answer.", true);
  } finally {
    card.busy(false);
  }
}

function confirmed(id) {
  const dialog = document.getElementById("confirm");
  setText(document.getElementById("confirm-title"), `Stop ${id}?`);
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "stop"), { once: true }));
}

listen();
