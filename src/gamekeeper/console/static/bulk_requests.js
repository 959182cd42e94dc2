// A request that is sent again while the server is away or busy; what it carries makes that harmless.
import { PATIENCE_MS } from "./actions.js";

const TRIES = 5;
const FAULT = 500; // and above: the server's own, and whether anything was done is not known
const SIGNED_OUT = new Set(["sign_in_first", "forged_form"]);

export class Lost extends Error {}

// With fields it is a form, without them a question. Throws Lost when nobody answers, or only with a fault of the server's.
export async function answerOf(address, fields) {
  let problem = "";
  for (let tried = 0; tried < TRIES; tried += 1) {
    if (tried) await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tried));
    try {
      const answer = await fetch(address, { ...asked(fields), signal: AbortSignal.timeout(PATIENCE_MS) });
      const told = await answer.json();
      if (SIGNED_OUT.has(told.Code)) throw new Lost("Your session has ended. Sign in again in another tab, then reload this page: it goes on from here.");
      if (!answer.headers.has("Retry-After") && answer.status < FAULT) return { ok: answer.ok, told };
      problem = told.Message;
    } catch (failure) {
      if (failure instanceof Lost) throw failure;
      problem = "The server cannot be reached.";
    }
  }
  throw new Lost(problem);
}

function asked(fields) {
  const headers = { Accept: "application/json" };
  if (!fields) return { headers };
  headers["X-CSRF"] = document.querySelector("meta[name=csrf]").content;
  return { method: "POST", headers, body: new URLSearchParams({ method: "POST", back: "/console/bulk", ...fields }) };
}
