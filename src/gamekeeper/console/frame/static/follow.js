// An open page follows changes: its parts are replaced in place, except those that somebody is filling in.
import { showLocalTimes } from "./console.js";
import { gettext } from "./texts.js";

const POLL_MS = 3000;
const SHOWN_MS = 60_000; // "just now" is true for a minute
const FIELDS = "input,select,textarea";
const place = document.querySelector("[data-follow]");
const note = document.querySelector("[data-followed]");
const late = new Set(); // names of parts that could not be replaced yet
let shown = place?.dataset.version;
let hiding = 0;

function say(text, passes = false) {
  clearTimeout(hiding);
  if (note.textContent !== text) note.textContent = text;
  if (passes) hiding = setTimeout(() => { note.textContent = ""; }, SHOWN_MS);
}

function isFilledIn(field) {
  if (field.matches("select")) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((each) => each.defaultSelected));
  return field.matches("[type=checkbox], [type=radio]") ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

function isInUse(part) {
  return (part.contains(document.activeElement) && document.activeElement.matches(FIELDS)) || [...part.querySelectorAll(FIELDS)].some(isFilledIn);
}

// Find the same element in the new content: a link by its address, a button by its value.
function findAgain(part, focused) {
  const name = ["data-slot", "href", "value"].find((each) => focused.hasAttribute(each));
  return name && part.querySelector(`${focused.localName}[${name}="${CSS.escape(focused.getAttribute(name))}"]`);
}

function replace(part, fresh, attach) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const open = [...part.querySelectorAll("details[open]")].map((each) => each.closest("[id]")?.id);
  part.replaceChildren(...fresh.childNodes);
  for (const id of open) if (id && part.contains(document.getElementById(id))) document.getElementById(id).querySelector("details")?.setAttribute("open", "");
  showLocalTimes(part);
  attach(part);
  if (focused) findAgain(part, focused)?.focus({ preventScroll: true });
}

async function refresh(attach) {
  const here = location.pathname + location.search;
  const answer = await fetch(here, { headers: { "X-Fragment": "yes", "X-Place": here, "X-Update": "yes" } });
  if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  late.clear();
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!fresh) continue;
    if (isInUse(part)) late.add(part.dataset.part);
    else replace(part, fresh, attach);
  }
}

// Return whether to go on.
async function check(attach) {
  if (document.hidden || document.querySelector("dialog[open]")) return true;
  const answer = await fetch(place.dataset.follow, { headers: { Accept: "application/json", "X-Update": "yes" } });
  if (answer.status === 401 || answer.status === 403) return false; // the next click leads to the sign-in
  if (!answer.ok) throw new Error(answer.statusText);
  const told = await answer.json();
  if (!told.version) {
    say(told.text);
    return false;
  }
  const isNew = told.version !== shown;
  if (isNew || late.size) {
    await refresh(attach);
    shown = told.version;
  }
  if (isNew) say(told.text, true);
  else if (note.dataset.lost) say("");
  delete note.dataset.lost;
  return true;
}

// `attach` gets each replaced part, to attach what scripts add to it.
export function follow(attach) {
  if (!place) return;
  const loop = () => setTimeout(async () => {
    try {
      if (!(await check(attach))) return;
    } catch {
      note.dataset.lost = "yes";
      say(gettext("The connection is lost. This page does not update itself."));
    }
    loop();
  }, POLL_MS);
  loop();
}
