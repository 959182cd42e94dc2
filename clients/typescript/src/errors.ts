/** The base classes of all errors of the client. The class of each refusal code is generated, in refusals.ts. */

import type { Json } from "./json.js";

/** Base class of all errors of the client. */
export class GamekeeperError extends Error {
  /** Key of the write that failed: repeat the call with it to get the result. Undefined for a read. */
  idempotencyKey: string | undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No response, after all retries. A write may or may not have been applied: repeat it with its key. */
export class Unreachable extends GamekeeperError {}

/** A response that this version of the client cannot read. A write may have been applied: repeat it with its key. */
export class NotUnderstood extends GamekeeperError {}

/** What a refused request was answered with. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly code: string;
  readonly requestId: string;
  readonly retryAfter: number | undefined;
  readonly fields: Readonly<Record<string, Json>>;
}

/** The server rejected the request. Each code has a subclass. */
export class Refused extends GamekeeperError {
  /** HTTP status. */
  readonly status: number;
  /** Code for programs, such as `inventory_full`; empty if the answer does not come from Gamekeeper. */
  readonly code: string;
  /** Id of the request in the server's log. */
  readonly requestId: string;
  /** Seconds that the server asks to wait before a retry. */
  readonly retryAfter: number | undefined;
  /** All fields of the answer, with the names of the API. */
  readonly fields: Readonly<Record<string, Json>>;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.status = refusal.status;
    this.code = refusal.code;
    this.requestId = refusal.requestId;
    this.retryAfter = refusal.retryAfter;
    this.fields = refusal.fields;
  }
}

/** Copy an error that several calls share, so that each call can store its own key in it. */
export function copyError(problem: unknown): unknown {
  if (problem instanceof Refused) {
    return new (problem.constructor as typeof Refused)(problem);
  }
  if (problem instanceof GamekeeperError) {
    return new (problem.constructor as typeof GamekeeperError)(problem.message, { cause: problem.cause });
  }
  return problem;
}

/** The server, its database or a proxy before it is not available now (502, 503, 504). */
export class Unavailable extends Refused {}
