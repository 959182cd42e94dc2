// While the doctor looks, how far it is.
import { localTimes } from "./console.js";

const LOOK_MS = 1000;

async function look() {
  const before = document.querySelector("#checkup[data-running]");
  if (!before) return;
  for (const each of before.querySelectorAll(".without-script")) each.hidden = true;
  await new Promise((done) => setTimeout(done, LOOK_MS));
  try {
    const answer = await fetch(location.href, { headers: { "X-Fragment": "yes" } });
    if (answer.redirected) return location.reload();
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.getElementById("checkup");
    if (now?.dataset.process === before.dataset.process) { // another process knows nothing of this one's doctor
      before.replaceWith(now);
      localTimes(now);
    }
    document.getElementById("lost").hidden = true;
  } catch {
    document.getElementById("lost").hidden = false;
  }
  look();
}

look();
