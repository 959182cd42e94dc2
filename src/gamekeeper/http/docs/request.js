// The form fields of an operation, the request made from them, and that request as a curl command.
import { isJson } from "./elements.js";
import { alternatives } from "./schema.js";

export const DRY_RUN = "dryRun";
const HASHED = "^[0-9A-Fa-f]{64}$"; // the pattern of a password's SHA-256
const CHECKED = "authorization"; // body field with the current password, which is checked and not set

// isSecret: never shown. isHashed: a typed password, sent as SHA-256. isNew: a password that the operation sets.
export function fieldsOf(operation, resolve) {
  const parameters = operation.parameters.map(resolve).filter((each) => each.in === "path" || (each.in === "query" && each.name !== DRY_RUN));
  return [...parameters.map(({ in: place, name, schema, description, required, example }) =>
    field(place, name, alternatives(schema, resolve), { about: description, required, example: example ?? resolve(schema).default })),
  ...bodyFields(operation, resolve)];
}

function bodyFields(operation, resolve) {
  const { schema, example } = operation.requestBody?.content["application/json"] ?? {};
  if (!schema) return [];
  const shapes = alternatives(schema, resolve).filter((each) => each.properties);
  if (!shapes.length) return [{ place: "body", name: "body", kind: "json", isWhole: true, about: "JSON", required: true, example: JSON.stringify(example) }];
  return [...new Set(shapes.flatMap((each) => Object.keys(each.properties)))].flatMap((name) => {
    const schemas = shapes.map((each) => each.properties[name]).filter((each) => each && !each.readOnly);
    if (!schemas.length) return [];
    const required = shapes.every((each) => each.required?.includes(name));
    const about = schemas.map((each) => each.description ?? resolve(each).description).find(Boolean);
    const found = field("body", name, schemas.flatMap((each) => alternatives(each, resolve)), { about, required, example: example?.[name] });
    return [{ ...found, isNew: found.isHashed && operation["x-writes"] && name !== CHECKED }];
  });
}

function field(place, name, schemas, { about = "", required = false, example }) {
  const possible = schemas.filter((each) => each.type !== "null");
  const isHashed = possible.some((each) => each.pattern === HASHED);
  const isSecret = isHashed || possible.some((each) => each.format === "password");
  const hint = isHashed ? "Type the password; only its SHA-256 is sent." : about;
  const shown = isSecret || example == null ? "" : typeof example === "string" ? example : JSON.stringify(example);
  return { place, name, ...kindOf(possible), isSecret, isHashed, about: hint, required, example: shown };
}

function kindOf(schemas) {
  const types = new Set(schemas.flatMap((each) => each.type ?? []));
  types.delete("null");
  const isTruth = types.has("boolean") && [...types].every((each) => each === "boolean" || each === "string");
  const listed = schemas.every((each) => each.enum || "const" in each) ? schemas.flatMap((each) => each.enum ?? [each.const]) : isTruth ? [true, false] : [];
  const choices = new Map(listed.filter((each) => each !== null).reverse().map((each) => [String(each), each])); // of true and "true", keep the first
  if (choices.size) return { kind: "choice", choices: new Map([...choices].reverse()) };
  if (types.has("array") || types.has("object")) return { kind: "json" };
  if (types.size === 1 && types.has("string")) return { kind: "text" };
  return { kind: types.has("boolean") ? "value" : "number" };
}

// `texts`: the typed text of each field, in order. Empty fields are not sent.
export function requestOf(operation, fields, texts) {
  const filled = fields.map((each, at) => ({ ...each, text: texts[at] })).filter((each) => each.text !== "");
  const of = (place) => filled.filter((each) => each.place === place);
  const path = of("path").reduce((at, { name, text }) => at.replace(`{${name}}`, encodeURIComponent(text)), operation.path);
  const query = new URLSearchParams(of("query").map(({ name, text }) => [name, text])).toString();
  return { method: operation.method, path, query, body: bodyOf(operation, of("body")), authorized: operation.security.length > 0 };
}

// Numbers are sent as typed: JavaScript would round 64-bit numbers.
function bodyOf(operation, filled) {
  if (!operation.requestBody) return undefined;
  if (filled[0]?.isWhole) return filled[0].text;
  return `{${filled.map((each) => `${JSON.stringify(each.name)}:${valueOf(each)}`).join(",")}}`;
}

function valueOf({ kind, choices, text }) {
  const isText = kind === "text" || typeof choices?.get(text) === "string" || !isJson(text);
  return isText ? JSON.stringify(text) : text;
}

export function addressOf({ path, query }, dryRun) {
  const whole = [query, dryRun && `${DRY_RUN}=true`].filter(Boolean).join("&");
  return whole ? `${path}?${whole}` : path;
}

export function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");
}

// Secrets become shell variables in the curl command: the request has a placeholder for each of them.
const DELIMITER = `secret${randomKey()}`;
const PLACEHOLDERS = new RegExp(`${DELIMITER}(\\w+?)${DELIMITER}`);
export const placeholderOf = (field) => placeholder(field.name.toUpperCase() + (field.isHashed ? "_SHA256" : ""));
const placeholder = (variable) => DELIMITER + variable + DELIMITER;

const inQuotes = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const quote = (text) => text.split(PLACEHOLDERS).map((part, at) => (at % 2 ? `"$${part}"` : part && inQuotes(part))).join("");

export function commandOf(origin, request, { dryRun, key, reason }) {
  const headers = [
    request.authorized && `Authorization: Bearer ${placeholder("TOKEN")}`,
    key && `Idempotency-Key: ${key}`,
    reason && `X-Reason: ${reason}`,
    request.body !== undefined && "Content-Type: application/json",
  ].filter(Boolean);
  const parts = [`curl ${request.method === "GET" ? "" : `-X ${request.method} `}${quote(origin + addressOf(request, dryRun))}`];
  parts.push(...headers.map((each) => `-H ${quote(each)}`));
  if (request.body !== undefined) parts.push(`-d ${quote(request.body)}`);
  return parts.join(" \\\n  ");
}
