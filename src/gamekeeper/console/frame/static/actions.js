// Forms that change something: a dialog previews the changes and confirms them.
import { gettext } from "./texts.js";

const HEADERS = () => ({ "X-Fragment": "yes", "X-Place": location.pathname + location.search, "Content-Type": "application/x-www-form-urlencoded" });

const UNKNOWN = gettext("It is not known whether this was done. Send it again: it takes effect only once.");
const NOT_DONE = gettext("The server cannot be reached. Nothing was changed. Try again.");
const SCROLL_KEY = "gamekeeper-scrolled";
export const TIMEOUT_MS = 60_000; // longer than the server takes for any answer

// Send a form and return the HTML of the answer; empty if the answer is a redirect or is lost. A form whose answer is
// lost stays as it is, with its idempotency key. `final`: the form confirms a preview.
async function send(form, submitter, headers, final) {
  const place = form.contains(submitter ?? form) ? form : submitter.parentElement;
  const fields = new URLSearchParams(new FormData(form, submitter));
  const focused = document.activeElement;
  place.querySelector("[data-said]")?.remove(); // the message of an earlier attempt
  setBusy(form, true);
  try {
    const answer = await fetch(form.action, { method: "POST", body: fields, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.redirected) goBack(answer.url);
    else if (isLost(answer, final)) say(place, final ? UNKNOWN : NOT_DONE);
    else return await answer.text();
  } catch {
    say(place, final ? UNKNOWN : NOT_DONE);
  } finally {
    setBusy(form, false);
    if (document.activeElement === document.body) focused.focus(); // a disabled button loses the focus
  }
  return "";
}

// Return to the page of the form and keep its scroll position. The address has no fragment: fetch drops it.
function goBack(url) {
  sessionStorage.setItem(SCROLL_KEY, JSON.stringify({ path: new URL(url).pathname, top: scrollY }));
  location.assign(url);
}

// Restore the scroll position once, right after an action.
export function restoreScroll() {
  const { path, top } = JSON.parse(sessionStorage.getItem(SCROLL_KEY) ?? "{}");
  sessionStorage.removeItem(SCROLL_KEY);
  if (path === location.pathname) scrollTo({ top, behavior: "instant" });
}

// Tell whether an answer leaves the outcome open: it asks for a retry, or it comes from a proxy.
function isLost(answer, final) {
  return (final && answer.headers.has("Retry-After")) || !answer.headers.get("Content-Type")?.startsWith("text/html");
}

export async function openAction(event) {
  const form = event.target;
  if (!form.matches("form[data-action], form[data-confirm]")) return;
  const dialog = document.getElementById("dialog");
  if (!dialog?.showModal) return; // without dialogs the browser sends the form itself
  event.preventDefault();
  const html = await send(form, event.submitter, HEADERS(), form.matches("form[data-confirm]"));
  if (html) show(dialog, html);
}

function show(dialog, html) {
  dialog.innerHTML = html; // from our own template, which escapes all values
  dialog.querySelector("[data-close]")?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  // a secret that is shown once must not disappear by Escape
  dialog.oncancel = (event) => dialog.querySelector("[data-keep]") && event.preventDefault();
  dialog.setAttribute("aria-label", dialog.querySelector("h1")?.textContent ?? "");
  attachCopyButtons(dialog);
  if (!dialog.open) dialog.showModal();
  const first = dialog.querySelector("input:not([type=hidden])") ?? dialog.querySelector("[data-close], [data-keep] .button");
  first?.focus({ preventScroll: true });
  first?.select?.(); // typing replaces a reason that is filled in already
  dialog.scrollTop = 0;
}

// Put a button beside each secret that is shown once. Without a secure connection there is no clipboard: select the text.
export function attachCopyButtons(within = document) {
  for (const each of within.querySelectorAll("code[data-copy]:not([data-copied])")) {
    each.dataset.copied = "";
    const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: gettext("Copy") });
    button.addEventListener("click", async (event) => {
      event.preventDefault(); // the secret may be in a label, whose box must not change
      try {
        await navigator.clipboard.writeText(each.textContent);
        button.textContent = gettext("Copied");
      } catch {
        getSelection().selectAllChildren(each);
        button.textContent = gettext("Press Ctrl C");
      }
    });
    each.after(" ", button);
  }
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
