// Bulk jobs: the players selected in lists are filled into the form, and the page of a running job follows its progress.
import { attachChooser } from "./chooser.js";
import { loadSelection, saveSelection } from "./selection.js";

const POLL_MS = 1500;

const form = document.querySelector("[data-bulk]");
if (form) {
  const field = form.querySelector("[data-players]");
  const chosen = loadSelection();
  if (chosen.size && !field.value) field.value = [...chosen.values()].join("\n");
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
