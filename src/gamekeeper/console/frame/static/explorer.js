// The API explorer in the console. The console runs its requests, with the permissions of the account that is signed in.
import { explore, rightsOf } from "/api/docs/explorer.js";
import { gettext } from "./texts.js";

const TIMEOUT_MS = 90_000; // longer than a request to the change feed waits for new changes
const place = document.getElementById("explorer");
const permissions = new Set(place.dataset.rights.split(" "));
const SIGN_IN = [gettext("Sign in again"), "/console/sign-in?next=/console/explorer"]; // link for a session that has ended
const allOf = new Intl.ListFormat(document.documentElement.lang, { type: "conjunction" });
const csrf = document.querySelector("meta[name=csrf]").content;

async function send({ method, path, query, body = "" }, { dryRun, key, reason = "", seen = "", typed = "" }) {
  const confirmation = key ? { confirmed: "yes", key, seen, reason, typed } : {};
  const answer = await fetch("/console/explorer/run", {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams({ csrf, method, path, query, body, ...confirmation }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error("unexpected content type: a proxy answered");
  if (!answer.ok) return { status: answer.status, text: await answer.text(), links: answer.status === 401 ? [SIGN_IN] : [] };
  const { request, ...outcome } = await answer.json();
  return { ...outcome, links: makeLinks(request, outcome, dryRun) };
}

function makeLinks(request, { replayed, recorded }, dryRun) {
  if (replayed) return [[gettext("My changes"), `/console/changes?actor=${place.dataset.account}`]];
  return recorded && !dryRun ? [[gettext("Changes made"), `/console/done/${request}`]] : [];
}

// Return why the operation cannot be run here; empty if it can.
function describeProblem(operation, isPreviewed) {
  if (operation["x-writes"] && !isPreviewed) return gettext("You cannot run this operation here: it logs programs in, and you are signed in already.");
  const missing = rightsOf(operation).filter((each) => !permissions.has(each));
  return missing.length ? gettext("You do not have permission: this needs %(permissions)s.", { permissions: allOf.format(missing) }) : "";
}

// Passwords are sent as typed: the console checks and hashes them.
explore(place, { send, secretOf: (_, text) => text, problemWith: describeProblem, needsReason: true, isIntroduced: false });
