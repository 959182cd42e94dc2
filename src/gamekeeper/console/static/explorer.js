// The API explorer in the console: requests go through the console's own form route, as whoever is signed in.
import { explore, rightsOf } from "/api/docs/explorer.js";

const PATIENCE_MS = 90_000; // longer than the change feed waits
const place = document.getElementById("explorer");
const rights = new Set(place.dataset.rights.split(" "));
const SIGN_IN = ["Sign in again", "/console/sign-in?next=/console/explorer"]; // the session has ended
const csrf = document.querySelector("meta[name=csrf]").content;

async function send({ method, path, query, body = "" }, { dryRun, key, reason = "", seen = "", typed = "" }) {
  const confirmation = key ? { confirmed: "yes", key, seen, reason, typed } : {};
  const answer = await fetch("/console/explorer/run", {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams({ csrf, method, path, query, body, ...confirmation }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (!answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error("not an answer of ours");
  if (!answer.ok) return { status: answer.status, text: await answer.text(), links: answer.status === 401 ? [SIGN_IN] : [] };
  const { request, ...outcome } = await answer.json();
  return { ...outcome, links: linksTo(request, outcome, dryRun) };
}

function linksTo(request, { replayed, recorded }, dryRun) {
  if (replayed) return [["My changes", `/console/changes?actor=${place.dataset.account}`]];
  return recorded && !dryRun ? [["Changes made", `/console/done/${request}`]] : [];
}

function problemWith(operation, isPreviewed) {
  if (operation["x-writes"] && !isPreviewed) return "You are signed in already: this is how programs log in.";
  const missing = rightsOf(operation).filter((each) => !rights.has(each));
  return missing.length ? `You do not have permission: this needs ${missing.join(" and ")}.` : "";
}

// Passwords are checked and hashed by the console.
explore(place, { send, secretOf: (_, text) => text, problemWith, needsReason: true, isIntroduced: false });
