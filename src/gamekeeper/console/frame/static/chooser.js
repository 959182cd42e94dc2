// A field for a catalogue entry: the user types a name, and a hidden field sends the id.
import { gettext } from "./texts.js";

const DELAY_MS = 150; // pause in typing before a request
const ID = /^\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i;
const MOST_NAMED = 3; // similar names in an error message
const ID_SUFFIX = /\(([0-9a-f-]{36})\)$/; // suggestions with the same name end with their ids
const anyOf = new Intl.ListFormat(document.documentElement.lang, { type: "disjunction" });

async function loadSuggestions(kind, text) {
  const answer = await fetch(`/console/suggest/${kind}?q=${encodeURIComponent(text)}`, { headers: { Accept: "application/json" } });
  const body = await answer.json();
  if (body.Code === "sign_in_first") throw new SignedOut();
  if (!answer.ok) throw new Error(body.Message);
  return body;
}

class SignedOut extends Error {}

// Browsers show an option only if its value or label contains the typed text, so labels of similar names contain it.
function makeOption(name, near, text) {
  const label = near && { label: gettext("%(name)s (similar to %(text)s)", { name, text }) };
  return Object.assign(document.createElement("option"), { value: name, ...label });
}

function describeProblem({ found, near }) {
  if (!found.length) return gettext("No name contains this text. Type fewer letters.");
  if (!near) return gettext("No name is exactly this text. Choose one of the suggestions.");
  return gettext("No name contains this text. Did you mean %(names)s?", { names: anyOf.format(found.slice(0, MOST_NAMED).map((each) => each.label)) });
}

// `data-chosen` is the id of the entry that is filled in at first.
export function attachChooser(input) {
  const sent = document.createElement("input");
  sent.type = "hidden";
  sent.name = input.name;
  sent.value = input.dataset.chosen ?? "";
  input.removeAttribute("name");
  input.placeholder = gettext("Type a name");
  input.after(sent);
  let timer = 0;
  let signedOut = false;

  const choose = (found) => {
    const text = input.value.trim().toLowerCase();
    const only = found.filter((each) => each.label.toLowerCase() === text);
    sent.value = ID.test(text) ? text : (only[0]?.id ?? ID_SUFFIX.exec(text)?.[1] ?? "");
  };
  const suggest = async () => {
    const text = input.value;
    const suggestions = await loadSuggestions(input.dataset.suggest, text.trim());
    if (input.value !== text) return null; // the text has changed since; its own request follows
    input.list.replaceChildren(...suggestions.found.map((each) => makeOption(each.label, suggestions.near, text.trim())));
    choose(suggestions.found);
    return suggestions;
  };
  input.addEventListener("input", () => {
    sent.value = "";
    signedOut = false;
    input.setCustomValidity("");
    clearTimeout(timer);
    timer = setTimeout(() => suggest().catch(() => {}), DELAY_MS);
  });
  input.addEventListener("focus", () => {
    if (!input.value) suggest().catch(() => {});
  });
  // Clear the error of the last attempt, which would block the form. Enter also clicks the button.
  input.form.addEventListener("click", (event) => {
    if (event.target.closest("button")) input.setCustomValidity("");
  });
  // The form waits for the suggestions if Enter is pressed before they arrive. After the end of the session it is sent
  // without an id: the answer then asks the user to sign in.
  input.form.addEventListener("submit", (event) => {
    if (sent.value || signedOut || (!input.required && !input.value.trim())) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    suggest().then(
      (suggestions) => {
        if (sent.value) input.form.requestSubmit(event.submitter);
        else if (suggestions) showError(input, describeProblem(suggestions));
      },
      (failure) => {
        signedOut = failure instanceof SignedOut;
        if (signedOut) input.form.requestSubmit(event.submitter);
        else showError(input, gettext("The server cannot be reached. Try again."));
      },
    );
  });
}

function showError(input, text) {
  input.setCustomValidity(text);
  input.reportValidity();
}
