"use strict";
// The page: rows as the server sends them, one record in full, figures per hook. Everything that a journal quotes
// becomes text by `textContent`, never markup.

const MOST = 500; // rows in the list; older ones are let go
const TYPING_MS = 300;
const FIGURES_MS = 5000; // figures are asked for again at most this often
const PULSE_PARTS = 60;
const PULSE_MS = 10000;

const by = (id) => document.getElementById(id);
const view = { source: null, paused: false, held: [], waiting: 0, events: 0, blocked: 0, failed: 0, pulse: new Map(),
  figuresDue: 0, figuresFor: null, query: new URLSearchParams(location.search).get("q") || "" };

function make(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function shape(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// --- activity

function timeOf(at) {
  if (!at) return "";
  const moment = new Date(at / 1e6);
  if (Number.isNaN(moment.getTime())) return "?";
  const today = moment.toDateString() === new Date().toDateString();
  return today ? moment.toLocaleTimeString([], { hour12: false })
    : moment.toLocaleString([], { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false });
}

function millis(ms) {
  return ms === null ? "" : ms >= 10 ? Math.round(ms).toLocaleString() : ms.toFixed(1);
}

function verdictOf(row) {
  const marks = { block: "✗ block", allow: "✓ allow", ask: "? ask" };
  if (row.failed && row.verdict === "none") return make("span", "verdict failed", "! failed");
  return make("span", `verdict ${marks[row.verdict] || row.verdict === "damaged" ? row.verdict : "none"}`,
    marks[row.verdict] || row.verdict);
}

function rowLine(row) {
  const line = make("tr");
  const event = row.events > 1 ? `${row.event} × ${row.events.toLocaleString()}` : row.event;
  for (const text of [timeOf(row.at), row.host, event, row.tool]) line.append(make("td", "", text));
  line.firstChild.title = row.at ? new Date(row.at / 1e6).toLocaleString() : "";
  const verdict = make("td");
  verdict.append(verdictOf(row));
  const hook = make("td", "", row.hook);
  const reason = [row.reason, row.shadow ? "(not enforced: shadow)" : ""].filter(Boolean).join(" ");
  if (reason) hook.append(make("span", "reason", reason));
  hook.title = [row.hook, reason].filter(Boolean).join("\n");
  line.append(verdict, make("td", "number", millis(row.ms)), hook);
  line.tabIndex = 0;
  if (row.n !== null) line.dataset.n = row.n;
  return line;
}

function count(row) {
  view.events += row.events;
  view.blocked += row.verdict === "block";
  view.failed += row.failed;
  const part = Math.floor(row.at / 1e6 / PULSE_MS);
  const now = Math.floor(Date.now() / PULSE_MS);
  if (part <= now - PULSE_PARTS || part > now) return;
  const found = view.pulse.get(part) || { usual: 0, blocked: 0 };
  found[row.verdict === "block" ? "blocked" : "usual"] += row.events;
  view.pulse.set(part, found);
}

function add(rows) {
  const newest = document.createDocumentFragment();
  for (const row of rows.slice(-MOST)) newest.prepend(rowLine(row));
  by("rows").prepend(newest);
  while (by("rows").childElementCount > MOST) by("rows").lastElementChild.remove();
}

function take(rows) {
  rows.forEach(count);
  if (view.paused) {
    view.waiting += rows.length;
    view.held = view.held.concat(rows).slice(-MOST);
  } else {
    add(rows);
  }
  if (rows.some((row) => row.ms !== null)) view.figuresDue = view.figuresDue || Date.now() + FIGURES_MS;
  tell();
}

function tell() {
  const plural = (number, word) => `${number.toLocaleString()} ${word}`;
  by("counts").textContent = [plural(view.events, view.events === 1 ? "event" : "events"),
    plural(view.blocked, "blocked"), plural(view.failed, "with a failure")].join("  ·  ");
  by("pause").textContent = view.paused ? (view.waiting ? `Resume (${view.waiting.toLocaleString()})` : "Resume") : "Pause";
  const empty = by("rows").childElementCount === 0;
  by("nothing").hidden = !empty || by("state").dataset.state === "connecting";
  by("nothing").textContent = view.query ? "No record fits this search. New ones that do will stand here."
    : "Nothing yet. Events stand here as soon as an agent fires them.";
  drawPulse();
}

function state(name, text) {
  by("state").dataset.state = document.body.dataset.state = name;
  by("state").textContent = text || name;
}

function problem(text) {
  by("problem").hidden = !text;
  by("problem").textContent = text || "";
}

function connect() {
  if (view.source) view.source.close();
  const source = new EventSource(`events?q=${encodeURIComponent(view.query)}`);
  view.source = source;
  state("connecting", view.query ? "searching" : "connecting");
  // Each connection begins with the newest records again; what is shown stays until they are there.
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    by("rows").replaceChildren();
    Object.assign(view, { held: [], waiting: 0, events: 0, blocked: 0, failed: 0 });
    view.pulse.clear();
    problem("");
  };
  source.addEventListener("open", () => { begun = false; });
  source.addEventListener("rows", (message) => { begin(); take(JSON.parse(message.data)); });
  source.addEventListener("ready", () => {
    begin();
    state(view.paused ? "paused" : "live");
    tell();
    showFigures();
  });
  source.addEventListener("problem", (message) => {
    source.close();
    state("lost", "not searching");
    problem(JSON.parse(message.data).problem);
  });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED) state("lost", "waiting for anyhook serve");
    else if (source === view.source) setTimeout(() => source === view.source && connect(), 3000);
  });
}

// --- charts

function drawPulse() {
  const now = Math.floor(Date.now() / PULSE_MS);
  for (const part of view.pulse.keys()) if (part <= now - PULSE_PARTS) view.pulse.delete(part);
  const most = Math.max(1, ...[...view.pulse.values()].map((each) => each.usual + each.blocked));
  const bars = [];
  for (let index = 0; index < PULSE_PARTS; index += 1) {
    const found = view.pulse.get(now - PULSE_PARTS + 1 + index) || { usual: 0, blocked: 0 };
    bars.push(...column(index * 4, 3, 26, [["blocked", found.blocked / most], ["usual", found.usual / most]]));
  }
  by("pulse").replaceChildren(...bars);
}

// One column of stacked parts over a base line; shares are of the whole height.
function column(x, width, height, parts) {
  const bars = [shape("rect", { x, y: height - 1, width, height: 1, class: "base" })];
  let y = height;
  for (const [name, share] of parts) {
    if (share <= 0) continue;
    const tall = Math.max(2, share * height);
    y -= tall;
    bars.push(shape("rect", { x, y: Math.max(0, y), width, height: tall, class: name }));
  }
  return bars;
}

function span(seconds) {
  if (seconds < 0.9995) return `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function figure(name, value, className) {
  const made = make("span", className, `${name} `);
  made.append(make("b", "", value));
  return made;
}

function hookCard(hook, dearest) {
  const card = make("li");
  const name = make("button", "", hook.hook);
  name.type = "button";
  name.title = `${hook.hook}\nShow only what this hook had a part in`;
  name.addEventListener("click", () => search(`hook:${hook.hook.split(/\s/, 1)[0]}`));
  const most = Math.max(1, ...hook.over_time);
  const chart = shape("svg", { class: "over-time", viewBox: `0 0 ${hook.over_time.length * 10} 34`, role: "img",
    preserveAspectRatio: "none", "aria-label": `Runs over time: ${hook.over_time.join(", ")}` });
  hook.over_time.forEach((runs, index) => chart.append(...column(index * 10, 8, 34, [["usual", runs / most]])));
  const share = shape("svg", { class: "share", viewBox: "0 0 100 4", preserveAspectRatio: "none", role: "img",
    "aria-label": "Its share of the waiting" });
  share.append(shape("rect", { width: 100, height: 4, class: "base" }),
    shape("rect", { width: dearest ? 100 * hook.cost_s / dearest : 0, height: 4, class: "usual" }));
  const numbers = make("div", "figures");
  numbers.append(figure("runs", hook.runs.toLocaleString()), figure("p50", span(hook.p50_ms / 1000)),
    figure("p95", span(hook.p95_ms / 1000)), figure("waited", span(hook.cost_s)));
  const shadow = hook.shadow_blocks ? ` (${hook.shadow_blocks.toLocaleString()} in shadow mode)` : "";
  if (hook.blocks) numbers.append(figure("blocked", hook.blocks.toLocaleString() + shadow, "bad"));
  const timedOut = hook.timeouts ? ` (${hook.timeouts.toLocaleString()} timed out)` : "";
  if (hook.failures) numbers.append(figure("failed", hook.failures.toLocaleString() + timedOut, "poor"));
  card.append(name, chart, numbers, share);
  return card;
}

async function showFigures() {
  view.figuresDue = 0;
  const since = by("span").value;
  const query = /(^|\s)since:/.test(view.query) || !since ? view.query : `${view.query} since:${since}`;
  if (view.figuresFor !== query) by("hooks-note").textContent = "reading the journal …";
  view.figuresFor = query;
  try {
    const answer = await (await fetch(`hooks?q=${encodeURIComponent(query.trim())}`)).json();
    if (view.figuresFor !== query) return; // something else was asked for meanwhile
    if (answer.problem) {
      by("hooks-note").textContent = answer.problem;
      return;
    }
    const dearest = Math.max(0, ...answer.hooks.map((hook) => hook.cost_s));
    by("hooks").replaceChildren(...answer.hooks.map((hook) => hookCard(hook, dearest)));
    by("no-hooks").hidden = answer.hooks.length > 0;
    by("hooks-note").textContent = answer.regardless_of_text ? "whatever the text" : "";
  } catch {
    view.figuresDue = Date.now() + FIGURES_MS; // the connection will tell
  }
}

// --- one record

function lineOf(text) {
  const kind = text.startsWith("  ✗") || text.startsWith("decision  block") ? "bad" : /^\S/.test(text) ? "strong" : "";
  return make("span", kind, `${text}\n`);
}

async function showFull(number) {
  let answer;
  try {
    answer = await (await fetch(`record/${number}`)).json();
  } catch {
    answer = { problem: "The page has lost `anyhook serve`." };
  }
  by("full-title").textContent = `Record ${number}`;
  by("full-lines").replaceChildren(...(answer.lines || [answer.problem]).map(lineOf));
  by("full-json").textContent = answer.json || "";
  by("full").querySelector("details").hidden = !answer.json;
  if (!by("full").open) by("full").showModal();
  by("full").scrollTop = 0;
  if (location.hash !== `#${number}`) history.replaceState(null, "", `#${number}`);
}

function fromAddress() {
  const number = /^#(\d+)$/.exec(location.hash);
  if (number) showFull(number[1]);
}

// --- what a person does

function pause(wanted) {
  view.paused = wanted;
  by("pause").setAttribute("aria-pressed", wanted);
  state(wanted ? "paused" : "live");
  if (!wanted) {
    add(view.held);
    Object.assign(view, { held: [], waiting: 0 });
  }
  tell();
}

function search(query) {
  by("query").value = query;
  if (query === view.query) return;
  if (view.paused) pause(false); // what is asked for now is not to wait
  view.query = query;
  history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
  connect();
}

let typing = 0;
by("query").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => search(by("query").value), TYPING_MS);
});
by("search").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  search(by("query").value);
});
by("pause").addEventListener("click", () => pause(!view.paused));
by("rows").addEventListener("click", (event) => {
  const line = event.target.closest("tr");
  if (line && line.dataset.n) showFull(line.dataset.n);
});
by("rows").addEventListener("keydown", (event) => {
  const line = event.target.closest("tr");
  const next = { ArrowDown: line.nextElementSibling, ArrowUp: line.previousElementSibling }[event.key];
  if (next) next.focus();
  else if (event.key === "Enter" && line.dataset.n) showFull(line.dataset.n);
  else return;
  event.preventDefault();
});
by("full").addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
by("full").addEventListener("click", (event) => {
  if (event.target === by("full")) by("full").close(); // beside it, on the backdrop
});
by("span").addEventListener("change", showFigures);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, select")) return;
  event.preventDefault();
  by("query").focus();
});
window.addEventListener("hashchange", fromAddress);
setInterval(() => {
  drawPulse();
  if (view.figuresDue && Date.now() >= view.figuresDue) showFigures();
}, 1000);

by("query").value = view.query;
connect();
fromAddress();
