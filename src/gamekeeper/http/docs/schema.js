// Show a JSON Schema: its alternatives, its types in words, and its fields as tables.
import { el, line } from "./elements.js";

export function resolver(root) {
  return (schema) => (schema?.$ref ? schema.$ref.slice(2).split("/").reduce((at, key) => at[key], root) : schema);
}

const nameOf = (schema) => schema.$ref?.split("/").pop();

// List the schemas that a value may match, with references resolved; the parts of an allOf are merged.
export function alternatives(schema, resolve) {
  const { allOf, ...known } = resolve(schema);
  const inner = [...(known.anyOf ?? []), ...(known.oneOf ?? [])];
  if (inner.length) return inner.flatMap((each) => alternatives(each, resolve));
  return [(allOf ?? []).map(resolve).reduce(merge, known)];
}

function merge(one, other) {
  const properties = one.properties || other.properties ? { properties: { ...one.properties, ...other.properties } } : {};
  return { ...one, ...other, ...properties, required: [...(one.required ?? []), ...(other.required ?? [])] };
}

// Describe a type, such as "integer 1 … 5", "uuid" or "array of ItemSlot, 5 of them". Only objects are shown by name.
export function typeOf(schema, resolve) {
  const inner = (each) => typeOf(each, resolve);
  if (schema.$ref) return alternatives(schema, resolve).some((each) => each.properties) ? nameOf(schema) : inner(resolve(schema));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [schema.type ?? []].flat();
  if (schema.enum && !types.includes("boolean")) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return [...new Set(options.filter((each) => each.maxItems !== 0).map(inner))].join(" or ");
  if (schema.allOf) return schema.allOf.map(inner).join(" and ");
  const orNull = types.length > 1 && types.includes("null") ? " or null" : "";
  if (types.includes("array")) return `array of ${schema.items ? inner(schema.items) : "anything"}${sized(schema)}${orNull}`;
  const format = types.includes("string") && schema.format !== "password" ? schema.format : undefined;
  return (types.includes("boolean") ? "boolean" : format ?? types[0] ?? "anything") + bounded(schema) + orNull;
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
  return maxLength === undefined ? "" : `, ${minLength ?? 0} to ${maxLength} characters`;
}

// Make tables of the fields of a schema, and of all schemas that it refers to.
export function tables(schema, resolve) {
  const seen = new Set();
  const made = [];
  const visit = (each) => {
    const name = nameOf(each);
    if (name && seen.has(name)) return;
    if (name) seen.add(name);
    const known = resolve(each);
    if (known.properties) made.push(table(made.length || each !== schema ? name : null, known, resolve));
    [...Object.values(known.properties ?? {}), known.items, ...(known.anyOf ?? []), ...(known.oneOf ?? []), ...(known.allOf ?? [])]
      .filter((child) => child && typeof child === "object").forEach(visit);
  };
  visit(schema);
  return made;
}

function table(name, { properties, required = [] }, resolve) {
  const rows = Object.entries(properties).map(([field, each]) =>
    el("tr", {},
      el("th", { scope: "row" }, el("code", {}, field), !required.includes(field) && el("span", { class: "optional" }, "optional")),
      el("td", {}, typeOf(each, resolve), each.default != null && [", default ", el("code", {}, JSON.stringify(each.default))],
        each.description && el("span", { class: "note" }, line(each.description)))));
  return el("table", { class: "fields" }, name && el("caption", {}, name), el("tbody", {}, rows));
}
