// A character's page: things are chosen by name, and the arrow keys go from slot to slot.
const WAIT = 150; // milliseconds without a key before anything is asked
const ID = /^\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i;

async function named(kind, text) {
  const answer = await fetch(`/console/suggest/${kind}?q=${encodeURIComponent(text)}`, { headers: { Accept: "application/json" } });
  return answer.ok ? (await answer.json()).found : [];
}

// What is typed is a name; what is sent is the id, in a field that nobody sees.
function chooser(input) {
  const sent = document.createElement("input");
  sent.type = "hidden";
  sent.name = input.name;
  input.removeAttribute("name");
  input.placeholder = "Begin with its name";
  input.after(sent);
  let asked = 0;

  const choose = (found) => {
    const text = input.value.trim().toLowerCase();
    const only = found.filter((each) => each.label.toLowerCase() === text);
    sent.value = ID.test(text) ? text : (only[0]?.id ?? "");
  };
  const ask = async () => {
    const text = input.value;
    const found = await named(input.dataset.suggest, text.trim());
    if (input.value !== text) return;
    input.list.replaceChildren(...found.map((each) => Object.assign(document.createElement("option"), { value: each.label })));
    choose(found);
  };
  input.addEventListener("input", () => {
    sent.value = "";
    input.setCustomValidity("");
    clearTimeout(asked);
    asked = setTimeout(() => ask().catch(() => {}), WAIT);
  });
  input.addEventListener("focus", () => {
    if (!input.value) ask().catch(() => {});
  });
  // Enter may come before the answer does: the form waits for it.
  input.form.addEventListener("submit", (event) => {
    if (sent.value) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    ask().then(
      () => (sent.value ? input.form.requestSubmit(event.submitter) : refuse(input, "Nothing is called that: choose one of the suggestions.")),
      () => refuse(input, "The server cannot be reached. Try again."),
    );
  });
}

function refuse(input, text) {
  input.setCustomValidity(text);
  input.reportValidity();
}

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
