// Which characters are selected on the lists: kept while the tab is open, from page to page and for bulk.js.
const KEPT = "gamekeeper-selected";

export function selected() {
  return new Map(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]")); // names by ids
}

export function select(chosen) {
  sessionStorage.setItem(KEPT, JSON.stringify([...chosen]));
}

const bar = document.querySelector("[data-selection]");
const most = Number(bar?.dataset.most);
const boxes = [...document.querySelectorAll("[data-pick]")];
const all = document.querySelector("[data-pick-all]");

function show(refused = 0) {
  const chosen = selected();
  for (const box of boxes) box.checked = chosen.has(box.dataset.pick);
  if (all) {
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  }
  bar.hidden = chosen.size === 0;
  bar.querySelector("[data-count]").textContent = `${chosen.size} selected`;
  bar.querySelector("[data-refused]").textContent = refused ? `; ${refused} more were not taken` : "";
}

function tick(ticked, on) {
  const chosen = selected();
  let refused = 0;
  for (const box of ticked) {
    if (!on) chosen.delete(box.dataset.pick);
    else if (chosen.size < most || chosen.has(box.dataset.pick)) chosen.set(box.dataset.pick, box.dataset.name);
    else refused += 1;
  }
  select(chosen);
  show(refused);
}

if (bar) {
  for (const cell of document.querySelectorAll(".pick")) cell.hidden = false;
  for (const box of boxes) box.addEventListener("change", () => tick([box], box.checked));
  all?.addEventListener("change", () => tick(boxes, all.checked));
  bar.querySelector("[data-clear]").addEventListener("click", () => {
    select([]);
    show();
  });
  addEventListener("pageshow", () => show()); // Back shows a page as it was, the selection may be another
  show();
}
