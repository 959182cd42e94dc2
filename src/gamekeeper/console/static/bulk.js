// Give an item to many players. Each player gets a request with an idempotency key of its own, so a retry has no second
// effect. The run is saved in the tab, so that it and its undo survive a lost connection or a reload. The audit log keeps
// what a run did: with `?run=` the page loads a past run from there, and saves nothing.
import { loadSelection, saveSelection } from "./selection.js";
import { answerOf, Lost } from "./bulk_requests.js";
import { describePastRun, loadPastRun } from "./bulk_past.js";
import { attachChooser } from "./chooser.js";
import { gettext, ngettext } from "./texts.js";

const STORAGE_KEY = "gamekeeper-bulk";
const CONCURRENT_REQUESTS = 4;
const GIVEN = ["done", "lost"]; // states of a row that has the item, certainly or possibly
const UNSAVED = new Set(["lines", "before", "plan"]); // fields of a row that are long, and not needed to continue
const SHOWN = 3; // differences of a row that are shown before the rest is folded away

const page = document.getElementById("bulk");
const part = (name) => page.querySelector(`[data-${name}]`);
const [plan, question, progress, item] = [part("plan"), part("confirm-all"), part("progress"), part("suggest")];
const most = Number(page.dataset.most);
const asked = new URLSearchParams(location.search);
let run = asked.has("run") ? startPastRun() : (restoreRun() ?? planRun());
let stopped = false;

// Rows that are not sent yet, or whose outcome is not known.
function left(of = run) {
  return of.rows.filter((row) => ["ready", "lost", "changed"].includes(row.state));
}

function planRun() {
  const rows = [...loadSelection()].map(([id, name]) => ({ id, name, state: "", said: "", lines: [], plan: "", seen: "", number: null }));
  return { id: newId(), me: page.dataset.me, kind: "give", stage: "plan", rows };
}

// Each visit uses new keys for its undos: an item that was taken back and given back since can be taken back again.
function startPastRun() {
  return { id: asked.get("run"), by: asked.get("by") ?? "", turn: newId(), kind: "give", stage: "finding", rows: [], next: "", past: true };
}

function newId() {
  return [...crypto.getRandomValues(new Uint8Array(6))].map((each) => each.toString(16).padStart(2, "0")).join("");
}

function restoreRun() {
  const saved = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "null");
  if (saved?.me !== page.dataset.me) return null; // keys belong to one account: another account would give the item a second time
  for (const row of saved.rows) Object.assign(row, { state: row.state === "sending" ? "lost" : row.state, lines: [] });
  saved.stage = "over";
  return left(saved).length === 0 && loadSelection().size > 0 ? null : saved;
}

function save() {
  if (run.past) return; // the audit log has it
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(run, (name, value) => (UNSAVED.has(name) ? undefined : value)));
    part("unkept").hidden = true;
  } catch {
    part("unkept").hidden = false; // the run continues: only a reload would lose it
  }
}

const done = () => run.rows.filter((row) => row.state === "done");
const many = (count) => ngettext("%(num)s player", "%(num)s players", count);
const what = () => `${Number(run.quantity).toLocaleString()} × ${run.item.name}`;

function fieldsOf(row) {
  if (run.kind === "undo") return { path: `/api/keeper/v1/changes/${row.number}/undo` };
  return { path: `/api/v1/players/${row.id}/items/give`, "body.itemid": run.item.id, "body.quantity": run.quantity, "body.bankoverflow": run.overflow };
}

async function preview(row) {
  if (run.kind === "undo" && row.number === null) row.number = await numberOf(row);
  if (run.kind === "undo" && row.number === null) {
    Object.assign(row, { state: "out", said: gettext("Item not given: the audit log has no change for this player"), lines: [] });
    return;
  }
  const { ok, told } = await answerOf("/console/act", fieldsOf(row));
  if (ok) Object.assign(row, { state: "ready", said: "", plan: told.button, lines: told.changes.flat(), seen: told.seen });
  else Object.assign(row, { state: "refused", said: told.Message });
}

async function carryOut(row) {
  row.state = "sending";
  show(row);
  save();
  const again = { confirmed: "yes", key: run.past ? `${run.turn}-${row.number}` : `${run.id}-${run.kind}-${row.id}`, seen: row.seen, reason: `${run.reason} (run ${run.id})` };
  const { ok, told } = await answerOf("/console/act", { ...fieldsOf(row), ...again });
  if (ok) await note(row, told);
  else if (told.seen) Object.assign(row, { state: "changed", said: gettext("Not done: the player changed since the preview. The differences show what would happen now."), lines: told.changes.flat(), seen: told.seen });
  else Object.assign(row, { state: "refused", said: told.Message });
}

async function note(row, told) {
  if (told.changes.length) row.lines = told.changes.flat();
  // the answer to a retry has no change number: the lost first answer had it
  if (run.kind === "give") row.number = told.numbers[0] ?? (await numberOf(row));
  Object.assign(row, { state: "done", said: "" });
}

async function numberOf(row) {
  const { ok, told } = await answerOf(`/console/bulk/given?${new URLSearchParams({ player: row.id, run: run.id })}`);
  if (!ok) throw new Lost(told.Message); // null would mean that there is no change
  return told.numbers[0] ?? null;
}

// Run a step for each row, a few at the same time, until all are finished or the user stops it.
async function runAll(rows, step, stage, said) {
  stopped = false;
  run.stage = stage;
  const waiting = [...rows];
  let through = 0;
  let problem = "";
  refresh(said);
  part("course").focus(); // not the Stop button: a second Enter would press it
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
      part("tally").textContent = gettext("%(count)s of %(total)s", { count: through, total: rows.length });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  return { problem, whole: !waiting.length && !problem };
}

async function previewAll(rows) {
  const { problem, whole } = await runAll(rows, preview, "looking", gettext("Loading the preview. Nothing is changed yet."));
  run.stage = whole ? "asked" : run.kind === "give" ? "plan" : "over";
  if (!whole && run.kind === "undo") backToGiven();
  refresh(whole ? "" : gettext("%(problem)s Nothing was changed.", { problem: problem || gettext("Stopped.") }));
  if (whole) question.elements.reason.focus();
}

async function carryOutAll() {
  const rows = left();
  if (run.kind === "give") saveSelection([]); // a run that has started is not a selection any more
  const { problem } = await runAll(rows, carryOut, "running", describeProgress(rows.length));
  run.stage = "over";
  save();
  refresh(`${problem ? `${problem} ` : ""}${describeOutcome()}`);
  (part("again").hidden ? part("undo").hidden ? part("forget") : part("undo") : part("again")).focus();
}

function describeProgress(count) {
  if (run.kind === "undo") return ngettext("Taking the item back from %(num)s player.", "Taking the item back from %(num)s players.", count);
  return ngettext("Giving %(items)s to %(num)s player.", "Giving %(items)s to %(num)s players.", count, { items: what() });
}

function describeOutcome() {
  if (run.past && run.kind === "give") return describePastRun(run);
  const refused = run.rows.filter((row) => row.state === "refused").length;
  const count = done().length;
  return [
    run.kind === "give"
      ? ngettext("%(items)s given to %(num)s player.", "%(items)s given to %(num)s players.", count, { items: what() })
      : ngettext("Taken back from %(num)s player.", "Taken back from %(num)s players.", count),
    refused ? ngettext("Rejected for %(num)s player: see the table.", "Rejected for %(num)s players: see the table.", refused) : "",
    left().length ? ngettext("%(num)s player left. Continuing never gives or takes twice.", "%(num)s players left. Continuing never gives or takes twice.", left().length) : "",
  ].join(" ").trim();
}

// A request without an answer may still be running. Sent again with its key it has one effect, and its change is known.
async function settle() {
  const unsure = run.rows.filter((row) => row.state === "lost");
  if (!unsure.length) return true;
  const { problem, whole } = await runAll(unsure, carryOut, "running", ngettext("Checking whether %(num)s player got the item.", "Checking whether %(num)s players got the item.", unsure.length));
  run.stage = "over";
  save();
  if (!whole) refresh(gettext("%(problem)s Nothing was undone. %(outcome)s", { problem: problem || gettext("Stopped."), outcome: describeOutcome() }));
  return whole;
}

async function undoAll() {
  if (!(await settle())) return;
  const rows = run.rows.filter((row) => row.state === "done");
  for (const row of run.rows) {
    const { state, said, lines, seen } = row;
    row.before = { state, said, lines, seen };
    if (!rows.includes(row)) Object.assign(row, { state: "out", said: said || gettext("Not given"), lines: [] });
  }
  run.kind = "undo";
  previewAll(rows);
}

function backToGiven() {
  run.kind = "give";
  for (const row of run.rows) Object.assign(row, row.before);
}

function describeRow(row) {
  if (row.said) return row.said;
  if (row.state === "ready") return row.plan ?? "";
  if (row.state === "sending") return gettext("Sending…");
  if (row.state === "lost") return gettext("Outcome unknown. Continue the bulk run to find out.");
  if (row.state !== "done") return "";
  if (run.kind === "undo") return gettext("Taken back");
  return run.past ? gettext("Given") : gettext("Given: %(items)s", { items: what() });
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
    rest.append(make("summary", gettext("%(count)s more", { count: row.lines.length - SHOWN })), listOf(row.lines.slice(SHOWN)));
    lines.append(rest);
  }
  const result = make("td", describeRow(row), row.state);
  if (run.stage === "plan") result.append(leaveOut(row));
  made.append(head, result, lines);
  if (there) there.replaceWith(made);
  else page.querySelector("tbody").append(made);
}

function leaveOut(row) {
  const button = make("button", gettext("Exclude"), "small");
  button.type = "button";
  button.setAttribute("aria-label", gettext("Exclude %(name)s from this run", { name: row.name }));
  button.addEventListener("click", () => {
    run.rows = run.rows.filter((each) => each !== row);
    saveSelection(run.rows.map((each) => [each.id, each.name]));
    refresh();
  });
  return button;
}

// Show the state of the whole run: the buttons that can be used now, the message, and all rows.
function refresh(said = "") {
  const busy = run.stage === "looking" || run.stage === "running";
  const over = run.stage === "over";
  const given = run.rows.filter((row) => GIVEN.includes(row.state)).length;
  part("none").hidden = run.rows.length > 0 || run.past;
  plan.hidden = run.stage !== "plan" || run.rows.length === 0;
  part("who").textContent = many(run.rows.length);
  const tooMany = run.rows.length - most;
  part("too-many").hidden = tooMany <= 0;
  part("too-many").textContent = tooMany > 0 ? ngettext("At most %(most)s players are possible. Exclude %(num)s player in the table.", "At most %(most)s players are possible. Exclude %(num)s players in the table.", tooMany, { most }) : "";
  part("look").disabled = tooMany > 0;
  question.hidden = run.stage !== "asked" || left().length === 0;
  part("course").hidden = !said && !busy && !over && !(run.stage === "asked" && left().length === 0);
  part("said").textContent = said || (over ? describeOutcome() : run.stage === "asked" && !left().length ? gettext("All players were rejected: see the table.") : "");
  progress.hidden = part("tally").hidden = !busy;
  progress.value = 0;
  part("tally").textContent = "";
  part("stop").hidden = !busy;
  part("again").hidden = !over || left().length === 0;
  part("again").textContent = ngettext("Continue with %(num)s player", "Continue with %(num)s players", left().length);
  part("undo").hidden = !over || run.kind === "undo" || given === 0;
  part("undo").textContent = ngettext("Undo for %(num)s player", "Undo for %(num)s players", given);
  part("forget").hidden = busy || run.stage === "plan" || !question.hidden;
  part("further").hidden = !over || run.kind === "undo" || !run.past || run.next === null;
  part("further").textContent = run.reached ? gettext("Search further back") : gettext("Search again");
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
  const count = left().length;
  const act =
    run.kind === "give"
      ? ngettext("Give %(items)s to %(num)s player", "Give %(items)s to %(num)s players", count, { items: what() })
      : ngettext("Undo: take the item back from %(num)s player", "Undo: take the item back from %(num)s players", count);
  const rejected = ngettext("%(num)s player is rejected: see the table.", "%(num)s players are rejected: see the table.", refused);
  part("question").textContent = refused ? `${act}. ${rejected}` : act;
  part("go").textContent = act;
}

async function find() {
  run.stage = "finding";
  refresh(gettext("Searching the audit log for this bulk run."));
  let problem = "";
  try {
    await loadPastRun(run, most);
  } catch (failure) {
    if (!(failure instanceof Lost)) throw failure;
    problem = failure.message;
  }
  run.stage = "over";
  refresh(problem);
}

function forget() {
  if (run.past) return location.assign("/console/bulk");
  sessionStorage.removeItem(STORAGE_KEY);
  run = planRun();
  refresh();
}

attachChooser(item); // its submit listener must run before ours
plan.addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = { id: plan.elements.given.value, name: item.value.trim() };
  Object.assign(run, { item: chosen, quantity: plan.elements.quantity.value, overflow: plan.elements.overflow.checked });
  previewAll(run.rows);
});
question.addEventListener("submit", (event) => {
  event.preventDefault();
  run.reason = question.elements.reason.value.trim();
  carryOutAll();
});
part("clear").addEventListener("click", () => {
  saveSelection([]);
  forget();
});
part("back").addEventListener("click", () => {
  run.stage = run.kind === "give" ? "plan" : "over";
  if (run.kind === "undo") backToGiven();
  refresh();
});
part("stop").addEventListener("click", () => {
  stopped = true;
  part("said").textContent = gettext("Stopping…");
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
