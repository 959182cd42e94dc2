// The page of a player: choose catalogue entries by name, open the form of a slot in place, menus of acts, and tabs of old addresses.
import { attachChooser } from "./chooser.js";
import { follow } from "./follow.js";

const FORM_OF_SLOT = "slot"; // id of the element that has the form of the chosen slot
const TAB_KEY = "gamekeeper-tab"; // in the session's storage: the page whose tab was changed
const TAB_OF = { history: "history", variables: "variables", spells: "variables", standing: "account", facts: "account" };

// Find the nearest tile in the next row below (direction 1) or above (direction -1).
function findInNextRow(tiles, at, direction) {
  const from = tiles[at].getBoundingClientRect();
  const distance = (tile) => {
    const { top, left } = tile.getBoundingClientRect();
    return (top - from.top) * direction * 1000 + Math.abs(left - from.left);
  };
  const candidates = tiles.filter((tile) => (tile.getBoundingClientRect().top - from.top) * direction > 1);
  return candidates.sort((one, other) => distance(one) - distance(other))[0];
}

function attachArrowKeys(slots) {
  slots.addEventListener("keydown", (event) => {
    if (!event.target.matches(".tile")) return;
    const tiles = [...slots.querySelectorAll(".tile")];
    const at = tiles.indexOf(event.target);
    const next = { ArrowRight: tiles[at + 1], ArrowLeft: tiles[at - 1], ArrowDown: findInNextRow(tiles, at, 1), ArrowUp: findInNextRow(tiles, at, -1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}

function markSlot(address) {
  for (const tile of document.querySelectorAll("[data-slot][aria-current]")) tile.removeAttribute("aria-current");
  document.querySelector(`[data-slot="${address}"]`)?.setAttribute("aria-current", "true");
}

// Show the form of a slot without leaving the page. If that fails, the link is followed.
async function openSlot(tile) {
  const place = document.getElementById(FORM_OF_SLOT);
  const home = new URL(location.href);
  home.searchParams.delete("slot");
  try {
    const answer = await fetch(tile.href, { headers: { "X-Fragment": "yes", "X-Place": home.pathname + home.search } });
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(FORM_OF_SLOT);
    if (!answer.ok || !found) throw new Error(answer.statusText);
    place.replaceChildren(...found.childNodes);
  } catch {
    location.assign(tile.href);
    return;
  }
  place.hidden = false;
  place.dataset.opener = tile.dataset.slot;
  markSlot(tile.dataset.slot);
  place.querySelectorAll("input[data-suggest]").forEach(attachChooser);
  place.querySelector("h3")?.focus({ preventScroll: true });
}

function closeSlot() {
  const place = document.getElementById(FORM_OF_SLOT);
  place.hidden = true;
  place.replaceChildren();
  markSlot("");
  document.querySelector(`[data-slot="${place.dataset.opener}"]`)?.focus({ preventScroll: true });
}

// Follow an address of an earlier version, whose page had everything: `#history` is on the tab of the history now.
function openTabOfAnchor() {
  const anchor = location.hash.slice(1);
  const name = anchor.startsWith("change-") ? "history" : TAB_OF[anchor];
  const tab = name && !document.getElementById(anchor) && document.querySelector(`[data-tab="${name}"]`);
  if (tab && !tab.hasAttribute("aria-current")) location.replace(`${tab.href}#${anchor}`);
}

// The slider of moments stops at the player's changes, says which, and shows the state when it is let go.
function attachTravel(form) {
  const slider = form.querySelector("input[type=range]");
  const marks = [...slider.list.options].map((each) => ({ seq: Number(each.value), label: each.label }));
  const stops = marks.map((each) => each.seq);
  slider.addEventListener("input", () => {
    const value = Number(slider.value);
    const nearest = stops.reduce((best, each) => (Math.abs(each - value) < Math.abs(best - value) ? each : best));
    // an arrow key moves by one number: go on to the next change in that direction
    const from = Number(slider.dataset.stop ?? slider.defaultValue);
    const next = nearest === from && value !== from ? stops[stops.indexOf(from) + Math.sign(value - from)] ?? from : nearest;
    slider.value = slider.dataset.stop = next;
    const mark = marks.find((each) => each.seq === next);
    form.querySelector("output").textContent = mark ? `${mark.seq}, ${mark.label}` : String(next);
  });
  // with the keyboard, Enter submits: a page for each arrow key would take the focus away
  let byPointer = false;
  slider.addEventListener("pointerdown", () => { byPointer = true; });
  slider.addEventListener("keydown", () => { byPointer = false; });
  slider.addEventListener("change", () => { if (byPointer) form.requestSubmit(); });
}

// A part of the page has new content: the form of a slot stays open.
function attachPart(part) {
  part.querySelectorAll("input[data-suggest]").forEach(attachChooser);
  part.querySelectorAll("[data-slots]").forEach(attachArrowKeys);
  const place = document.getElementById(FORM_OF_SLOT);
  if (place && !place.hidden && place.dataset.opener) markSlot(place.dataset.opener);
}

// The page of a tab loads anew: put the focus on the tab again, so that the keyboard goes on from there.
function keepFocusOnTab() {
  document.querySelector(".tabs")?.addEventListener("click", (event) => {
    if (event.target.closest("a")) sessionStorage.setItem(TAB_KEY, location.pathname);
  });
  const path = sessionStorage.getItem(TAB_KEY);
  sessionStorage.removeItem(TAB_KEY);
  if (path === location.pathname) document.querySelector(".tabs [aria-current]")?.focus({ preventScroll: true });
}

// A menu of acts opens with the focus in its first field.
function focusFirstField({ target }) {
  if (target.matches(".act[open]")) target.querySelector(".sheet :is(input:not([type=hidden]), select, button)")?.focus({ preventScroll: true });
}

openTabOfAnchor();
follow(attachPart);
keepFocusOnTab();
document.addEventListener("toggle", focusFirstField, { capture: true }); // this event does not bubble
document.querySelectorAll("[data-travel]").forEach(attachTravel);
document.querySelectorAll("input[data-suggest]").forEach(attachChooser);
document.querySelectorAll("[data-slots]").forEach(attachArrowKeys);
document.addEventListener("click", (event) => {
  const tile = event.target.closest("[data-slot]");
  if (tile && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    openSlot(tile);
  }
  if (event.target.closest("[data-close-slot]")) {
    event.preventDefault();
    closeSlot();
  }
  for (const menu of document.querySelectorAll(".act[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  const menu = document.activeElement.closest(".act[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  } else if (document.getElementById(FORM_OF_SLOT)?.contains(document.activeElement)) closeSlot();
});
