/** Follow the change feed, for game servers and bots. */

import { makeCall } from "./call.js";
import * as codecs from "./codecs.js";
import type { Connection } from "./connection.js";
import type { ListChangesQuery } from "./operations.js";
import type { Changes, Change } from "./shapes.js";

const MAX_WAIT_SECONDS = 60; // longest time that the server waits for a change

/** What to follow. Default: all changes from the oldest on, without the reports of your own account. */
export type FollowOptions = ListChangesQuery;

/** List changes once. The server may wait before it answers, so the call has a longer timeout. */
export function listChanges(connection: Connection, query: ListChangesQuery, isEndless = false): Promise<Changes> {
  const waitSeconds = Math.min(Math.max(query.wait ?? 0, 0), MAX_WAIT_SECONDS);
  const parts = { query, waitSeconds, isEndless };
  return connection.send(makeCall<Changes>("GET", "/api/link/v1/changes", codecs.changes, parts));
}

/** Iterate over all changes, then over each new one as it comes, without end. */
export async function* followChanges(
  connection: Connection,
  options: FollowOptions,
): AsyncGenerator<Change, never, undefined> {
  const query = { ...options, wait: options.wait ?? 20, limit: options.limit ?? 1000 };
  for (;;) {
    const found = await listChanges(connection, query, true);
    yield* found.changes;
    query.after = found.next;
    query.epoch = found.epoch;
  }
}
