// The page at /api/docs: the explorer, whose requests carry the token that was typed or logged in with here.
import { explore } from "./explorer.js";
import { addressOf } from "./request.js";
import { sha256 } from "./sha256.js";

const KEPT = "gamekeeper-token";
const PATIENCE_MS = 90_000; // longer than the change feed waits
const $ = (id) => document.getElementById(id);

const token = () => sessionStorage.getItem(KEPT) ?? "";

function use(given) {
  if (given) sessionStorage.setItem(KEPT, given);
  else sessionStorage.removeItem(KEPT);
  showToken();
}

function showToken() {
  $("who").textContent = token() ? "Token in use" : "Log in";
  $("who").classList.toggle("main", !token());
  $("log-out").hidden = !token();
}

async function logIn(username, password, readOnly) {
  const body = { grant_type: "password", username, password: await sha256(password), ...(readOnly && { scope: "read" }) };
  const answer = await fetch("/api/oauth/token", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.Message);
  use(told.access_token);
}

async function send(request, { dryRun, key, reason }) {
  const headers = {
    ...(request.authorized && token() && { Authorization: `Bearer ${token()}` }),
    ...(key && { "Idempotency-Key": key }),
    ...(reason && { "X-Reason": String.fromCharCode(...new TextEncoder().encode(reason)) }), // as UTF-8: fetch takes bytes only
    ...(request.body !== undefined && { "Content-Type": "application/json" }),
  };
  const answer = await fetch(addressOf(request, dryRun), { method: request.method, headers, body: request.body, signal: AbortSignal.timeout(PATIENCE_MS) });
  return { status: answer.status, text: await answer.text(), headers: [...answer.headers], replayed: answer.headers.has("Idempotent-Replay") };
}

const secretOf = (field, text) => (field.isHashed ? sha256(text) : text);

function dialog() {
  const shown = $("log-in");
  $("who").addEventListener("click", () => { $("log-in-problem").textContent = ""; shown.showModal(); });
  $("close").addEventListener("click", () => shown.close());
  $("log-out").addEventListener("click", () => { use(""); shown.close(); });
  $("by-token").addEventListener("submit", () => { use($("token").value.trim()); $("token").value = ""; });
  $("by-password").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await logIn($("name").value, $("password").value, $("read-only").checked);
      $("password").value = "";
      shown.close();
    } catch (problem) {
      $("log-in-problem").textContent = problem.message;
    }
  });
}

dialog();
showToken();
explore($("explorer"), { send, secretOf, problemWith: () => "", needsReason: false, isIntroduced: true });
