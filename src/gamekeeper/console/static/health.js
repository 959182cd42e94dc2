// While the doctor looks, how far it is. Any process may answer; only the one that was asked knows.
import { TIMEOUT_MS } from "./actions.js";
import { localTimes } from "./console.js";

const LOOK_MS = 1000;
const MOST_MISSED = 60; // answers by others in a row: it may be gone, and then nothing more is asked

async function look(missed = 0) {
  const before = document.querySelector("#checkup[data-running]");
  if (!before) return;
  const waits = missed < MOST_MISSED;
  for (const each of before.querySelectorAll(".without-script")) each.hidden = waits;
  if (!waits) return;
  await new Promise((done) => setTimeout(done, LOOK_MS));
  let met = false;
  try {
    const answer = await fetch(location.href, { headers: { "X-Fragment": "yes" }, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.redirected) return location.reload();
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.getElementById("checkup");
    met = now?.dataset.process === before.dataset.asked;
    if (met) {
      before.replaceWith(now);
      localTimes(now);
    }
    document.getElementById("lost").hidden = true;
  } catch {
    document.getElementById("lost").hidden = false;
    return look(missed); // nobody answered: that says nothing of it
  }
  look(met ? 0 : missed + 1);
}

look();
