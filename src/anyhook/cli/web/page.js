"use strict";
// The page: rows as the server sends them, one record in full, figures per hook. Everything that a journal quotes
// becomes text by `textContent`, never markup.

const MOST = 500; // rows in the list; older ones are let go
const TYPING_MS = 300;
const STANDING_MS = 15000; // how often to ask whether guards are on
const WAITING_MS = 1000; // how often to ask which calls wait for a person
const FIGURES_MS = 5000; // figures are asked for again at most this often
const AGAIN_MS = 3000;
const SHOW_MS = 100;
const SHORT_NAME = 8; // a machine's name is random, and `machine:` takes its beginning
const PULSE_PARTS = 60;
const PULSE_MS = 10000;

const by = (id) => document.getElementById(id);
const asked = () => new URLSearchParams(location.search).get("q") || "";
const view = { source: null, paused: false, anew: true, held: [], showing: 0, newest: 0, events: 0, blocked: 0,
  failed: 0, pulse: new Map(), figuresDue: 0, figuresFor: null, query: asked(), leaving: false };

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

function dayTime(at) {
  return new Date(at / 1e6).toLocaleString([],
    { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false });
}

function timeOf(at) {
  if (!at) return "";
  const moment = new Date(at / 1e6);
  if (Number.isNaN(moment.getTime())) return "?";
  const today = moment.toDateString() === new Date().toDateString();
  return today ? moment.toLocaleTimeString([], { hour12: false }) : dayTime(at);
}

function plural(number, word) {
  return `${number.toLocaleString()} ${word}${number === 1 ? "" : "s"}`;
}

function millis(ms) {
  return ms === null ? "" : ms >= 10 ? Math.round(ms).toLocaleString() : ms.toFixed(1);
}

// A cell of [text, class] parts; empty ones are left out.
function cell(className, ...parts) {
  const made = make("td", className);
  made.setAttribute("role", "cell");
  for (const [text, kind] of parts) if (text) made.append(make("span", kind, text), " ");
  made.title = parts.map(([text]) => text).filter(Boolean).join("\n");
  return made;
}

function rowLine(row) {
  const line = make("tr");
  line.setAttribute("role", "row");
  const time = cell("time");
  if (row.n === null) {
    time.textContent = timeOf(row.at);
  } else {
    line.dataset.n = row.n;
    const link = make("a", "", timeOf(row.at) || "?");
    Object.assign(link, { href: `#${row.n}`, tabIndex: -1 });
    time.append(link);
  }
  time.title = [row.n === null ? "" : `record ${row.n}`, row.at ? new Date(row.at / 1e6).toString() : ""].join("\n");
  const event = row.events > 1 ? `${row.event} × ${row.events.toLocaleString()}` : row.event;
  const warns = row.said.startsWith("!") || (row.shadow && row.verdict === "block");
  const why = cell("why", [row.reason], [row.hook, row.reason ? "reason" : ""]);
  for (const number of row.earlier) why.append("after ", Object.assign(linkTo(number), { tabIndex: -1 }), " ");
  line.append(time, cell("from", [row.machine.slice(0, SHORT_NAME), "quiet"], [row.host]), cell("what", [event], [row.tool, "strong"], [row.about, "reason"]),
    cell("said", [row.said, `verdict ${warns ? "warns" : row.verdict}`]), cell("number", [millis(row.ms)]), why);
  return line;
}

function count(row) {
  view.events += row.events;
  view.blocked += row.refused;
  view.failed += row.failed;
  const part = Math.floor(row.at / 1e6 / PULSE_MS);
  const now = Math.floor(Date.now() / PULSE_MS);
  if (part <= now - PULSE_PARTS || part > now) return;
  const found = view.pulse.get(part) || { usual: 0, blocked: 0 };
  found[row.refused ? "blocked" : "usual"] += row.events;
  view.pulse.set(part, found);
}

function add(rows) {
  const newest = document.createDocumentFragment();
  for (const row of rows.slice(-MOST)) newest.prepend(rowLine(row));
  if (view.anew) by("rows").replaceChildren();
  view.anew = false;
  by("rows").prepend(newest);
  while (by("rows").childElementCount > MOST) by("rows").lastElementChild.remove();
  for (const row of rows) view.newest = Math.max(view.newest, row.at);
  if (!by("rows").querySelector("a[tabindex='0']")) reachable(by("rows").querySelector("a"));
}

// One row can be reached by Tab, and the arrow keys go on from there: hundreds of stops would be a wall.
function reachable(link) {
  for (const other of by("rows").querySelectorAll("a[tabindex='0']")) other.tabIndex = -1;
  if (link) link.tabIndex = 0;
}

// Rows wait a moment, or as long as the page is paused: of a flood only the last are ever drawn.
function take(rows) {
  rows.forEach(count);
  view.held = view.held.concat(rows).slice(-MOST);
  if (rows.some((row) => row.ms !== null)) view.figuresDue = view.figuresDue || Date.now() + FIGURES_MS;
  view.showing = view.showing || setTimeout(show, SHOW_MS);
}

function show() {
  clearTimeout(view.showing);
  view.showing = 0;
  if (!view.paused) add(view.held.splice(0));
  sides();
  tell();
}

// A figure that leads to what it counts.
function finds(text, query) {
  const link = make("a", "", text);
  link.href = query ? `?q=${encodeURIComponent(query)}` : location.pathname;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    search(query, true);
  });
  return link;
}

function tell() {
  by("counts").replaceChildren(finds(plural(view.events, "event"), ""), "  ·  ",
    finds(`${view.blocked.toLocaleString()} refused`, "verdict:block"), "  ·  ",
    `${view.failed.toLocaleString()} with a failure`);
  const waiting = view.held.filter((row) => row.at > view.newest).length;
  by("pause").textContent = !view.paused ? "Pause" : !waiting ? "Resume"
    : `Resume (${waiting.toLocaleString()}${waiting < MOST ? "" : " or more"})`;
  const empty = by("rows").childElementCount === 0;
  by("nothing").hidden = !empty || by("state").dataset.state === "connecting";
  by("nothing").textContent = view.query ? "No record fits this search. New ones that do will appear here."
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
  // Each connection begins with the newest records again; what is shown stays until they are there, or the pause ends.
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    Object.assign(view, { anew: true, held: [], events: 0, blocked: 0, failed: 0 });
    view.pulse.clear();
    problem("");
  };
  source.addEventListener("open", () => { begun = false; });
  source.addEventListener("rows", (message) => { begin(); take(JSON.parse(message.data)); });
  source.addEventListener("ready", () => {
    begin();
    state(view.paused ? "paused" : "live");
    show();
    showFigures();
  });
  source.addEventListener("problem", (message) => {
    source.close();
    state("lost", "not searching");
    problem(JSON.parse(message.data).problem);
  });
  source.addEventListener("error", () => {
    if (source !== view.source) return;
    state("lost", "no connection");
    problem("`anyhook serve` does not answer. If it was started anew, it has printed a new address.");
    if (source.readyState === EventSource.CLOSED) again(source);
  });
}

// The browser itself asks again where nobody answers. An answer that is none is ours to look at.
async function again(source) {
  const answer = await fetch("page.svg").catch(() => null);
  if (answer && answer.status === 401) {
    problem("This address was that of an `anyhook serve` that has ended. The one that runs now has printed another.");
    return;
  }
  setTimeout(() => source === view.source && connect(), AGAIN_MS);
}

// A browser keeps few connections to one place. Pages that nobody looks at leave theirs to those that somebody does.
function shownOrHidden() {
  if (document.hidden) {
    view.source?.close();
    view.source = null;
  } else if (!view.source) {
    connect();
  }
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

// Names and values, as the server tells them.
function figures(told) {
  return Object.entries(told).map(([name, value]) => {
    const made = make("span", { refused: "bad", failed: "poor", "would block": "poor" }[name], `${name} `);
    made.append(make("b", "", value));
    return made;
  });
}

function hookCard(hook, dearest, from, step) {
  const card = make("li");
  const name = make("button", "");
  // A line may end after any part of its name, so that nothing of it is cut.
  hook.hook.split(/(?<=[:/-])/).forEach((part) => name.append(part, make("wbr")));
  name.type = "button";
  name.title = `${hook.hook}\nShow only what this hook had a part in`;
  name.addEventListener("click", () => search(`hook:${hook.hook.split(/\s/, 1)[0]}`, true));
  const most = Math.max(1, ...hook.over_time);
  const chart = shape("svg", { class: "over-time", viewBox: `0 0 ${hook.over_time.length * 10} 34`, role: "img",
    preserveAspectRatio: "none", "aria-label": `Runs over time: ${hook.over_time.join(", ")}` });
  hook.over_time.forEach((runs, index) => {
    const part = shape("g", {});
    const title = shape("title", {});
    title.textContent = `from ${dayTime(from + index * step)}: ${plural(runs, "run")}`;
    part.append(title, ...column(index * 10, 8, 34, [["usual", runs / most]]),
      shape("rect", { x: index * 10, width: 10, height: 34, class: "over" }));
    chart.append(part);
  });
  const share = shape("svg", { class: "share", viewBox: "0 0 100 4", preserveAspectRatio: "none", role: "img",
    "aria-label": `Waited for it: ${Math.round(dearest ? 100 * hook.cost_s / dearest : 0)} % of the dearest hook` });
  share.append(shape("rect", { width: 100, height: 4, class: "base" }),
    shape("rect", { width: dearest ? 100 * hook.cost_s / dearest : 0, height: 4, class: "usual" }));
  const numbers = make("div", "figures");
  numbers.append(...figures(hook.told));
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
    const { hooks, from, to } = answer;
    const dearest = Math.max(0, ...hooks.map((hook) => hook.cost_s));
    const step = hooks.length ? (to - from) / hooks[0].over_time.length : 0;
    by("sums").replaceChildren(...figures(answer.told));
    const focused = [...by("hooks").querySelectorAll("button")].indexOf(document.activeElement);
    by("hooks").replaceChildren(...hooks.map((hook) => hookCard(hook, dearest, from, step)));
    by("hooks").querySelectorAll("button")[focused]?.focus({ preventScroll: true });
    by("no-hooks").hidden = hooks.length > 0;
    by("hooks-note").textContent = answer.note;
    showMachines(answer);
  } catch {
    view.figuresDue = Date.now() + FIGURES_MS; // the connection will tell
  }
}

// --- many machines

// A cell that leads to what it counts; nothing for zero.
function counted(label, count, query) {
  const made = make("td", "number");
  made.setAttribute("role", "cell");
  made.dataset.label = label;
  if (count) made.append(query ? finds(count.toLocaleString(), query) : count.toLocaleString());
  return made;
}

function named(text, query, title) {
  const made = make("td", "name");
  made.setAttribute("role", "cell");
  made.append(finds(text, query));
  made.title = title;
  return made;
}

function tableLine(...cells) {
  const line = make("tr");
  line.setAttribute("role", "row");
  line.append(...cells);
  return line;
}

// What else is searched for stays; what these name is replaced.
function narrowed(...words) {
  const kinds = words.map((word) => word.split(":")[0]);
  const kept = view.query.split(/\s+/).filter((word) => word && !kinds.includes(word.split(":")[0]));
  return [...kept, ...words].join(" ");
}

// What a machine said about its own guards; nothing if it never did.
function guards({ off_guards: off, protected: held, anyhook }) {
  const told = off.length ? `OFF: ${off.map((id) => id.split(":").at(-1)).slice(0, 2).join(", ")}${off.length > 2 ? ` +${off.length - 2}` : ""}`
    : held === null ? "" : held ? "on" : "NOT PROTECTED";
  const made = cell("guards", [told, off.length || held === false ? "strong" : "quiet"]);
  made.title = [...off, anyhook && `anyhook ${anyhook}`].filter(Boolean).join("\n");
  return made;
}

function showMachines({ machines, noisy }) {
  by("many").hidden = !machines.length && by("many").hidden;
  by("many-title").textContent = plural(machines.length, "machine");
  const off = machines.filter((each) => each.off || each.off_guards.length || each.protected === false).length;
  by("many-note").textContent = off ? `${plural(off, "machine")} with guards that are off` : "";
  by("machines").replaceChildren(...machines.map((each) => {
    const own = `machine:${each.machine}`;
    return tableLine(named(each.machine.slice(0, SHORT_NAME), narrowed(own), each.machine),
      cell("agents", [each.agents.join(", ")]), guards(each), cell("time", [each.ago]), counted("calls", each.calls, narrowed(own)),
      counted("refused", each.refused, narrowed(own, "verdict:block")), counted("would block", each.would_block, ""),
      counted("not asked", each.off, ""));
  }));
  by("noisy").replaceChildren(...noisy.map((each) => {
    const own = `hook:${each.hook.split(/\s/, 1)[0]}`;
    return tableLine(named(each.hook, narrowed(own), each.hook),
      counted("refused", each.refused, narrowed(own, "verdict:block")),
      counted("asked", each.asked, narrowed(own, "verdict:ask")), counted("machines", each.machines, ""));
  }));
}

// --- am I protected?

async function showStanding() {
  const answer = await fetch("standing").then((got) => got.json()).catch(() => null); // the connection will tell
  if (answer === null) return;
  by("standing").hidden = !answer.line;
  by("standing").dataset.protected = answer.protected;
  by("standing").textContent = answer.line;
}

showStanding();
setInterval(showStanding, STANDING_MS);

// --- calls that wait for a person

const waiting = new Map(); // id → its element

function leftOf(call) {
  return `${Math.max(0, Math.round(call.left_s))} s left`;
}

// The two buttons, and a third where a yes may last; what it would cover is shown before it counts.
function waitingCall(call) {
  const item = make("li");
  item.setAttribute("aria-label", `${call.agent}: ${call.tool}: ${call.what}`);
  const buttons = make("div", "buttons");
  const offer = (answer, text) => {
    const button = make("button", answer, text);
    button.type = "button";
    button.addEventListener("click", () => giveAnswer(call, answer, item));
    buttons.append(button);
  };
  offer("allow", "Allow once");
  offer("deny", "Deny");
  if (call.may_last) {
    offer("session", "Allow for this session");
    buttons.append(make("span", "quiet", `What ${call.rule} asks about then passes until this session ends.`));
  }
  const lines = make("pre");
  lines.textContent = call.lines.join("\n");
  item.append(make("p", "strong", `${call.agent} in ${call.project}`), make("p", "left quiet", leftOf(call)), lines,
    buttons);
  return item;
}

async function giveAnswer(call, answer, item) {
  item.dataset.focused = item.contains(document.activeElement) || ""; // a disabled button loses it
  item.querySelectorAll("button").forEach((button) => { button.disabled = true; });
  const told = await fetch("approvals", { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ id: call.id, digest: call.digest, answer }) })
    .then((got) => got.json()).catch(() => ({ why: "The page has lost `anyhook serve`. The call is not answered." }));
  by("asked-said").textContent = told.taken ? `${answer === "deny" ? "Denied" : "Allowed"}: ${call.what}`
    : told.why;
  showWaiting();
}

async function showWaiting() {
  const answer = await fetch("approvals").then((got) => got.json()).catch(() => null); // the connection will tell
  if (answer === null || !answer.waiting) return;
  const ids = new Set(answer.waiting.map((call) => call.id));
  for (const [id, item] of waiting) {
    if (!ids.has(id)) {
      const had = item.dataset.focused || item.contains(document.activeElement);
      item.remove();
      waiting.delete(id);
      if (had) (by("waiting").querySelector("button") || by("query")).focus();
    }
  }
  for (const call of answer.waiting) {
    if (waiting.has(call.id)) {
      waiting.get(call.id).querySelector(".left").textContent = leftOf(call);
      continue;
    }
    const item = waitingCall(call);
    if (answer.closed) item.querySelector(".buttons").replaceChildren(make("span", "quiet", answer.closed));
    waiting.set(call.id, item);
    by("waiting").append(item);
  }
  const verb = waiting.size === 1 ? "waits" : "wait";
  by("asked-title").textContent = waiting.size ? `${plural(waiting.size, "call")} ${verb} for you` : "Answered";
  by("asked").hidden = !waiting.size && !by("asked-said").textContent;
}

showWaiting();
setInterval(() => document.hidden || showWaiting(), WAITING_MS);
localStorage.setItem("anyhook", location.pathname.split("/")[1]); // for the link of a notice, which has no token

// --- one record

// The record of an earlier call.
function linkTo(number) {
  const link = make("a", "", `record ${number}`);
  link.href = `#${number}`;
  return link;
}

function lineOf(text, tone) {
  const after = /^( {6}after {3})record (\d+)(:.*)$/.exec(text);
  const made = make("span", tone, after ? after[1] : `${text}\n`);
  if (after) made.append(linkTo(after[2]), `${after[3]}\n`);
  // What does not fit goes on below its own beginning, behind the word that names it.
  made.style.setProperty("--hang", `${/^ *(\S{1,8} {2,})?(?=\S)/.exec(text)?.[0].length ?? 0}ch`);
  return made;
}

async function showFull(number) {
  let answer;
  try {
    answer = await (await fetch(`record/${number}`)).json();
  } catch {
    answer = { problem: "The page has lost `anyhook serve`." };
  }
  if (location.hash !== `#${number}`) return; // another was asked for meanwhile
  by("full-title").textContent = `Record ${number}`;
  by("full-age").textContent = answer.ago || "";
  by("command").textContent = `anyhook explain ${number}`;
  by("copy").textContent = "Copy";
  by("ask").hidden = Boolean(answer.machine); // it is not in the journal of this machine
  by("like").replaceChildren(...(answer.like || []).map((query) => {
    const chip = make("button", "", query);
    Object.assign(chip, { type: "button", title: "Search for more of these" });
    chip.addEventListener("click", () => search(query, true));
    return chip;
  }));
  by("full-lines").replaceChildren(...(answer.lines || [answer.problem])
    .map((line, index) => lineOf(line, answer.tones?.[index])));
  by("full-json").textContent = answer.json || "";
  by("full").querySelector("details").hidden = !answer.json;
  sides();
  if (!by("full").open) by("full").showModal();
  by("full").scrollTop = 0;
  entitle();
}

// The number of the record above or below the one that is shown; where that is not in the list, of none.
function beside(which) {
  let line = by("rows").querySelector(`tr[data-n="${location.hash.slice(1)}"]`)?.[which];
  while (line && !line.dataset.n) line = line[which];
  return line?.dataset.n;
}

function sides() {
  by("newer").disabled = !beside("previousElementSibling");
  by("older").disabled = !beside("nextElementSibling");
}

function goBeside(which) {
  const number = beside(which);
  if (number) location.replace(`#${number}`);
}

function entitle() {
  const record = by("full").open ? by("full-title").textContent : "";
  document.title = [record, view.query, "anyhook"].filter(Boolean).join(" · ");
}

// What the address says is what is shown: a search, and perhaps a record.
function fromAddress() {
  if (asked() !== view.query) search(asked());
  const number = /^#(\d+)$/.exec(location.hash);
  if (number) showFull(number[1]);
  else if (by("full").open) {
    view.leaving = true;
    by("full").close();
  }
  entitle();
}

// --- what a person does

function pause(wanted) {
  view.paused = wanted;
  by("pause").setAttribute("aria-pressed", wanted);
  if (view.source?.readyState === EventSource.OPEN) state(wanted ? "paused" : "live");
  show();
}

// `chosen` where it was not typed letter by letter: then the way back leads to what was searched before.
function search(query, chosen) {
  by("query").value = query;
  const address = query ? `?q=${encodeURIComponent(query)}` : location.pathname;
  if (chosen) history.pushState(null, "", address);
  else if (query !== asked()) history.replaceState(null, "", address + location.hash);
  if (chosen && by("full").open) by("full").close();
  if (query === view.query) return;
  view.query = query;
  entitle();
  if (view.paused) pause(false); // what is asked for now is not to wait
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
  if (!line.dataset.n || event.target.closest("a")) return;
  line.querySelector("a").focus({ preventScroll: true }); // where the person comes back to
  location.hash = line.dataset.n;
});
by("rows").addEventListener("focusin", (event) => reachable(event.target));
by("rows").addEventListener("keydown", (event) => {
  const list = by("rows");
  const next = { Home: list.firstElementChild, End: list.lastElementChild }[event.key];
  if (!next) return;
  event.preventDefault();
  next.querySelector("a")?.focus();
});
by("close").addEventListener("click", () => by("full").close());
by("full").addEventListener("close", () => {
  // The event comes later. If the way back closed it, the address may be the next one by then.
  if (location.hash && !view.leaving) history.pushState(null, "", location.pathname + location.search);
  view.leaving = false;
  entitle();
});
by("full").addEventListener("click", (event) => {
  if (event.target === by("full")) by("full").close(); // beside it, on the backdrop
});
by("full").addEventListener("keydown", (event) => {
  if (event.key === "ArrowLeft") goBeside("previousElementSibling");
  else if (event.key === "ArrowRight") goBeside("nextElementSibling");
});
by("newer").addEventListener("click", () => goBeside("previousElementSibling"));
by("older").addEventListener("click", () => goBeside("nextElementSibling"));
by("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(by("command").textContent);
    by("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(by("command")); // not allowed: then by hand
  }
});
by("span").addEventListener("change", showFigures);
// To the row beside the one that has the focus; to the one that Tab reaches if none has.
function goTo(sibling) {
  const line = document.activeElement.closest("#rows tr");
  const next = line ? line[sibling]?.querySelector("a") : by("rows").querySelector("a[tabindex='0']");
  next?.focus();
}

const KEYS = {
  "/": () => by("query").focus(),
  "?": () => by("help").showModal(),
  p: () => pause(!view.paused),
  j: () => goTo("nextElementSibling"),
  k: () => goTo("previousElementSibling"),
};
const ARROWS = { ArrowDown: KEYS.j, ArrowUp: KEYS.k };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches("input, select")) return;
  const run = KEYS[event.key] || (event.target.closest("#rows") && ARROWS[event.key]);
  if (!run) return;
  event.preventDefault();
  run();
});
by("keys").addEventListener("click", KEYS["?"]);
by("help").querySelector("button").addEventListener("click", () => by("help").close());
by("help").addEventListener("click", (event) => {
  if (event.target === by("help")) by("help").close(); // beside it, on the backdrop
});
document.addEventListener("visibilitychange", shownOrHidden);
window.addEventListener("popstate", fromAddress);
setInterval(() => {
  drawPulse();
  if (view.figuresDue && Date.now() >= view.figuresDue) showFigures();
}, 1000);

const zone = new Intl.DateTimeFormat([], { timeZoneName: "short" }).formatToParts(new Date());
by("zone").textContent = zone.find((part) => part.type === "timeZoneName").value;
by("query").value = view.query;
if (!document.hidden) connect();
fromAddress();
