// The filter of the list of players: suggestions for the item. Empty fields are not sent, so that addresses stay short.
import { attachChooser } from "./chooser.js";

const form = document.querySelector("[data-filters]");
for (const input of form.querySelectorAll("[data-suggest]")) attachChooser(input);
form.addEventListener("submit", () => {
  for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
});
addEventListener("pageshow", () => {
  for (const field of form.elements) field.disabled = false; // the Back button restores the page
});
