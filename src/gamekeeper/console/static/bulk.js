// An item for many. Each character is a request of its own with a key of its own, so what is sent twice is done once;
// the run is kept while the tab is open, so that a lost connection or a reload loses neither it nor its undo. What it did
// is in the ledger: with `?run=` the page is about one that has been, and keeps nothing.
import { select, selected } from "./selection.js";
import { answerOf, Lost } from "./bulk_requests.js";
import { lookBack, told as toldOfPast } from "./bulk_past.js";
import { chooser } from "./chooser.js";

const KEPT = "gamekeeper-bulk";
const AT_ONCE = 4;
const GIVEN = ["done", "lost"]; // certainly, or maybe
const UNKEPT = new Set(["lines", "before"]); // of a row: long, and not needed to go on
const SHOWN = 3; // lines of a row before the rest is folded away
const WORDS = { ready: "", sending: "…", lost: "Not known yet: go on to find out", done: { give: "Given", undo: "Taken back" } };

const page = document.getElementById("bulk");
const part = (name) => page.querySelector(`[data-${name}]`);
const [plan, question, progress, item] = [part("plan"), part("confirm-all"), part("progress"), part("suggest")];
const most = Number(page.dataset.most);
const asked = new URLSearchParams(location.search);
let run = asked.has("run") ? past() : (restored() ?? planned());
let stopped = false;

// Whose turn is still to come, or whose outcome is not known.
function left(of = run) {
  return of.rows.filter((row) => ["ready", "lost", "changed"].includes(row.state));
}

function planned() {
  const rows = [...selected()].map(([id, name]) => ({ id, name, state: "", said: "", lines: [], seen: "", number: null }));
  return { id: newId(), me: page.dataset.me, kind: "give", stage: "plan", rows };
}

// Its undos get other keys each time: what was taken back, and given back since, is taken back once more.
function past() {
  return { id: asked.get("run"), by: asked.get("by") ?? "", turn: newId(), kind: "give", stage: "finding", rows: [], next: "", past: true };
}

function newId() {
  return [...crypto.getRandomValues(new Uint8Array(6))].map((each) => each.toString(16).padStart(2, "0")).join("");
}

function restored() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (kept?.me !== page.dataset.me) return null; // keys are one keeper's own: another would give again
  for (const row of kept.rows) Object.assign(row, { state: row.state === "sending" ? "lost" : row.state, lines: [] });
  kept.stage = "over";
  return left(kept).length === 0 && selected().size > 0 ? null : kept;
}

function save() {
  if (run.past) return; // the ledger has it
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(run, (name, value) => (UNKEPT.has(name) ? undefined : value)));
    part("unkept").hidden = true;
  } catch {
    part("unkept").hidden = false; // it goes on: only a reload would lose it
  }
}

const done = () => run.rows.filter((row) => row.state === "done");
const many = (count) => `${count} ${count === 1 ? "character" : "characters"}`;
const what = () => `${Number(run.quantity).toLocaleString()} × ${run.item.name}`;

function fieldsOf(row) {
  if (run.kind === "undo") return { path: `/api/keeper/v1/changes/${row.number}/undo` };
  return { path: `/api/v1/players/${row.id}/items/give`, "body.itemid": run.item.id, "body.quantity": run.quantity, "body.bankoverflow": run.overflow };
}

async function look(row) {
  if (run.kind === "undo" && row.number === null) row.number = await numberOf(row);
  if (run.kind === "undo" && row.number === null) {
    Object.assign(row, { state: "out", said: "The ledger knows of no gift", lines: [] });
    return;
  }
  const { ok, told } = await answerOf("/console/act", fieldsOf(row));
  if (ok) Object.assign(row, { state: "ready", said: "", lines: told.changes.flat(), seen: told.seen });
  else Object.assign(row, { state: "refused", said: told.Message });
}

async function carryOut(row) {
  row.state = "sending";
  show(row);
  save();
  const again = { confirmed: "yes", key: run.past ? `${run.turn}-${row.number}` : `${run.id}-${run.kind}-${row.id}`, seen: row.seen, reason: `${run.reason} (run ${run.id})` };
  const { ok, told } = await answerOf("/console/act", { ...fieldsOf(row), ...again });
  if (ok) await note(row, told);
  else if (told.seen) Object.assign(row, { state: "changed", said: "It changed meanwhile: nothing was done. This is what would happen now.", lines: told.changes.flat(), seen: told.seen });
  else Object.assign(row, { state: "refused", said: told.Message });
}

async function note(row, told) {
  if (told.changes.length) row.lines = told.changes.flat();
  // an answer to what was sent twice names no change: the first one did, and was lost
  if (run.kind === "give") row.number = told.numbers[0] ?? (await numberOf(row));
  Object.assign(row, { state: "done", said: "" });
}

async function numberOf(row) {
  const { ok, told } = await answerOf(`/console/bulk/given?${new URLSearchParams({ player: row.id, run: run.id })}`);
  if (!ok) throw new Lost(told.Message); // "none" would be an answer
  return told.numbers[0] ?? null;
}

// One after the other, a few at once, until all are through or somebody stops it.
async function course(rows, step, stage, said) {
  stopped = false;
  run.stage = stage;
  const waiting = [...rows];
  let through = 0;
  let problem = "";
  refresh(said);
  part("course").focus(); // not Stop: a second Enter is not meant for it
  const work = async () => {
    while (!stopped && waiting.length) {
      const row = waiting.shift();
      try {
        await step(row);
      } catch (failure) {
        if (!(failure instanceof Lost)) throw failure;
        if (stage === "running") row.state = "lost";
        problem = failure.message;
        stopped = true;
      }
      through += 1;
      show(row);
      progress.max = rows.length;
      progress.value = through;
      part("tally").textContent = `${through} of ${rows.length}`;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { problem, whole: !waiting.length && !problem };
}

async function lookAtAll(rows) {
  const { problem, whole } = await course(rows, look, "looking", "Looking at what will happen to each. Nothing is done yet.");
  run.stage = whole ? "asked" : run.kind === "give" ? "plan" : "over";
  if (!whole && run.kind === "undo") backToGiven();
  refresh(whole ? "" : `${problem || "Stopped."} Nothing was done.`);
  if (whole) question.elements.reason.focus();
}

async function carryOutAll() {
  const rows = left();
  if (run.kind === "give") select([]); // what is under way is no longer only selected
  const { problem } = await course(rows, carryOut, "running", run.kind === "give" ? `Giving ${what()} to ${many(rows.length)}.` : `Taking it back from ${many(rows.length)}.`);
  run.stage = "over";
  save();
  refresh(`${problem ? `${problem} ` : ""}${outcome()}`);
  (part("again").hidden ? part("undo").hidden ? part("forget") : part("undo") : part("again")).focus();
}

function outcome() {
  if (run.past && run.kind === "give") return toldOfPast(run, many);
  const refused = run.rows.filter((row) => row.state === "refused").length;
  const verb = run.kind === "give" ? `${what()} given to` : "Taken back from";
  return [
    `${verb} ${many(done().length)}.`,
    refused ? `Not done for ${refused}: see why below.` : "",
    left().length ? `${left().length} left; whatever was sent is never done twice.` : "",
  ].join(" ").trim();
}

// What is lost may be under way still. Sent again with its key it is given once, and its number is known.
async function settle() {
  const unsure = run.rows.filter((row) => row.state === "lost");
  if (!unsure.length) return true;
  const { problem, whole } = await course(unsure, carryOut, "running", `Finding out whether ${many(unsure.length)} got it.`);
  run.stage = "over";
  save();
  if (!whole) refresh(`${problem || "Stopped."} Nothing was taken back. ${outcome()}`);
  return whole;
}

async function undoAll() {
  if (!(await settle())) return;
  const rows = run.rows.filter((row) => row.state === "done");
  for (const row of run.rows) {
    const { state, said, lines, seen } = row;
    row.before = { state, said, lines, seen };
    if (!rows.includes(row)) Object.assign(row, { state: "out", said: said || "Nothing was given", lines: [] });
  }
  run.kind = "undo";
  lookAtAll(rows);
}

function backToGiven() {
  run.kind = "give";
  for (const row of run.rows) Object.assign(row, row.before);
}

function resultOf(row) {
  if (row.said) return row.said;
  return row.state === "done" ? WORDS.done[run.kind] : (WORDS[row.state] ?? "");
}

function make(tag, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function lineOf(line) {
  const made = make("li", `${line.what}: `);
  made.append(make("span", line.before, "was"), " → ", make("span", line.after, "now"));
  return made;
}

function listOf(lines) {
  const list = make("ul");
  list.append(...lines.map(lineOf));
  return list;
}

function show(row) {
  const there = page.querySelector("tbody").rows[run.rows.indexOf(row)];
  const made = document.createElement("tr");
  made.dataset.id = row.id;
  const head = make("th");
  head.scope = "row";
  const link = make("a", row.name);
  link.href = `/console/players/${encodeURIComponent(row.id)}`;
  head.append(link);
  const lines = make("td");
  if (row.lines.length) lines.append(listOf(row.lines.slice(0, SHOWN)));
  if (row.lines.length > SHOWN) {
    const rest = make("details");
    rest.append(make("summary", `${row.lines.length - SHOWN} more`), listOf(row.lines.slice(SHOWN)));
    lines.append(rest);
  }
  const result = make("td", resultOf(row), row.state);
  if (run.stage === "plan") result.append(leaveOut(row));
  made.append(head, result, lines);
  if (there) there.replaceWith(made);
  else page.querySelector("tbody").append(made);
}

function leaveOut(row) {
  const button = make("button", "Leave out", "small");
  button.type = "button";
  button.setAttribute("aria-label", `Leave out ${row.name}`);
  button.addEventListener("click", () => {
    run.rows = run.rows.filter((each) => each !== row);
    select(run.rows.map((each) => [each.id, each.name]));
    refresh();
  });
  return button;
}

// Everything but the rows' own steps: what can be done now, and what is said about it.
function refresh(said = "") {
  const busy = run.stage === "looking" || run.stage === "running";
  const over = run.stage === "over";
  const given = run.rows.filter((row) => GIVEN.includes(row.state)).length;
  part("none").hidden = run.rows.length > 0 || run.past;
  plan.hidden = run.stage !== "plan" || run.rows.length === 0;
  part("who").textContent = many(run.rows.length);
  const tooMany = run.rows.length - most;
  part("too-many").hidden = tooMany <= 0;
  part("too-many").textContent = tooMany > 0 ? `${most} are the most at once. Leave out ${tooMany} below; nothing is done before that.` : "";
  part("look").disabled = tooMany > 0;
  question.hidden = run.stage !== "asked" || left().length === 0;
  part("course").hidden = !said && !busy && !over && !(run.stage === "asked" && left().length === 0);
  part("said").textContent = said || (over ? outcome() : run.stage === "asked" && !left().length ? "It cannot be done for anybody: see why below." : "");
  progress.hidden = part("tally").hidden = !busy;
  progress.value = 0;
  part("tally").textContent = "";
  part("stop").hidden = !busy;
  part("again").hidden = !over || left().length === 0;
  part("again").textContent = `Go on with the ${left().length} left`;
  part("undo").hidden = !over || run.kind === "undo" || given === 0;
  part("undo").textContent = `Undo all ${given}`;
  part("forget").hidden = busy || run.stage === "plan" || !question.hidden;
  part("further").hidden = !over || run.kind === "undo" || !run.past || run.next === null;
  part("further").textContent = run.reached ? "Look further back" : "Look again";
  part("address").hidden = !over || run.past;
  part("address").href = `/console/bulk?${new URLSearchParams({ run: run.id, by: run.me })}`;
  part("changes").hidden = !over;
  part("changes").href = `/console/changes?${new URLSearchParams({ reason: `run ${run.id}` })}`;
  ask();
  part("rows").hidden = run.rows.length === 0;
  page.querySelector("tbody").replaceChildren();
  run.rows.forEach(show);
}

function ask() {
  if (question.hidden) return;
  const refused = run.rows.filter((row) => row.state === "refused").length;
  const who = many(left().length);
  const not = refused ? ` ${refused} cannot: see why below.` : "";
  part("question").textContent = (run.kind === "give" ? `Give ${what()} to ${who}?` : `Take it back from ${who}?`) + not;
  part("go").textContent = run.kind === "give" ? `Give to ${who}` : `Take back from ${who}`;
}

async function find() {
  run.stage = "finding";
  refresh("Looking for it in the ledger.");
  let problem = "";
  try {
    await lookBack(run, most);
  } catch (failure) {
    if (!(failure instanceof Lost)) throw failure;
    problem = failure.message;
  }
  run.stage = "over";
  refresh(problem);
}

function forget() {
  if (run.past) return location.assign("/console/bulk");
  sessionStorage.removeItem(KEPT);
  run = planned();
  refresh();
}

chooser(item); // before our own submit, which waits for it
plan.addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = { id: plan.elements.given.value, name: item.value.trim() };
  Object.assign(run, { item: chosen, quantity: plan.elements.quantity.value, overflow: plan.elements.overflow.checked });
  lookAtAll(run.rows);
});
question.addEventListener("submit", (event) => {
  event.preventDefault();
  run.reason = question.elements.reason.value.trim();
  carryOutAll();
});
part("clear").addEventListener("click", () => {
  select([]);
  forget();
});
part("back").addEventListener("click", () => {
  run.stage = run.kind === "give" ? "plan" : "over";
  if (run.kind === "undo") backToGiven();
  refresh();
});
part("stop").addEventListener("click", () => {
  stopped = true;
  part("said").textContent = "Stopping…";
});
part("again").addEventListener("click", carryOutAll);
part("undo").addEventListener("click", undoAll);
part("forget").addEventListener("click", forget);
part("further").addEventListener("click", find);
addEventListener("beforeunload", (event) => {
  if (run.stage === "running") event.preventDefault();
});
page.hidden = false;
if (run.past) find();
else refresh();
