// On every page: search shortcut, local times, light and dark theme, action dialogs, and the notice of a finished action.
import { attachCopyButtons, openAction, restoreScroll, say } from "./actions.js";
import { attachSuggestions, divertSecret } from "./search.js";
import { gettext, locale } from "./texts.js";

const CLOCK = /\d\d:/; // start of the time of the day in a UTC time; the date is left out where the local date is the same
const CHECK_MS = 1000; // pause between two questions whether a game server has confirmed a change
const MOST_CHECKS = 30;
const THEME_KEY = "gamekeeper-theme";
const root = document.documentElement;

function applyTheme() {
  const chosen = localStorage.getItem(THEME_KEY);
  if (chosen) root.dataset.theme = chosen;
}

function switchTheme() {
  const dark = root.dataset.theme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem(THEME_KEY, root.dataset.theme);
}

// Show times in the browser's time zone, followed by UTC in small type.
export function showLocalTimes(within = document) {
  for (const each of within.querySelectorAll("time[datetime]:not([data-local])")) {
    const moment = new Date(each.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    each.dataset.local = "yes";
    if ("day" in each.dataset) {
      each.textContent = moment.toLocaleDateString(locale, { dateStyle: "medium" });
      continue;
    }
    const utc = each.title = each.textContent.trim();
    const here = moment.toLocaleString(locale, { dateStyle: "medium", timeStyle: "medium" });
    each.textContent = moment.getTimezoneOffset() ? `${here} ` : gettext("%(time)s UTC", { time: here });
    if (moment.getTimezoneOffset()) each.append(makeSmall(moment.getDate() === moment.getUTCDate() ? utc.slice(utc.search(CLOCK)) : utc));
  }
}

function makeSmall(text) {
  return Object.assign(document.createElement("small"), { textContent: text });
}

// Show the notice of the action that led to this page. `?done=` in the address is its request id.
async function loadDone(id, address) {
  const answer = await fetch(`/console/done/${encodeURIComponent(id)}`, { headers: { "X-Fragment": "yes", "X-Place": address } });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}

// Follow the deliveries of the notice until game servers have confirmed them. Only their texts change, so the focus stays.
async function followDeliveries(place, id, address) {
  for (let checks = 0; checks < MOST_CHECKS && place.querySelector("[data-pending]"); checks += 1) {
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    const fresh = new DOMParser().parseFromString(await loadDone(id, address), "text/html");
    for (const each of place.querySelectorAll("[data-delivery]")) {
      const now = fresh.querySelector(`[data-delivery="${each.dataset.delivery}"]`);
      if (now && now.textContent !== each.textContent) each.textContent = now.textContent;
      if (!now?.hasAttribute("data-pending")) each.removeAttribute("data-pending");
    }
  }
}

async function showDone() {
  const id = new URLSearchParams(location.search).get("done");
  const place = document.getElementById("done");
  if (!id || !place) return;
  const clean = new URL(location.href);
  clean.searchParams.delete("done");
  try {
    place.innerHTML = await loadDone(id, clean.pathname + clean.search); // from our own template, which escapes all values
  } catch {
    say(place, gettext("The connection was lost, so the changes that you made cannot be shown. Reload the page to see them."));
    return; // `?done=` stays in the address for the reload
  }
  history.replaceState(null, "", clean);
  showLocalTimes(place);
  if (document.activeElement === document.body) place.querySelector("[tabindex]")?.focus({ preventScroll: true }); // do not take the focus from a field in use
  followDeliveries(place, id, clean.pathname + clean.search).catch(() => {}); // the audit log has the state, too
}

applyTheme();
document.addEventListener("keydown", (event) => {
  // the API explorer has its own search, which also uses the slash
  const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
  const isSlash = event.key === "/" && !document.getElementById("explorer") && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest("input, select, textarea, dialog, [contenteditable]");
  const box = document.getElementById("find");
  if (!box || event.defaultPrevented || !(isShortcut || isSlash)) return;
  event.preventDefault();
  box.focus();
  box.select();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-theme-switch]")) switchTheme();
  if (event.target.closest("[data-dismiss]")) document.getElementById("done").replaceChildren();
  for (const each of document.querySelectorAll(".drop[open]")) if (!each.contains(event.target)) each.open = false; // a menu closes at a click beside it
});
document.addEventListener("submit", divertSecret, { capture: true });
document.addEventListener("keydown", (event) => {
  const notice = document.querySelector("#done > .notice");
  if (event.key !== "Escape" || event.defaultPrevented || !notice || document.querySelector("dialog[open]")) return;
  // Escape closes what has the focus first: a menu, or the form of a slot
  if (document.activeElement === document.body || notice.contains(document.activeElement)) notice.remove();
});
document.addEventListener("submit", openAction);
if (document.getElementById("find")) attachSuggestions(document.getElementById("find"));
showLocalTimes();
attachCopyButtons();
restoreScroll();
showDone();
