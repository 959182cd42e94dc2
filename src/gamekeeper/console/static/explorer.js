// The API explorer: answers below their operation, a filter while somebody types, and a line to copy.
import { HEADERS, sent } from "./actions.js";

async function run(event) {
  const form = event.target.closest("form[data-run]");
  const place = form?.closest(".operation")?.querySelector(".answer") ?? form?.closest(".outcome");
  if (!form || !place) return;
  event.preventDefault();
  const html = await sent(form, event.submitter, HEADERS(), form.matches(".confirm"));
  if (html) show(place, html);
}

function show(place, html) {
  place.innerHTML = html; // our own template: everything in it is escaped
  offerCopy(place);
}

function offerCopy(within) {
  if (!navigator.clipboard) return; // without TLS the line can be marked with one click
  for (const each of within.querySelectorAll("[data-copy]")) each.hidden = false;
}

async function copy(button) {
  await navigator.clipboard.writeText(button.closest(".line").querySelector("[data-line]").textContent);
  button.textContent = "Copied";
}

function narrow(box) {
  const words = box.value.toLowerCase().split(/\s+/);
  let left = 0;
  for (const each of document.querySelectorAll("[data-operation]")) {
    const said = each.dataset.operation.toLowerCase();
    each.hidden = !words.every((word) => said.includes(word));
    if (!each.hidden) left += 1;
  }
  for (const each of document.querySelectorAll(".group")) each.hidden = !each.querySelector("[data-operation]:not([hidden])");
  document.querySelector("[data-count]").textContent = `${left} operations`;
}

document.addEventListener("submit", run);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
document.querySelector("[data-narrow] input")?.addEventListener("input", (event) => narrow(event.target));
const named = document.getElementById(location.hash.slice(1));
if (named?.matches("details")) named.open = true;
offerCopy(document);
