// What every page has: the search box's key, local times, light or dark, actions in a dialog, what was done.
import { openAction, restoreScroll, say } from "./actions.js";
import { searchBox } from "./search.js";

const DATE = "2026-01-31 ".length; // of a time in UTC: on the same day it is said once
const THEME = "gamekeeper-theme";
const root = document.documentElement;

function theme() {
  const chosen = localStorage.getItem(THEME);
  if (chosen) root.dataset.theme = chosen;
}

function switchTheme() {
  const dark = root.dataset.theme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem(THEME, root.dataset.theme);
}

export function localTimes(within = document) {
  for (const each of within.querySelectorAll("time[datetime]:not([data-local])")) {
    const moment = new Date(each.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    each.dataset.local = "yes";
    const utc = each.title = each.textContent.trim();
    const here = moment.toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
    each.textContent = moment.getTimezoneOffset() ? `${here} ` : `${here} UTC`;
    if (moment.getTimezoneOffset()) each.append(small(moment.getDate() === moment.getUTCDate() ? utc.slice(DATE) : utc));
  }
}

function small(text) {
  return Object.assign(document.createElement("small"), { textContent: text });
}

// On a narrow screen the menu is a row that can be moved: where one is must be in sight.
function showMenu() {
  const here = document.querySelector(".menu [aria-current]");
  if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.clientWidth / 3;
}

async function showDone() {
  const id = new URLSearchParams(location.search).get("done");
  const place = document.getElementById("done");
  if (!id || !place) return;
  const clean = new URL(location.href);
  clean.searchParams.delete("done");
  try {
    const answer = await fetch(`/console/done/${encodeURIComponent(id)}`, { headers: { "X-Fragment": "yes", "X-Place": clean.pathname + clean.search } });
    if (!answer.ok) throw new Error(answer.statusText);
    place.innerHTML = await answer.text(); // our own template: everything in it is escaped
  } catch {
    say(place, "The connection was lost. Reload the page to see what was done.");
    return; // the address still says which
  }
  history.replaceState(null, "", clean);
  localTimes(place);
  if (document.activeElement === document.body) place.querySelector("[tabindex]")?.focus({ preventScroll: true }); // else somebody is typing already
}

theme();
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    const box = document.getElementById("find");
    if (!box) return;
    event.preventDefault();
    box.focus();
    box.select();
  }
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-theme-switch]")) switchTheme();
  if (event.target.closest("[data-dismiss]")) document.getElementById("done").replaceChildren();
});
document.addEventListener("submit", openAction);
if (document.getElementById("find")) searchBox(document.getElementById("find"));
localTimes();
showMenu();
restoreScroll();
showDone();
