// Something out of the catalogue: what is typed is a name; what is sent is the id, in a field that nobody sees.
const WAIT = 150; // milliseconds without a key before anything is asked
const ID = /^\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i;
const NAMED = 3; // of what may be meant, in a sentence
const TOLD_APART = /\(([0-9a-f-]{36})\)$/; // of two with one name, what is chosen says its id

async function named(kind, text) {
  const answer = await fetch(`/console/suggest/${kind}?q=${encodeURIComponent(text)}`, { headers: { Accept: "application/json" } });
  const told = await answer.json();
  if (told.Code === "sign_in_first") throw new SignedOut();
  if (!answer.ok) throw new Error(told.Message);
  return told;
}

class SignedOut extends Error {}

// A browser lists what has the typed text in its value or its label: what is only nearly called so has it in its label.
function option(label, near, text) {
  return Object.assign(document.createElement("option"), { value: label, ...(near && { label: `${label} (for ${text})` }) });
}

function whatNow({ found, near }) {
  if (!found.length) return "Nothing is called that: try fewer letters.";
  if (!near) return "Nothing is called exactly that: choose one of the suggestions.";
  return `Nothing is called that. Did you mean ${found.slice(0, NAMED).map((each) => each.label).join(" or ")}?`;
}

// `data-chosen` is the id of what the field says already.
export function chooser(input) {
  const sent = document.createElement("input");
  sent.type = "hidden";
  sent.name = input.name;
  sent.value = input.dataset.chosen ?? "";
  input.removeAttribute("name");
  input.placeholder = "Begin with its name";
  input.after(sent);
  let asked = 0;
  let signedOut = false;

  const choose = (found) => {
    const text = input.value.trim().toLowerCase();
    const only = found.filter((each) => each.label.toLowerCase() === text);
    sent.value = ID.test(text) ? text : (only[0]?.id ?? TOLD_APART.exec(text)?.[1] ?? "");
  };
  const ask = async () => {
    const text = input.value;
    const told = await named(input.dataset.suggest, text.trim());
    if (input.value !== text) return null; // what is typed since is asked for by itself
    input.list.replaceChildren(...told.found.map((each) => option(each.label, told.near, text.trim())));
    choose(told.found);
    return told;
  };
  input.addEventListener("input", () => {
    sent.value = "";
    signedOut = false;
    input.setCustomValidity("");
    clearTimeout(asked);
    asked = setTimeout(() => ask().catch(() => {}), WAIT);
  });
  input.addEventListener("focus", () => {
    if (!input.value) ask().catch(() => {});
  });
  // What was said of the last try must not keep the form from being sent again; Enter is a click on the button too.
  input.form.addEventListener("click", (event) => {
    if (event.target.closest("button")) input.setCustomValidity("");
  });
  // Enter may come before the answer does: the form waits for it. Who is not signed in any more is told so where it is sent.
  input.form.addEventListener("submit", (event) => {
    if (sent.value || signedOut) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    ask().then(
      (told) => {
        if (sent.value) input.form.requestSubmit(event.submitter);
        else if (told) refuse(input, whatNow(told));
      },
      (failure) => {
        signedOut = failure instanceof SignedOut;
        if (signedOut) input.form.requestSubmit(event.submitter);
        else refuse(input, "The server cannot be reached. Try again.");
      },
    );
  });
}

function refuse(input, text) {
  input.setCustomValidity(text);
  input.reportValidity();
}
