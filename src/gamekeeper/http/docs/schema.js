// Elements without innerHTML, and schemas as tables that people can read.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return made;
}

// The little of Markdown that the description uses: lists, `code` and **strong**.
export function prose(text) {
  const parts = text.trim().split(/\n\n+/);
  return parts.map((part) =>
    part.startsWith("* ")
      ? el("ul", {}, part.split(/\n?\* (?=[A-Z*])/).filter(Boolean).map((item) => el("li", {}, line(item))))
      : el("p", {}, line(part)),
  );
}

export function line(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map((part) => {
    if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
    return part.startsWith("**") ? el("strong", {}, part.slice(2, -2)) : part;
  });
}

export function resolver(root) {
  return (schema) => {
    if (!schema?.$ref) return schema;
    return schema.$ref.slice(2).split("/").reduce((at, key) => at[key], root);
  };
}

export function nameOf(schema) {
  return schema?.$ref?.split("/").pop();
}

// "integer 1…5", "uuid", "array of ItemSlot (5)"
export function typeOf(schema) {
  if (schema.$ref) return nameOf(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum && !isTruth(schema)) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (schema.anyOf) return [...new Set(schema.anyOf.filter((each) => each.maxItems !== 0).map(typeOf))].join(" or ");
  if (schema.allOf) return schema.allOf.map(typeOf).join(" and ");
  if (schema.type === "array") return `array of ${schema.items ? typeOf(schema.items) : "anything"}${sized(schema)}`;
  return `${isTruth(schema) ? "boolean" : plain(schema)}${bounded(schema)}`;
}

function isTruth(schema) {
  return [schema.type].flat().includes("boolean");
}

// A whole number may come as text too; the introduction says so once for all of them.
function plain(schema) {
  const [first = "anything"] = [schema.type ?? []].flat();
  return schema.format ?? first;
}

function sized({ minItems: least, maxItems: most }) {
  if (least !== undefined && least === most) return `, ${most} of them`;
  return most === undefined ? "" : `, at most ${most}`;
}

const WORDS = new Map([[2147483647, "2³¹−1"], [2 ** 63, "2⁶³−1"]]);

function bounded({ minimum, maximum, minLength, maxLength }) {
  const show = (number) => WORDS.get(number) ?? number;
  if (minimum === -2147483648) return ", 32 bits";
  if (minimum === -(2 ** 63)) return ", 64 bits";
  if (minimum !== undefined && maximum !== undefined) return ` ${show(minimum)} … ${show(maximum)}`;
  if (maxLength !== undefined) return `, ${minLength ?? 0} to ${maxLength} characters`;
  return "";
}

// The fields of a schema, and under them those of every shape it mentions.
export function shapes(schema, resolve) {
  const shown = new Set();
  const tables = [];
  const visit = (each) => {
    const name = nameOf(each);
    if (name && shown.has(name)) return;
    if (name) shown.add(name);
    const known = resolve(each);
    if (known.properties) tables.push(table(tables.length || each !== schema ? name : null, known));
    const inner = [...Object.values(known.properties ?? {}), known.items, ...(known.anyOf ?? []), ...(known.allOf ?? [])];
    inner.filter((child) => child && typeof child === "object").forEach(visit);
  };
  visit(schema);
  return tables;
}

function table(name, schema) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties).map(([field, each]) =>
    el("tr", {},
      el("th", { scope: "row" }, el("code", {}, field), required.has(field) ? null : el("span", { class: "optional" }, "optional")),
      el("td", {}, typeOf(each), each.default === undefined || each.default === null ? null : [", otherwise ", el("code", {}, JSON.stringify(each.default))],
        each.description ? el("span", { class: "note" }, each.description) : null),
    ),
  );
  return el("table", { class: "fields" }, name ? el("caption", {}, name) : null, el("tbody", {}, rows));
}
