// A form that changes something: what will change is shown in a dialog, and done from there.
const HEADERS = () => ({ "X-Fragment": "yes", "X-Place": location.pathname + location.search, "Content-Type": "application/x-www-form-urlencoded" });

export const UNKNOWN = "It is not known whether it was done; send it again: it is never done twice.";

// It came too early or from something in between: it does not say what became of what was sent.
export function lost(answer) {
  return answer.headers.has("Retry-After") || !answer.headers.get("Content-Type")?.startsWith("text/html");
}

export async function openAction(event) {
  const form = event.target;
  if (!form.matches("form[data-action], form[data-confirm]")) return;
  const dialog = document.getElementById("dialog");
  if (!dialog?.showModal) return; // the form works by itself
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  const beside = form.contains(event.submitter ?? form) ? form : event.submitter.parentElement;
  setBusy(form, true);
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields, headers: HEADERS() });
    if (answer.redirected) {
      location.assign(answer.url);
      return;
    }
    if (form.matches("form[data-confirm]") && lost(answer)) say(beside, UNKNOWN); // the form and its key stay
    else show(dialog, await answer.text());
  } catch {
    say(beside, form.matches("form[data-confirm]") ? UNKNOWN : "The server cannot be reached. Nothing was done: try again.");
  } finally {
    setBusy(form, false);
  }
}

function show(dialog, html) {
  dialog.innerHTML = html; // our own template: everything in it is escaped
  dialog.querySelector("[data-close]")?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  if (!dialog.open) dialog.showModal();
  (dialog.querySelector("input:not([type=hidden])") ?? dialog.querySelector("[data-close]"))?.focus();
}

export function say(place, text) {
  let notice = place.querySelector(".notice");
  if (!notice) {
    notice = document.createElement("p");
    notice.className = "notice bad";
    notice.setAttribute("role", "alert");
    place.append(notice);
  }
  notice.textContent = text;
}

function setBusy(form, busy) {
  for (const each of form.elements) if (each.matches("button")) each.disabled = busy;
}
