// The page at /api/docs: the API explorer with a log-in dialog. Requests are sent with the token of that dialog.
import { explore } from "./explorer.js";
import { addressOf } from "./request.js";
import { sha256 } from "./sha256.js";

const TOKEN_KEY = "gamekeeper-token"; // in sessionStorage
const TIMEOUT_MS = 90_000; // longer than the longest wait of the change feed (60 s)
const $ = (id) => document.getElementById(id);

const token = () => sessionStorage.getItem(TOKEN_KEY) ?? "";

function saveToken(given) {
  if (given) sessionStorage.setItem(TOKEN_KEY, given);
  else sessionStorage.removeItem(TOKEN_KEY);
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
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.Message);
  saveToken(content.access_token);
}

async function send(request, { dryRun, key, reason }) {
  const headers = {
    ...(request.authorized && token() && { Authorization: `Bearer ${token()}` }),
    ...(key && { "Idempotency-Key": key }),
    ...(reason && { "X-Reason": String.fromCharCode(...new TextEncoder().encode(reason)) }), // UTF-8 bytes: fetch allows only Latin-1 characters in headers
    ...(request.body !== undefined && { "Content-Type": "application/json" }),
  };
  const answer = await fetch(addressOf(request, dryRun), { method: request.method, headers, body: request.body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  return { status: answer.status, text: await answer.text(), headers: [...answer.headers], replayed: answer.headers.has("Idempotent-Replay") };
}

const secretOf = (field, text) => (field.isHashed ? sha256(text) : text);

function setUpDialog() {
  const shown = $("log-in");
  $("who").addEventListener("click", () => { $("log-in-problem").textContent = ""; shown.showModal(); });
  $("close").addEventListener("click", () => shown.close());
  $("log-out").addEventListener("click", () => { saveToken(""); shown.close(); });
  $("by-token").addEventListener("submit", () => { saveToken($("token").value.trim()); $("token").value = ""; });
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

setUpDialog();
showToken();
explore($("explorer"), { send, secretOf, problemWith: () => "", needsReason: false, isIntroduced: true });
