// Progress of the doctor's check. Any server process may answer a request; only the process that runs the check knows its progress.
import { TIMEOUT_MS } from "./actions.js";
import { showLocalTimes } from "./console.js";

const POLL_MS = 1000;
const MOST_MISSES = 60; // answers of other processes in a row, after which polling stops: the right process may have ended

async function poll(misses = 0) {
  const before = document.querySelector("#checkup[data-running]");
  if (!before) return;
  const waits = misses < MOST_MISSES;
  for (const each of before.querySelectorAll(".without-script")) each.hidden = waits;
  if (!waits) return;
  await new Promise((done) => setTimeout(done, POLL_MS));
  let isRightProcess = false;
  try {
    const answer = await fetch(location.href, { headers: { "X-Fragment": "yes" }, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.redirected) return location.reload();
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.getElementById("checkup");
    isRightProcess = now?.dataset.process === before.dataset.asked;
    if (isRightProcess) {
      before.replaceWith(now);
      showLocalTimes(now);
    }
    document.getElementById("lost").hidden = true;
  } catch {
    document.getElementById("lost").hidden = false;
    return poll(misses); // no answer is not an answer of another process
  }
  poll(isRightProcess ? 0 : misses + 1);
}

poll();
