// Players selected in lists. The selection is stored in the tab's session storage, for other pages and for bulk.js.
import { gettext } from "./texts.js";

const STORAGE_KEY = "gamekeeper-selected";

// Return the selected players: id → name.
export function loadSelection() {
  return new Map(JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]"));
}

export function saveSelection(players) {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify([...players]));
}

const bar = document.querySelector("[data-selection]");
const most = Number(bar?.dataset.most);
const boxes = [...document.querySelectorAll("[data-pick]")];
const all = document.querySelector("[data-pick-all]");

// `refused`: number of players that were not selected because of the limit.
function show(refused = 0) {
  const chosen = loadSelection();
  for (const box of boxes) box.checked = chosen.has(box.dataset.pick);
  if (all) {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  }
  bar.hidden = chosen.size === 0;
  bar.querySelector("[data-count]").textContent = gettext("%(count)s selected", { count: chosen.size });
  bar.querySelector("[data-refused]").textContent = refused ? gettext("; limit reached, %(count)s not selected", { count: refused }) : "";
}

// Select the players of these checkboxes (`on`), or remove them from the selection.
function updateSelection(ticked, on) {
  const chosen = loadSelection();
  let refused = 0;
  for (const box of ticked) {
    if (!on) chosen.delete(box.dataset.pick);
    else if (chosen.size < most || chosen.has(box.dataset.pick)) chosen.set(box.dataset.pick, box.dataset.name);
    else refused += 1;
  }
  saveSelection(chosen);
  show(refused);
}

if (bar) {
  for (const cell of document.querySelectorAll(".pick")) cell.hidden = false;
  for (const box of boxes) box.addEventListener("change", () => updateSelection([box], box.checked));
  all?.addEventListener("change", () => updateSelection(boxes, all.checked));
  bar.querySelector("[data-clear]").addEventListener("click", () => {
    saveSelection([]);
    show();
  });
  addEventListener("pageshow", () => show()); // the Back button restores an old page; the selection may have changed
  show();
}
