// The form of an operation. Reads are sent at once; writes are previewed as a dry run, then applied with an Idempotency-Key and a reason.
import { code, copier, el, isJson, line, pretty } from "./elements.js";
import { commandOf, DRY_RUN, fieldsOf, placeholderOf, randomKey, requestOf } from "./request.js";

const NOT_DONE = "The server cannot be reached. Nothing was changed. Try again.";
const UNKNOWN = "It is not known whether this was done. Send it again: it takes effect only once.";
const LOG_IN = "Log in, then send it again from here: it takes effect only once.";
const UNSURE = new Set(["outcome_unknown", "internal_error", "idempotency_in_progress"]);
const DIFFERENT = "The two new passwords are not the same. Type the new password again.";

// `transport`: sends requests, says which operations the user may run, and what a confirmation must contain.
export function formOf(operation, resolve, transport) {
  const fields = fieldsOf(operation, resolve);
  const inputs = fields.map(inputOf);
  const isPreviewed = operation.parameters.some((each) => resolve(each).name === DRY_RUN);
  const problem = transport.problemWith(operation, isPreviewed);
  const result = el("div", { class: "result", "aria-live": "polite" });
  const command = el("pre", { class: "command", tabindex: "0", "aria-label": "curl command" });
  const texts = (hide) => Promise.all(fields.map((each, at) => (inputs[at].value && each.isSecret ? hide(each, inputs[at].value) : inputs[at].value)));
  const showCommand = async (how = { dryRun: isPreviewed }) => {
    command.textContent = commandOf(location.origin, requestOf(operation, fields, await texts(placeholderOf)), how);
  };
  let edits = 0; // number of edits: a confirmation applies the previewed request, so an edit removes it
  const form = el("form", {},
    el("h3", {}, "Request"),
    fields.map((each, at) => labelled(each, inputs[at])),
    problem ? el("p", { class: "quiet" }, problem)
      : el("div", { class: "row" },
        el("button", { class: "main" }, isPreviewed ? "Preview changes" : "Send request"),
        fields.some((each) => each.example) && el("button", { type: "button", onclick: fill }, "Fill in example"),
        el("span", { class: "quiet hint" }, "Ctrl+Enter")));

  function fill() {
    fields.forEach((each, at) => { if (!inputs[at].value) inputs[at].value = each.example; });
    form.dispatchEvent(new Event("input"));
  }

  async function submit(event) {
    event.preventDefault();
    if (!problem) await send(requestOf(operation, fields, await texts(transport.secretOf)), "");
  }

  async function send(request, notice) {
    const how = { dryRun: isPreviewed };
    const before = edits;
    const answer = await attempt(form, () => transport.send(request, how), NOT_DONE);
    if (!answer) return;
    show(answer, how, notice && answer.status < 300 && el("p", { class: "notice bad", role: "alert" }, notice));
    if (isPreviewed && answer.status < 300 && edits === before) {
      result.append(confirmation(request, answer));
      result.querySelector(".confirm :is(input, button)").focus({ preventScroll: true });
    }
    result.scrollIntoView({ block: "nearest" });
  }

  function show(answer, how, notice) {
    const secrets = fields.flatMap((each, at) => (each.isSecret && inputs[at].value ? [inputs[at].value] : []));
    result.replaceChildren(...[notice, ...shown(answer, how, secrets)].filter(Boolean));
    showCommand(how);
  }

  function confirmation(request, preview) {
    const key = randomKey();
    let mayBeDone = false; // true: the outcome of an earlier attempt is unknown, so only a retry with the same key is safe
    const typedAgain = fields.flatMap((each, at) => (each.isNew && inputs[at].value
      ? [{ first: inputs[at].value, name: each.name, input: el("input", { type: "password", required: true, autocomplete: "new-password" }) }] : []));
    const name = preview.erases && el("input", { required: true, autocomplete: "off", spellcheck: "false" });
    const told = inputs[fields.findIndex((each) => each.place === "body" && each.name === "reason")]?.value ?? "";
    const reason = preview.recorded !== false && el("input", { value: told, maxlength: "500", required: transport.needsReason, autocomplete: "off" });
    const confirming = el("form", { class: "confirm" },
      typedAgain.map((each) => el("label", {}, `${each.name} again`, each.input)),
      name && el("label", {}, el("span", {}, "Account name: type ", el("strong", {}, preview.erases), ". Erasing an account cannot be undone."), name),
      reason ? el("label", {}, "Reason", reason) : el("p", { class: "quiet" }, "This is not recorded in the audit log: no reason is needed."),
      el("button", { class: name ? "danger" : "main" }, name ? `Erase ${preview.erases}` : "Apply changes"));
    confirming.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (typedAgain.some((each) => each.first !== each.input.value)) return say(confirming, DIFFERENT);
      const how = { key, seen: preview.seen, reason: reason ? reason.value.trim() : "", typed: name ? name.value : "" };
      const answer = await attempt(confirming, () => transport.send(request, how), UNKNOWN);
      if (!answer) {
        mayBeDone = true;
        return;
      }
      const { Code, Message } = isJson(answer.text) ? JSON.parse(answer.text) ?? {} : {};
      if (Code === "changed_meanwhile") await send(request, `${Message} This is what would happen now:`);
      else if (Code === "name_not_typed") say(confirming, Message);
      else if (mayBeDone && (answer.status === 401 || answer.status === 403)) say(confirming, `${Message} ${LOG_IN}`);
      else if (mayBeSentAgain(answer.status, Code)) {
        mayBeDone = true;
        say(confirming, UNSURE.has(Code) || !Message ? UNKNOWN : `${Message} Then send it again: it takes effect only once.`);
      }
      else {
        show(answer, how);
        result.querySelector("h3").focus(); // the focused element was removed
      }
    });
    return confirming;
  }

  form.addEventListener("input", () => {
    edits += 1;
    result.querySelector(".confirm")?.remove();
    showCommand();
  });
  form.addEventListener("submit", submit);
  showCommand();
  const whole = el("div", { class: "try" }, form, result, el("h4", {}, "curl command ", copier(() => command.textContent, "the curl command")), command);
  whole.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.closest("form")?.requestSubmit();
  });
  return whole;
}

const mayBeSentAgain = (status, code) => status >= 500 || status === 408 || status === 429 || UNSURE.has(code);

function inputOf({ kind, choices, isSecret, required, example }) {
  const attributes = { required, autocomplete: "off", spellcheck: "false", placeholder: example };
  if (isSecret) return el("input", { ...attributes, type: "password", autocomplete: "new-password" });
  if (kind === "choice") return el("select", { required }, el("option", { value: "" }, "—"), [...choices.keys()].filter(Boolean).map((each) => el("option", {}, each)));
  if (kind === "json") return el("textarea", { ...attributes, rows: "2" });
  return el("input", { ...attributes, inputmode: kind === "number" && "numeric" });
}

function labelled({ name, place, required, about }, input) {
  return el("label", {},
    el("span", {}, el("code", {}, name), el("span", { class: "where" }, required ? `${place}, required` : place)), input,
    about && el("span", { class: "note" }, line(about)));
}

// Send a request, one at a time. Without an answer the form stays unchanged and shows the text `lost`.
async function attempt(form, send, lost) {
  if (form.ariaBusy === "true") return null;
  form.querySelector("[data-said]")?.remove();
  form.ariaBusy = "true";
  const started = performance.now();
  try {
    const answer = await send();
    return { ...answer, time: Math.round(performance.now() - started) };
  } catch {
    say(form, lost);
    return null;
  } finally {
    form.ariaBusy = "false";
  }
}

function say(form, text) {
  form.querySelector("[data-said]")?.remove();
  form.append(el("p", { class: "notice bad", role: "alert", "data-said": true }, text));
}

function shown({ status, text, time, headers, changes, cut, links = [], ...outcome }, how, secrets) {
  const whole = pretty(mask(text, secrets));
  return [
    el("h3", { tabindex: "-1" }, how.dryRun ? "Preview" : "Answer"),
    el("p", {}, el("span", { class: `status ${status < 400 ? "good" : "bad"}` }, String(status)), " ",
      el("span", { class: "quiet" }, `${time} ms · ${new Blob([text]).size} bytes `), copier(() => whole, "the answer"), " ", said(status, how, outcome),
      links.map(([name, address]) => [" ", el("a", { href: address }, name)])),
    changes?.length > 0 && el("div", { class: "differences", tabindex: "0", role: "group", "aria-label": "Changes" }, changes.map(differences)),
    cut && el("p", { class: "quiet" }, "This is the beginning of the answer. Use the curl command to get all of it."),
    code(whole, "Answer"),
    headers && el("details", { class: "headers" }, el("summary", {}, "Headers"), code(headers.map(([name, value]) => `${name}: ${value}`).join("\n"), "Headers")),
  ];
}

function said(status, { dryRun, key }, { replayed, recorded }) {
  if (status >= 300 || !(dryRun || key)) return null;
  if (dryRun) return el("strong", {}, "Nothing has been changed yet.");
  if (replayed) return "This was done already, and was not repeated.";
  return recorded === false ? "Done. This is not recorded in the audit log, so it cannot be undone." : "Done.";
}

// Hide secrets in the answer: it may quote sent values, such as a refresh token.
function mask(text, secrets) {
  return secrets.map((each) => JSON.stringify(each).slice(1, -1)).reduce(
    (at, each) => at.replaceAll(`"${each}"`, `"…"`).replaceAll(`'${each}'`, "'…'"), text);
}

function differences(lines) {
  if (!lines.length) return el("p", { class: "quiet" }, "This change has no details to show.");
  const heads = ["Subject", "Before", "After"].map((each) => el("th", { scope: "col" }, each));
  return el("table", { class: "difference" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, lines.map(({ what, before, after }) =>
    el("tr", {}, el("th", { scope: "row" }, what), el("td", { class: "was" }, before), el("td", { class: "now" }, after)))));
}
