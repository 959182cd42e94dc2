// Suggestions below the search box. Arrow keys choose one, Enter opens it, Escape closes the list.
import { gettext, ngettext } from "./texts.js";

const DELAY_MS = 150; // pause in typing before a request
const LIST = "suggestions"; // id and class of the list
const SECRET = /^\s*gk[ak]_/; // how a token or an API key starts

// A token or key that was pasted into a filter, whose form would put it into an address, goes to the search instead.
export function divertSecret(event) {
  const form = event.target;
  const box = document.getElementById("find");
  if (!box || form.method !== "get") return;
  const pasted = [...new FormData(form).values()].find((value) => SECRET.test(value));
  if (!pasted) return;
  event.preventDefault();
  box.value = pasted;
  box.form.submit();
}

export function attachSuggestions(box) {
  const list = document.createElement("div");
  list.id = LIST;
  list.className = LIST;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", gettext("Suggestions"));
  list.hidden = true;
  const message = document.createElement("div");
  message.className = "hidden";
  message.setAttribute("role", "status");
  box.after(list, message);
  const attributes = { role: "combobox", "aria-autocomplete": "list", "aria-controls": LIST, "aria-expanded": "false" };
  for (const [name, value] of Object.entries(attributes)) box.setAttribute(name, value);

  let timer = 0;
  let request = null; // AbortController of the running request
  let chosen = -1;
  let shownFor = ""; // the text that the suggestions are for
  const options = () => [...list.querySelectorAll("[role=option]")];

  // Tell whether there is one single suggestion, and it belongs to the text in the box.
  const isOnly = () => options().length === 1 && shownFor === box.value.trim();

  function close() {
    clearTimeout(timer);
    request?.abort();
    message.className = "hidden";
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function choose(next) {
    const all = options();
    if (all.length === 0) return;
    chosen = (next + all.length) % all.length;
    for (const [index, each] of all.entries()) each.setAttribute("aria-selected", String(index === chosen));
    box.setAttribute("aria-activedescendant", all[chosen].id);
    all[chosen].scrollIntoView({ block: "nearest" });
  }

  function show(groups) {
    list.replaceChildren(...groups.map(makeGroup));
    for (const [index, each] of options().entries()) each.id = `${LIST}-${index}`;
    chosen = -1;
    box.removeAttribute("aria-activedescendant");
    list.hidden = groups.length === 0;
    box.setAttribute("aria-expanded", String(groups.length > 0));
    message.className = "hidden";
    const note = groups.flatMap((each) => each.found).find((each) => !each.href && !each.form);
    message.textContent = note ? note.name : ngettext("%(num)s suggestion", "%(num)s suggestions", options().length); // for screen readers
  }

  // Show an error instead of the suggestions, which belong to an earlier text.
  function showError(text) {
    close();
    message.className = `${LIST} notice bad`;
    message.textContent = text;
  }

  async function loadSuggestions() {
    const text = box.value.trim();
    request?.abort();
    if (!text) {
      close();
      return;
    }
    request = new AbortController();
    try {
      // a POST: the text may be a token or a key, which must not be in an address
      const body = new URLSearchParams({ q: text, csrf: box.form.elements.csrf.value });
      const answer = await fetch("/console/suggest", { method: "POST", body, headers: { Accept: "application/json" }, signal: request.signal });
      const told = await answer.json();
      if (document.activeElement !== box) return;
      shownFor = text;
      if (answer.ok) show(told.groups);
      else showError(told.Message);
    } catch (failure) {
      if (failure.name !== "AbortError") showError(gettext("The server cannot be reached. Continue typing to try again."));
    }
  }

  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(loadSuggestions, DELAY_MS);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault(); // by default Escape would clear the text
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) loadSuggestions();
      else if (event.key === "ArrowDown") choose(chosen + 1);
      else choose(chosen < 0 ? -1 : chosen - 1);
    } else if (event.key === "Enter" && !list.hidden && (chosen >= 0 || isOnly())) {
      event.preventDefault();
      options()[Math.max(chosen, 0)].click();
    }
  });
  box.addEventListener("blur", (event) => {
    if (!list.contains(event.relatedTarget)) close();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus in the box: a blur would close the list before the click
}

function makeGroup({ title, found }, number) {
  const made = document.createElement("div");
  const heading = document.createElement("div");
  made.setAttribute("role", "group");
  heading.id = `${LIST}-group-${number}`;
  heading.className = "group";
  heading.textContent = title;
  made.setAttribute("aria-labelledby", heading.id);
  made.append(heading, ...found.map(makeOption));
  return made;
}

function makeOption({ name, detail, href, form, picture }) {
  const made = document.createElement("a");
  if (href) made.href = href;
  if (form) made.addEventListener("click", (event) => openPreview(event, form));
  made.tabIndex = -1;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", "false");
  if (!href && !form) {
    made.className = "told"; // a note, which leads nowhere
    made.setAttribute("aria-disabled", "true");
  }
  const label = document.createElement("span");
  label.textContent = name || gettext("(no name)");
  const more = document.createElement("span");
  more.className = "detail";
  more.textContent = detail;
  if (picture) made.append(Object.assign(document.createElement("img"), { src: picture, alt: "" }));
  made.append(label, more);
  return made;
}

// Send the form of an action, as if it was on the page: actions.js shows its preview in a dialog.
function openPreview(event, fields) {
  event.preventDefault();
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/console/act";
  form.dataset.action = "";
  form.hidden = true;
  const csrf = document.getElementById("find").form.elements.csrf.value;
  for (const [name, value] of Object.entries({ csrf, ...fields })) form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  document.getElementById("find").blur();
  document.body.append(form);
  form.requestSubmit();
}
