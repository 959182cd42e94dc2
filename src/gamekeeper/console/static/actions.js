// A form that changes something: what will change is shown in a dialog, and done from there.
const HEADERS = () => ({ "X-Fragment": "yes", "X-Place": location.pathname + location.search, "Content-Type": "application/x-www-form-urlencoded" });

const UNKNOWN = "It is not known whether it was done; send it again: it is never done twice.";
const NOT_DONE = "The server cannot be reached. Nothing was done: try again.";
const SCROLLED = "gamekeeper-scrolled";
export const PATIENCE_MS = 60_000; // then nobody will answer any more

// Sends a form and gives the answer's HTML. Gives nothing when the answer leads elsewhere or is lost, and then the form
// stays as it is, with its key. `final`: it is to be done, not only tried.
async function sent(form, submitter, headers, final) {
  const place = form.contains(submitter ?? form) ? form : submitter.parentElement;
  const fields = new URLSearchParams(new FormData(form, submitter));
  const focused = document.activeElement;
  place.querySelector("[data-said]")?.remove(); // of an earlier try
  setBusy(form, true);
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields, headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.redirected) goBack(answer.url);
    else if (lost(answer, final)) say(place, final ? UNKNOWN : NOT_DONE);
    else return await answer.text();
  } catch {
    say(place, final ? UNKNOWN : NOT_DONE);
  } finally {
    setBusy(form, false);
    if (document.activeElement === document.body) focused.focus(); // a button that is busy loses it
  }
  return "";
}

// To the page that the form was on, as far down as it is now. The address has no fragment: fetch leaves it out.
function goBack(url) {
  sessionStorage.setItem(SCROLLED, JSON.stringify({ path: new URL(url).pathname, top: scrollY }));
  location.assign(url);
}

// After an action, once: a page that is opened later begins at its top.
export function restoreScroll() {
  const { path, top } = JSON.parse(sessionStorage.getItem(SCROLLED) ?? "{}");
  sessionStorage.removeItem(SCROLLED);
  if (path === location.pathname) scrollTo({ top, behavior: "instant" });
}

// It came too early or from something in between: it does not say what became of what was sent.
function lost(answer, final) {
  return (final && answer.headers.has("Retry-After")) || !answer.headers.get("Content-Type")?.startsWith("text/html");
}

export async function openAction(event) {
  const form = event.target;
  if (!form.matches("form[data-action], form[data-confirm]")) return;
  const dialog = document.getElementById("dialog");
  if (!dialog?.showModal) return; // the form works by itself
  event.preventDefault();
  const html = await sent(form, event.submitter, HEADERS(), form.matches("form[data-confirm]"));
  if (html) show(dialog, html);
}

function show(dialog, html) {
  dialog.innerHTML = html; // our own template: everything in it is escaped
  dialog.querySelector("[data-close]")?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  if (!dialog.open) dialog.showModal();
  const first = dialog.querySelector("input:not([type=hidden])") ?? dialog.querySelector("[data-close]");
  first?.focus({ preventScroll: true });
  first?.select?.(); // a reason that is there already is replaced by what is typed
  dialog.scrollTop = 0; // what will change is read from its beginning
}

export function say(place, text) {
  const notice = document.createElement("p");
  notice.className = "notice bad";
  notice.dataset.said = "";
  notice.setAttribute("role", "alert");
  notice.textContent = text;
  place.append(notice);
}

function setBusy(form, busy) {
  for (const each of form.elements) if (each.matches("button")) each.disabled = busy;
}
