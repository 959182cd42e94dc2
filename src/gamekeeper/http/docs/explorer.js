// The API explorer: all operations of the OpenAPI document by group, with their fields, answers, errors, and a form to run them.
import { code, el, line, pretty, prose } from "./elements.js";
import { DRY_RUN } from "./request.js";
import { formOf } from "./run.js";
import { resolver, tables, typeOf } from "./schema.js";

export async function explore(place, transport) {
  place.replaceChildren(el("p", { class: "quiet" }, "Loading the API description …"));
  try {
    const answer = await fetch("/api/openapi.json");
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    build(place, await answer.json(), transport);
  } catch (problem) {
    place.replaceChildren(el("p", { class: "notice bad", role: "alert" }, `The API description cannot be loaded: ${problem.message}. Reload the page.`));
  }
}

function build(place, root, transport) {
  const resolve = resolver(root);
  const operations = Object.entries(root.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, about]) => ({ ...about, path, method: method.toUpperCase() })));
  const entries = operations.map((each) => entry(each, resolve, transport));
  const groups = root.tags.map((tag) => group(tag, entries.filter((_, at) => operations[at].tags.includes(tag.name))));
  const links = root.tags.map((tag, at) =>
    el("a", { href: `#${groups[at].id}` }, tag.name, " ", el("span", { class: "count" }, String(groups[at].querySelectorAll(".operation").length))));
  const count = el("span", { class: "quiet", role: "status" });
  const search = el("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: "give, /rank, users.manage, inventory_full …", "aria-keyshortcuts": "/" });
  const about = el("details", { class: "about", open: transport.isIntroduced && matchMedia("(min-width: 60rem)").matches }, el("summary", {}, `About ${root.info.title} ${root.info.version}`), prose(root.info.description));
  search.value = new URLSearchParams(location.search).get("q") ?? "";
  const narrow = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const each of entries) each.hidden = !words.every((word) => each.words.includes(word));
    groups.forEach((each, at) => { each.hidden = links[at].hidden = !each.querySelector(".operation:not([hidden])"); });
    about.hidden = words.length > 0;
    const left = entries.filter((each) => !each.hidden).length;
    count.textContent = left ? `${left} operation${left > 1 ? "s" : ""}` : "No results. Press Escape to show all operations.";
  };
  place.replaceChildren(
    el("div", { class: "search" }, el("label", {}, el("span", {}, "Search operations ", el("kbd", { "aria-hidden": "true" }, "/")), search), count),
    el("nav", { "aria-label": "Groups of operations" }, links),
    el("div", { class: "list" }, about, groups));
  search.addEventListener("input", narrow);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, textarea, select, dialog")) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape" && event.target === search) { search.value = ""; narrow(); }
  });
  addEventListener("hashchange", open);
  narrow();
  open();
}

function open() {
  const there = document.getElementById(location.hash.slice(1));
  if (there?.matches("details")) there.open = true;
  there?.scrollIntoView({ behavior: "instant" });
}

function group(tag, members) {
  const id = `group-${tag.name.toLowerCase().replaceAll(" ", "-")}`;
  return el("section", { class: "group", id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, tag.name), el("p", { class: "quiet" }, tag.description), members);
}

function entry(operation, resolve, transport) {
  const details = el("details", { class: "operation", id: operation.operationId },
    el("summary", {},
      el("span", { class: `method ${operation.method.toLowerCase()}` }, operation.method),
      el("code", { class: "path" }, operation.path.split(/(?<=\/)|(?=\{)/).flatMap((part) => [el("wbr"), part.startsWith("{") ? el("em", {}, part) : part])),
      el("span", { class: "says" }, line(operation.summary)),
      el("span", { class: "chips" }, chips(operation))));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(inside(operation, resolve, transport));
  });
  details.words = [operation.method, operation.path, operation.summary, operation.operationId, operation["x-number"] ?? "", ...rightsOf(operation),
    operation.tags, ...Object.values(operation.responses).map((each) => resolve(each).description)].join(" ").toLowerCase();
  return details;
}

export const rightsOf = (operation) => operation["x-permissions"];

function chips(operation) {
  const rights = operation.security.length ? rightsOf(operation) : ["no token"];
  return [
    operation["x-number"] && el("span", { class: "chip", title: "Number in the specification" }, `#${operation["x-number"]}`),
    operation["x-writes"] && el("span", { class: "chip writes" }, "writes"),
    operation.deprecated && el("span", { class: "chip old" }, "deprecated"),
    rights.map((each) => el("span", { class: "chip right" }, each)),
  ];
}

function inside(operation, resolve, transport) {
  return el("div", { class: "inside" }, formOf(operation, resolve, transport),
    el("div", { class: "reference" }, el("p", {}, line(operation.description)),
      options(operation, resolve), body(operation, resolve), answer(operation, resolve), refusals(operation, resolve)));
}

// Headers and options for programs. The form sets them itself, by its preview and confirmation.
function options(operation, resolve) {
  const found = operation.parameters.map(resolve).filter((each) => each.in === "header" || each.name === DRY_RUN);
  return found.length > 0 && [el("h3", {}, "Options"), el("table", { class: "fields" }, el("tbody", {}, found.map((each) =>
    el("tr", {}, el("th", { scope: "row" }, el("code", {}, each.name), " ", el("span", { class: "where" }, each.in)), el("td", {}, line(each.description))))))];
}

function body(operation, resolve) {
  const { schema } = operation.requestBody?.content["application/json"] ?? {};
  return schema && [el("h3", {}, "Body ", el("span", { class: "quiet" }, typeOf(schema, resolve))), tables(schema, resolve)];
}

function answer(operation, resolve) {
  const [status, response] = Object.entries(operation.responses).find(([each]) => each < "300");
  const [{ schema = {}, example } = {}] = Object.values(resolve(response).content ?? {});
  return [el("h3", {}, "Answer ", el("span", { class: "status good" }, status), " ", el("span", { class: "quiet" }, typeOf(schema, resolve))),
    tables(schema, resolve), example !== undefined && [el("h4", {}, "Example"), code(pretty(JSON.stringify(example)), "Example")]];
}

function refusals(operation, resolve) {
  const rows = Object.entries(operation.responses).filter(([status]) => status >= "400").flatMap(([status, each]) =>
    Object.entries(resolve(each).content?.["application/json"]?.examples ?? {}).map(([name, example]) =>
      el("tr", {}, el("td", {}, el("span", { class: "status bad" }, status)),
        el("th", { scope: "row" }, el("code", {}, name.split(/(?<=_)/).flatMap((part) => [part, el("wbr")]))), el("td", {}, resolve(example).value.Message))));
  return [el("h3", {}, "Errors"), el("table", { class: "refusals" }, el("tbody", {}, rows))];
}
