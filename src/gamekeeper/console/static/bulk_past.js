// A past run, loaded from the audit log: every account with the permission can undo it, in any browser.
import { answerOf, Lost } from "./bulk_requests.js";
import { gettext, ngettext } from "./texts.js";

// Load page after page until one is empty or `most` rows are loaded. `run.next` is the cursor of the next page.
export async function loadPastRun(run, most) {
  let told;
  do {
    const query = { run: run.id, by: run.by, ...(run.next && { before: run.next }) };
    const answer = await answerOf(`/console/bulk/done?${new URLSearchParams(query)}`);
    told = answer.told;
    if (!answer.ok) throw new Lost(told.Message);
    run.rows.push(...told.rows.map(makeRow));
    Object.assign(run, { why: run.why || told.rows[0]?.reason, next: told.next, reached: told.reached });
  } while (run.next && told.rows.length && run.rows.length < most);
}

function makeRow({ id, name, number, lines, undone }) {
  const [state, said] = undone ? ["out", gettext("Taken back by change %(seq)s", { seq: undone })] : ["done", ""];
  return { id, name, number, lines, state, said, seen: "" };
}

export function describePastRun(run) {
  const undone = run.rows.filter((row) => row.state === "out").length;
  const count = run.rows.length;
  return [
    count ? ngettext("Given to %(num)s player: %(reason)s.", "Given to %(num)s players: %(reason)s.", count, { reason: run.why }) : gettext("The audit log has no changes of this run."),
    undone ? ngettext("Taken back from %(num)s player.", "Taken back from %(num)s players.", undone) : "",
    run.next ? gettext("Searched back to %(time)s. There may be more.", { time: run.reached }) : "",
  ].join(" ").trim();
}
