/** A call describes one request and how its response is read. */

import { requireExact, type Codec } from "./codec.js";
import { stringifyJson } from "./json.js";

const KEY = /^[\x21-\x7e]{1,255}$/;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;
const MAX_REASON_CHARACTERS = 500; // longest X-Reason that the server accepts

/** Options of every write. */
export interface WriteOptions {
  /** Return the result that the write would have, and change nothing. */
  dryRun?: boolean | undefined;
  /** Text to store with the change in the audit log. */
  reason?: string | undefined;
  /** Your own key instead of a random one, so that another process can repeat the call. */
  idempotencyKey?: string | undefined;
}

export interface Call<T> {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string | undefined;
  readonly needsToken: boolean;
  readonly waitSeconds: number; // that the server may wait before it answers; added to the timeout
  readonly isEndless: boolean; // retry the request without a limit until the server answers
  readonly signal: AbortSignal | undefined; // ends the call, also between two attempts
  readonly answer: Codec;
  readonly result?: T; // only for the type: a call never has it
}

/** The parts of a call that an operation has; the others have defaults. */
export interface Parts {
  readonly query?: object; // texts, numbers and booleans; undefined ones are left out
  readonly body?: unknown; // JSON, with the names of the API
  readonly write?: WriteOptions;
  readonly needsToken?: boolean;
  readonly waitSeconds?: number;
  readonly isEndless?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export function makeCall<T>(method: string, path: string, answer: Codec, parts: Parts = {}): Call<T> {
  const key = parts.write && chooseKey(parts.write.idempotencyKey);
  const dryRun = parts.write?.dryRun ? { dryRun: true } : {};
  return {
    method,
    path,
    query: writeQuery({ ...parts.query, ...dryRun }),
    body: parts.body === undefined ? undefined : stringifyJson(parts.body),
    headers: key === undefined ? {} : { "Idempotency-Key": key, ...writeReason(parts.write?.reason) },
    key,
    needsToken: parts.needsToken ?? true,
    waitSeconds: parts.waitSeconds ?? 0,
    isEndless: parts.isEndless ?? false,
    signal: parts.signal,
    answer,
  };
}

/** Encode a part of a path. Reject one with which the path would match another route. */
export function segment(value: string | number | bigint): string {
  const text = String(requireExact(value));
  if (text === "" || text === "." || text === "..") {
    throw new TypeError("A name or an id must not be empty, '.' or '..'.");
  }
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw new TypeError("A name or an id has half a surrogate pair.", { cause });
  }
}

/** Hash a password with SHA-256, as the API expects it. */
export async function hashPassword(password: string): Promise<string> {
  if (!globalThis.crypto?.subtle) {
    throw new Error("Browsers hash passwords only on pages from https:// or localhost.");
  }
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(password));
  return toHex(new Uint8Array(hash));
}

function chooseKey(own: string | undefined): string {
  if (own !== undefined && !KEY.test(own)) {
    throw new TypeError("An idempotencyKey has 1 to 255 visible ASCII characters.");
  }
  return own ?? toHex(crypto.getRandomValues(new Uint8Array(16)));
}

function writeReason(reason = ""): Record<string, string> {
  const text = reason.replace(/^ +| +$/g, ""); // a header value cannot begin or end with a space
  if ([...text].length > MAX_REASON_CHARACTERS || !PRINTABLE.test(text)) {
    throw new TypeError(`A reason has at most ${MAX_REASON_CHARACTERS} printable characters, on one line.`);
  }
  // fetch sends each character of a header as one byte, and the server reads the bytes as UTF-8
  return text ? { "X-Reason": String.fromCharCode(...new TextEncoder().encode(text)) } : {};
}

function writeQuery(values: object): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(requireExact(value))])).toString();
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
