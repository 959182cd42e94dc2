// A run that has been, out of the ledger: whoever may can take it back, wherever it was run.
import { answerOf, Lost } from "./bulk_requests.js";

// Piece by piece, for as long as they bring something, and no more rows than a run has. Says from where one can go on.
export async function lookBack(run, most) {
  let told;
  do {
    const place = { run: run.id, by: run.by, ...(run.next && { before: run.next }) };
    const answer = await answerOf(`/console/bulk/done?${new URLSearchParams(place)}`);
    told = answer.told;
    if (!answer.ok) throw new Lost(told.Message);
    run.rows.push(...told.rows.map(rowOf));
    Object.assign(run, { why: run.why || told.rows[0]?.reason, next: told.next, reached: told.reached });
  } while (run.next && told.rows.length && run.rows.length < most);
}

function rowOf({ id, name, number, lines, undone }) {
  const [state, said] = undone ? ["out", `Taken back by change ${undone}`] : ["done", ""];
  return { id, name, number, lines, state, said, seen: "" };
}

// What is said of it: how many, and how far back the ledger was looked through.
export function told(run, many) {
  const back = run.rows.filter((row) => row.state === "out").length;
  return [
    run.rows.length ? `Given to ${many(run.rows.length)}: ${run.why}.` : "The ledger has nothing that this run gave.",
    back ? `Taken back from ${back} already.` : "",
    run.next ? `Looked back to ${run.reached}; there may be more.` : "",
  ].join(" ").trim();
}
