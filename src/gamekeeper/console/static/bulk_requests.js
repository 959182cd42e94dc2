// Requests with retries while the server is unreachable or busy. Their idempotency keys make retries safe.
import { TIMEOUT_MS } from "./actions.js";
import { gettext } from "./texts.js";

const TRIES = 5;
const SERVER_ERROR = 500; // lowest status of a server error, after which the outcome is not known
const SIGNED_OUT = new Set(["sign_in_first", "forged_form"]);

export class Lost extends Error {}

// Send a form if there are fields, else a GET request. Throws Lost when all attempts fail without a definite answer.
export async function answerOf(address, fields) {
  let problem = "";
  for (let tried = 0; tried < TRIES; tried += 1) {
    if (tried) await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tried));
    try {
      const answer = await fetch(address, { ...buildRequest(fields), signal: AbortSignal.timeout(TIMEOUT_MS) });
      const told = await answer.json();
      if (SIGNED_OUT.has(told.Code)) throw new Lost(gettext("Your session has ended. Sign in again in another tab, then reload this page to continue."));
      if (!answer.headers.has("Retry-After") && answer.status < SERVER_ERROR) return { ok: answer.ok, told };
      problem = told.Message;
    } catch (failure) {
      if (failure instanceof Lost) throw failure;
      problem = gettext("The server cannot be reached.");
    }
  }
  throw new Lost(problem);
}

function buildRequest(fields) {
  const headers = { Accept: "application/json" };
  if (!fields) return { headers };
  headers["X-CSRF"] = document.querySelector("meta[name=csrf]").content;
  return { method: "POST", headers, body: new URLSearchParams({ method: "POST", back: "/console/bulk", ...fields }) };
}
