// Live updates of the home page: the server streams new figures, charts and changes.
import { showLocalTimes } from "./console.js";

const RECONNECT_MS = 5000; // pause before a new connection after the server rejected one
const place = document.querySelector("[data-events]");
const lost = document.getElementById("lost");
const LOST_TEXT = lost.textContent;
let source = null;
let timer = 0;

function show(update) {
  for (const [name, text] of Object.entries(update.texts)) {
    for (const each of document.querySelectorAll(`[data-text="${name}"]`)) {
      if (each.textContent !== text) each.textContent = text;
      if ("health" in each.dataset) each.dataset.health = update.health;
      if ("waiting" in each.dataset) each.dataset.waiting = text === "0" ? "none" : "some";
    }
  }
  for (const [name, points] of Object.entries(update.charts)) {
    document.querySelector(`[data-chart="${name}"]`)?.setAttribute("points", points);
  }
  if (update.latest !== null) showLatest(update.latest);
}

let shown = "";
function showLatest(html) {
  const list = document.getElementById("latest");
  if (html === shown || list.contains(document.activeElement)) return; // do not replace a link that has the focus
  shown = html;
  list.innerHTML = html; // from our own template, which escapes all values
  showLocalTimes(list);
}

function connect() {
  clearTimeout(timer);
  source?.close();
  source = new EventSource(place.dataset.events);
  source.addEventListener("open", () => (lost.hidden = true));
  source.addEventListener("message", (event) => show(JSON.parse(event.data)));
  source.addEventListener("signed-out", () => location.reload());
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) handleRejection();
    else say(LOST_TEXT); // the browser reconnects by itself
  });
}

function say(text) {
  if (source.readyState === EventSource.OPEN) return; // it has reconnected in the meantime
  lost.textContent = text;
  lost.hidden = false;
}

// An event stream does not show why it was rejected: a JSON request to the same address does. Neither extends the session.
async function handleRejection() {
  say(LOST_TEXT); // until the reason is known
  timer = setTimeout(connect, RECONNECT_MS);
  try {
    const answer = await fetch(place.dataset.events, { headers: { Accept: "application/json" } });
    if (answer.ok) return answer.body.cancel();
    const body = await answer.json();
    if (body.Code === "sign_in_first") return location.reload();
    say(body.Message);
  } catch {
    say(LOST_TEXT); // the server cannot be reached
  }
}

function disconnect() {
  clearTimeout(timer);
  source?.close();
}

// Browsers limit the connections to one server: a hidden page closes its own.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (event) => event.persisted && connect());
if (!document.hidden) connect();
