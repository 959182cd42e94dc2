// An open list follows changes: changed rows get their new values and a mark, without moving what somebody reads.
// New rows are only counted; a link shows them.
import { showLocalTimes } from "./console.js";
import { gettext } from "./texts.js";

const POLL_MS = 5000;
const list = document.querySelector("[data-live]");
const bar = document.getElementById("news");

// What a cell says. The text of a time is local on this page, so its attribute is compared.
function read(cell) {
  return cell.querySelector("time")?.dateTime ?? cell.textContent.trim();
}

function findRows(root) {
  return new Map([...root.querySelectorAll("[data-row]")].map((row) => [row.dataset.row, row]));
}

// Give a row the values of the fresh one. A cell that has the focus stays as it is.
function update(row, fresh) {
  if (row.cells.length !== fresh.cells.length) return;
  [...fresh.cells].forEach((cell, place) => {
    const old = row.cells[place];
    if (cell.classList.contains("pick") || read(cell) === read(old) || old.contains(document.activeElement)) return;
    old.innerHTML = cell.innerHTML; // from our own template, which escapes all values
    showLocalTimes(old);
    old.dataset.changed = "";
    row.dataset.changed = "";
  });
}

function compare(page) {
  const fresh = findRows(page);
  const shown = findRows(list);
  let gone = 0;
  for (const [id, row] of shown) {
    const other = fresh.get(id);
    if (other) update(row, other);
    else gone += 1;
    row.toggleAttribute("data-gone", !other);
  }
  const added = [...fresh.keys()].filter((id) => !shown.has(id)).length;
  bar.hidden = !added && !gone;
  bar.querySelector("[data-news]").textContent = [
    added && gettext("%(count)s new in this list", { count: added }),
    gone && gettext("%(count)s no longer in this list", { count: gone }),
  ]
    .filter(Boolean)
    .join(", ");
}

// This request does not count as use of the session, so an open page does not keep it alive.
async function follow() {
  if (document.hidden) return;
  const answer = await fetch(list.dataset.live + location.search, { headers: { Accept: "text/html", "X-Fragment": "1" } });
  if (!answer.ok || answer.redirected) return;
  compare(new DOMParser().parseFromString(await answer.text(), "text/html"));
}

if (list && bar) setInterval(() => follow().catch(() => {}), POLL_MS);
