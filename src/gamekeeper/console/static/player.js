// The page of a player: choose catalogue entries by name, and move between slots with the arrow keys.
import { attachChooser } from "./chooser.js";

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
    const slot = event.target.closest(".slot");
    if (event.key === "Escape" && slot) slot.dataset.dismissed = "yes";
    if (!event.target.matches(".tile")) return;
    const tiles = [...slots.querySelectorAll(".tile")];
    const at = tiles.indexOf(event.target);
    const next = { ArrowRight: tiles[at + 1], ArrowLeft: tiles[at - 1], ArrowDown: findInNextRow(tiles, at, 1), ArrowUp: findInNextRow(tiles, at, -1) }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  for (const slot of slots.querySelectorAll(".slot:not(.free)")) {
    const show = () => delete slot.dataset.dismissed;
    slot.addEventListener("mouseleave", show);
    slot.addEventListener("click", show);
    slot.addEventListener("focusout", (event) => {
      if (!slot.contains(event.relatedTarget)) show();
    });
  }
}

document.querySelectorAll("input[data-suggest]").forEach(attachChooser);
document.querySelectorAll("[data-slots]").forEach(attachArrowKeys);
// Escape also closes the card of a slot under the mouse pointer.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const slot of document.querySelectorAll(".slot:hover")) slot.dataset.dismissed = "yes";
});
