// Something out of the catalogue: what is typed is a name; what is sent is the id, in a field that nobody sees.
const WAIT = 150; // milliseconds without a key before anything is asked
const ID = /^\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?$/i;
const TOLD_APART = /\(([0-9a-f-]{36})\)$/; // of two with one name, what is chosen says its id

async function named(kind, text) {
  const answer = await fetch(`/console/suggest/${kind}?q=${encodeURIComponent(text)}`, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.statusText);
  return (await answer.json()).found;
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

  const choose = (found) => {
    const text = input.value.trim().toLowerCase();
    const only = found.filter((each) => each.label.toLowerCase() === text);
    sent.value = ID.test(text) ? text : (only[0]?.id ?? TOLD_APART.exec(text)?.[1] ?? "");
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
  // What was said of the last try must not keep the form from being sent again; Enter is a click on the button too.
  input.form.addEventListener("click", (event) => {
    if (event.target.closest("button")) input.setCustomValidity("");
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
