/** Follow the change feed, for game servers and bots. */

import { makeCall, type Parts } from "./call.js";
import * as codecs from "./codecs.js";
import type { Connection } from "./connection.js";
import type { ListChangesQuery } from "./operations.js";
import type { Changes, Change } from "./shapes.js";

const MAX_WAIT_SECONDS = 60; // longest time that the server waits for a change

/** What to follow. Default: all changes from the oldest on, without the reports of your own account. */
export interface FollowOptions extends ListChangesQuery {
  /** Ends the iteration when it is aborted, also while it waits for a change. */
  readonly signal?: AbortSignal | undefined;
}

/** List changes once. The server may wait before it answers, so the call has a longer timeout. */
export function listChanges(
  connection: Connection,
  query: ListChangesQuery,
  more: Pick<Parts, "isEndless" | "signal"> = {},
): Promise<Changes> {
  const waitSeconds = Math.min(Math.max(query.wait ?? 0, 0), MAX_WAIT_SECONDS);
  const parts = { query, waitSeconds, ...more };
  return connection.send(makeCall<Changes>("GET", "/api/link/v1/changes", codecs.changes, parts));
}

/** Iterate over all changes, then over each new one as it comes, until the signal is aborted. */
export async function* followChanges(
  connection: Connection,
  { signal, ...given }: FollowOptions,
): AsyncGenerator<Change, void, undefined> {
  const query = { ...given, wait: given.wait ?? 20, limit: given.limit ?? 1000 };
  for (;;) {
    let found: Changes;
    try {
      found = await listChanges(connection, query, { isEndless: true, signal });
    } catch (problem) {
      if (signal?.aborted) {
        return;
      }
      throw problem;
    }
    for (const change of found.changes) {
      if (signal?.aborted) {
        return;
      }
      yield change;
    }
    query.after = found.next;
    query.epoch = found.epoch;
  }
}
