// Logging in, and calling an operation with what stands in its form.

import { sha256 } from "./sha256.js";

const KEPT = "gamekeeper-token";
const listeners = [];
export const base = new URL("../..", import.meta.url).href.replace(/\/$/, "");

export function token() {
  return sessionStorage.getItem(KEPT) ?? "";
}

export function use(given) {
  if (given) sessionStorage.setItem(KEPT, given);
  else sessionStorage.removeItem(KEPT);
  listeners.forEach((each) => each());
}

export function onToken(listener) {
  listeners.push(listener);
  listener();
}

export async function logIn(username, password, readOnly) {
  const body = { grant_type: "password", username, password: await sha256(password) };
  if (readOnly) body.scope = "read";
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${base}/api/oauth/token`, { method: "POST", headers, body: JSON.stringify(body) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.Message);
  use(told.access_token);
}

// What the form says, as a request: { method, url, headers, body }
export function request(operation, form) {
  const given = [...form.querySelectorAll("[data-in]")].map((each) => ({
    place: each.dataset.in,
    name: each.name,
    value: each.type === "checkbox" ? (each.checked ? "true" : "") : each.value,
  }));
  const of = (place) => given.filter((each) => each.place === place && each.value !== "");
  const path = of("path").reduce((at, { name, value }) => at.replace(`{${name}}`, encodeURIComponent(value)), operation.path);
  const query = new URLSearchParams(of("query").map(({ name, value }) => [name, value])).toString();
  const headers = Object.fromEntries(of("header").map(({ name, value }) => [name, value]));
  if (operation.security.length && token()) headers.Authorization = `Bearer ${token()}`;
  const [body] = of("body").map(({ value }) => value);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return { method: operation.method, url: `${base}${path}${query && `?${query}`}`, headers, body };
}

export async function send({ method, url, headers, body }) {
  const started = performance.now();
  const answer = await fetch(url, { method, headers, body });
  const text = await answer.text();
  const time = Math.round(performance.now() - started);
  return { status: answer.status, word: answer.statusText, headers: [...answer.headers], text, time };
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curl({ method, url, headers, body }) {
  const parts = [`curl -s ${method === "GET" || (method === "POST" && body !== undefined) ? "" : `-X ${method} `}${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== undefined) parts.push(`-d ${quoted(compact(body))}`);
  return parts.join(" \\\n  ");
}

function compact(body) {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return body;
  }
}

// Two spaces deep, but a list of numbers on one line.
export function written(value) {
  const short = (list) => `[${list.trim().split(/,\s+/).join(", ")}]`;
  return JSON.stringify(value, null, 2).replace(/\[([\s\d,.-]+)\]/g, (_, list) => short(list));
}

export function pretty(text) {
  try {
    return written(JSON.parse(text));
  } catch {
    return text;
  }
}
