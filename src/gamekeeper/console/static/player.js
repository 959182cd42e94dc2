// A character's page: things are chosen by name, and the arrow keys go from slot to slot.
import { chooser } from "./chooser.js";

// Of those below (or above), the nearest row, and there the nearest tile.
function inNextRow(tiles, at, direction) {
  const from = tiles[at].getBoundingClientRect();
  const distance = (tile) => {
    const { top, left } = tile.getBoundingClientRect();
    return (top - from.top) * direction * 1000 + Math.abs(left - from.left);
  };
  const there = tiles.filter((tile) => (tile.getBoundingClientRect().top - from.top) * direction > 1);
  return there.sort((one, other) => distance(one) - distance(other))[0];
}

function arrows(slots) {
  slots.addEventListener("keydown", (event) => {
    const slot = event.target.closest(".slot");
    if (event.key === "Escape" && slot) slot.dataset.dismissed = "yes";
    if (!event.target.matches(".tile")) return;
    const tiles = [...slots.querySelectorAll(".tile")];
    const at = tiles.indexOf(event.target);
    const next = { ArrowRight: tiles[at + 1], ArrowLeft: tiles[at - 1], ArrowDown: inNextRow(tiles, at, 1), ArrowUp: inNextRow(tiles, at, -1) }[event.key];
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

document.querySelectorAll("input[data-suggest]").forEach(chooser);
document.querySelectorAll("[data-slots]").forEach(arrows);
// A card that only hovers goes with Escape too.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const slot of document.querySelectorAll(".slot:hover")) slot.dataset.dismissed = "yes";
});
