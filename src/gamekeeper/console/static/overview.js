// The overview without reloading: figures, charts and changes as the server tells of them.
import { localTimes } from "./console.js";

const AGAIN_MS = 5000;
const place = document.querySelector("[data-events]");
const lost = document.getElementById("lost");
const LOST = lost.textContent;
let source = null;
let later = 0;

function show(told) {
  for (const [name, text] of Object.entries(told.texts)) {
    for (const each of document.querySelectorAll(`[data-text="${name}"]`)) {
      if (each.textContent !== text) each.textContent = text;
      if ("health" in each.dataset) each.dataset.health = text;
    }
  }
  for (const [name, points] of Object.entries(told.charts)) {
    document.querySelector(`[data-chart="${name}"]`)?.setAttribute("points", points);
  }
  if (told.latest !== null) showLatest(told.latest);
}

let shown = "";
function showLatest(html) {
  const list = document.getElementById("latest");
  if (html === shown || list.contains(document.activeElement)) return; // who stands on a link keeps it
  shown = html;
  list.innerHTML = html; // our own template: everything in it is escaped
  localTimes(list);
}

function open() {
  clearTimeout(later);
  source?.close();
  source = new EventSource(place.dataset.events);
  source.addEventListener("open", () => (lost.hidden = true));
  source.addEventListener("message", (event) => show(JSON.parse(event.data)));
  source.addEventListener("signed-out", () => location.reload());
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) comeBack();
    else say(LOST); // the browser tries again
  });
}

function say(text) {
  if (source.readyState === EventSource.OPEN) return; // it has come back meanwhile
  lost.textContent = text;
  lost.hidden = false;
}

// A stream that was refused says nothing: the same question in words does, and is no use of the session either.
async function comeBack() {
  say(LOST); // until there are better words
  later = setTimeout(open, AGAIN_MS);
  try {
    const answer = await fetch(place.dataset.events, { headers: { Accept: "application/json" } });
    if (answer.ok) return answer.body.cancel();
    const told = await answer.json();
    if (told.Code === "sign_in_first") return location.reload();
    say(told.Message);
  } catch {
    say(LOST); // the server is away
  }
}

function close() {
  clearTimeout(later);
  source?.close();
}

// A browser has few connections to a server: a page that nobody sees takes none.
document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
addEventListener("pagehide", close);
addEventListener("pageshow", (event) => event.persisted && open());
if (!document.hidden) open();
