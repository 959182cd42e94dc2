// Bulk jobs: the players selected in lists are filled into the form, and the page of a running job follows its progress.
import { attachChooser } from "./chooser.js";
import { loadSelection, saveSelection } from "./selection.js";

const POLL_MS = 1500;
const TYPED_KEY = "gamekeeper-typed"; // list of players, from the page of one action to that of the next

// Return the list that was typed before the action was switched, once; null: there is none.
function takeTyped() {
  const typed = sessionStorage.getItem(TYPED_KEY);
  sessionStorage.removeItem(TYPED_KEY);
  return typed;
}

const form = document.querySelector("[data-bulk]");
if (form) {
  const field = form.querySelector("[data-players]");
  const chosen = loadSelection();
  const selected = [...chosen.values()].join("\n");
  const typed = takeTyped();
  if (typed !== null) field.value = typed;
  else if (chosen.size && !field.value) field.value = selected;
  for (const link of document.querySelectorAll("[data-act]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || field.value === selected) return;
      sessionStorage.setItem(TYPED_KEY, field.value);
      saveSelection([]); // the typed list replaces the selection, also when the next page is reloaded
    });
  }
  for (const input of form.querySelectorAll("[data-suggest]")) attachChooser(input);
  form.addEventListener("submit", () => saveSelection([]));
}

// Load the page again while the job is running, and replace the parts that change. A focused button keeps the focus.
async function follow() {
  const live = document.querySelector("#job[data-live]");
  if (!live || document.hidden) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("job");
  if (!fresh) return;
  if (!fresh.hasAttribute("data-live")) location.reload();
  live.querySelector("[role=status]").textContent = fresh.querySelector("[role=status]").textContent;
  live.querySelector("progress").value = fresh.querySelector("progress").value;
}

if (document.querySelector("#job[data-live]")) setInterval(() => follow().catch(() => {}), POLL_MS);
