// The page: every operation of the description, in its groups, each with what it takes, gives and refuses.

import { base, curl, logIn, onToken, pretty, request, send, token, use, written } from "./call.js";
import { el, line, prose, resolver, shapes, typeOf } from "./schema.js";

const $ = (id) => document.getElementById(id);
const LONGEST = 200_000;
let resolve;
let operations = [];

async function start() {
  const root = await (await fetch(`${base}/api/openapi.json`)).json();
  resolve = resolver(root);
  document.title = root.info.title;
  $("title").textContent = root.info.title;
  $("version").textContent = root.info.version;
  $("about").append(...prose(root.info.description));
  operations = Object.entries(root.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, about]) => ({ ...about, path, method: method.toUpperCase() })));
  const groups = root.tags.map((tag) => group(tag, operations.filter((each) => each.tags.includes(tag.name))));
  $("list").replaceChildren(...groups);
  $("groups").append(...root.tags.map((tag) => el("a", { href: `#${slug(tag.name)}` }, tag.name,
    el("span", { class: "count" }, String(operations.filter((each) => each.tags.includes(tag.name)).length)))));
  open();
}

const slug = (name) => `group-${name.toLowerCase()}`;

function group(tag, members) {
  members.sort((a, b) => (a["x-number"] ?? 99) - (b["x-number"] ?? 99));
  const id = slug(tag.name);
  return el("section", { class: "group", id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, tag.name),
    el("p", { class: "quiet" }, tag.description),
    members.map(entry));
}

function entry(operation) {
  const details = el("details", { class: "operation", id: operation.operationId },
    el("summary", {},
      el("span", { class: `method ${operation.method.toLowerCase()}` }, operation.method),
      el("code", { class: "path" }, operation.path.split(/(?<=\/)|(?=\{)/).flatMap((part) => [el("wbr"), part.startsWith("{") ? el("em", {}, part) : part])),
      el("span", { class: "says" }, operation.summary),
      el("span", { class: "chips" }, chips(operation))));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    details.append(body(operation));
  });
  operation.words = [operation.method, operation.path, operation.summary, operation.operationId, operation["x-number"] ?? "",
    ...operation["x-roles"], operation.tags, ...Object.values(operation.responses).map((each) => resolve(each).description)].join(" ").toLowerCase();
  operation.details = details;
  return details;
}

function chips(operation) {
  const roles = operation.security.length ? operation["x-roles"] : ["no token"];
  return [
    operation["x-number"] && el("span", { class: "chip", title: "Its number in the specification" }, `#${operation["x-number"]}`),
    operation["x-writes"] && el("span", { class: "chip writes" }, "writes"),
    operation.deprecated && el("span", { class: "chip old" }, "deprecated"),
    roles.map((role) => el("span", { class: "chip role" }, role)),
  ];
}

function body(operation) {
  return el("div", { class: "inside" },
    el("div", { class: "told" }, el("p", {}, line(operation.description)), taken(operation), answers(operation), refusals(operation)),
    tryOut(operation));
}

function taken(operation) {
  const content = operation.requestBody?.content["application/json"];
  if (!content) return null;
  const forms = Object.keys(operation.requestBody.content).length > 1 ? ", as JSON or as a form" : "";
  return [el("h3", {}, "Body ", el("span", { class: "quiet" }, typeOf(content.schema) + forms)), shapes(content.schema, resolve)];
}

function answers(operation) {
  const content = Object.values(operation.responses["200"].content)[0];
  const example = content.example === undefined ? null : [el("h4", {}, "Example"), code(written(content.example))];
  return [el("h3", {}, "Answer ", el("span", { class: "status good" }, "200"), " ", el("span", { class: "quiet" }, typeOf(content.schema))),
    shapes(content.schema, resolve), example];
}

function refusals(operation) {
  const rows = Object.entries(operation.responses).filter(([status]) => status !== "200").flatMap(([status, each]) =>
    Object.entries(resolve(each).content["application/json"].examples).map(([name, { value }]) =>
      el("tr", {}, el("td", {}, el("span", { class: "status bad" }, status)), el("th", { scope: "row" }, el("code", {}, name.split(/(?<=_)/).flatMap((part) => [part, el("wbr")]))), el("td", {}, value.Message))));
  return [el("h3", {}, "Refusals"), el("div", { class: "scroll" }, el("table", { class: "refusals" }, el("tbody", {}, rows)))];
}

function tryOut(operation) {
  const content = operation.requestBody?.content["application/json"];
  const result = el("div", { class: "result", "aria-live": "polite" });
  const line = el("pre", { class: "curl", tabindex: "0", "aria-label": "The same with curl" });
  const form = el("form", { class: "try" },
    el("h3", {}, "Try it"),
    operation.parameters.map(field),
    content && bodyField(content),
    el("div", { class: "row" }, el("button", { class: "go" }, "Send"), el("span", { class: "quiet hint" }, "Ctrl+Enter")),
    result,
    el("h4", {}, "The same with curl ", copier(() => line.textContent)), line);
  const show = () => { line.textContent = curl(request(operation, form)); };
  form.addEventListener("input", show);
  form.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); call(operation, form, result); });
  onToken(show);
  return form;
}

function field(parameter) {
  const attributes = { name: parameter.name, "data-in": parameter.in, required: parameter.required, autocomplete: "off", spellcheck: "false" };
  const about = el("span", { class: "note" }, line(parameter.description));
  const { type, default: otherwise } = parameter.schema;
  if (type === "boolean") {
    const checked = parameter.name === "dryRun";
    return el("label", { class: "tick" }, el("input", { ...attributes, type: "checkbox", checked }), el("span", {}, el("code", {}, parameter.name), about));
  }
  const value = parameter.in === "path" ? parameter.example : "";
  const placeholder = parameter.example ?? (otherwise === undefined ? "" : String(otherwise));
  const input = parameter.schema.enum
    ? el("select", attributes, parameter.in === "path" ? null : el("option", { value: "" }, "—"), parameter.schema.enum.map((each) => el("option", { selected: each === value }, each)))
    : el("input", { ...attributes, value, placeholder });
  return el("label", {}, el("span", {}, el("code", {}, parameter.name), el("span", { class: "where" }, parameter.in)), input, about);
}

function bodyField(content) {
  const text = written(content.example);
  const rows = Math.min(16, text.split("\n").length + 1);
  const area = el("textarea", { name: "body", "data-in": "body", rows, spellcheck: "false" });
  area.value = text;
  return el("label", {}, el("span", {}, el("code", {}, "body"), el("span", { class: "where" }, "JSON")), area);
}

async function call(operation, form, result) {
  result.replaceChildren(el("p", { class: "quiet" }, "…"));
  try {
    result.replaceChildren(...answered(await send(request(operation, form))));
  } catch (problem) {
    result.replaceChildren(el("p", { class: "problem" }, `The server cannot be reached: ${problem.message}`));
  }
}

function answered({ status, word, headers, text, time }) {
  const whole = pretty(text);
  const shown = whole.length > LONGEST ? `${whole.slice(0, LONGEST)}\n… and ${whole.length - LONGEST} characters more` : whole;
  return [
    el("p", {}, el("span", { class: `status ${status < 400 ? "good" : "bad"}` }, String(status)), ` ${word} `,
      el("span", { class: "quiet" }, `${time} ms · ${new Blob([text]).size} bytes`), copier(() => whole)),
    code(shown),
    el("details", { class: "headers" }, el("summary", {}, "Headers"), code(headers.map(([name, value]) => `${name}: ${value}`).join("\n"))),
  ];
}

function code(text) {
  const parts = text.length > LONGEST / 4 ? [text] : text.split(/("(?:[^"\\]|\\.)*"(?=\s*:))|("(?:[^"\\]|\\.)*")|\b(true|false|null|-?\d+(?:\.\d+)?)\b/);
  const kinds = ["", "key", "text", "atom"];
  const spans = parts.length === 1 ? parts : parts.map((part, at) => part && (at % 4 ? el("span", { class: kinds[at % 4] }, part) : part));
  return el("pre", { tabindex: "0" }, el("code", {}, spans));
}

function copier(text) {
  const copy = async (event) => {
    event.preventDefault();
    const button = event.currentTarget;
    await toClipboard(text());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  return el("button", { type: "button", class: "copy", onclick: copy }, "Copy");
}

// The clipboard proper is for https and localhost only.
async function toClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el("textarea", { class: "hidden" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

function search() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const each of operations) each.details.hidden = !words.every((word) => each.words.includes(word));
  for (const section of document.querySelectorAll(".group")) section.hidden = !section.querySelector(".operation:not([hidden])");
  $("about").hidden = words.length > 0;
  $("nothing").hidden = operations.some((each) => !each.details.hidden);
}

function open() {
  const there = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (there?.matches("details")) there.open = true;
  there?.scrollIntoView({ behavior: "instant" });
}

function dialogs() {
  const dialog = $("log-in");
  $("who").addEventListener("click", () => { $("log-in-problem").textContent = ""; dialog.showModal(); });
  $("close").addEventListener("click", () => dialog.close());
  $("log-out").addEventListener("click", () => { use(""); dialog.close(); });
  $("by-token").addEventListener("submit", (event) => { event.preventDefault(); use($("token").value.trim()); $("token").value = ""; dialog.close(); });
  $("by-password").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await logIn($("name").value, $("password").value, $("read-only").checked);
      $("password").value = "";
      dialog.close();
    } catch (problem) {
      $("log-in-problem").textContent = problem.message;
    }
  });
  onToken(() => {
    $("who").textContent = token() ? "Token in use" : "Log in";
    $("who").classList.toggle("in", Boolean(token()));
    $("log-out").hidden = !token();
  });
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (event.key === "/" && !typing) { event.preventDefault(); $("search").focus(); }
  if (event.key === "Escape" && event.target === $("search")) { $("search").value = ""; search(); }
});
$("search").addEventListener("input", search);
addEventListener("hashchange", open);
dialogs();
start().catch((problem) => { $("list").replaceChildren(el("p", { class: "problem" }, `The description cannot be read: ${problem.message}`)); });
