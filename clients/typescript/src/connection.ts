/** Send calls: log in, renew tokens, retry. */

import { hashPassword, makeCall, type Call } from "./call.js";
import * as codecs from "./codecs.js";
import { copyError, GamekeeperError, NotUnderstood, Refused, Unavailable, Unreachable } from "./errors.js";
import { parseJson, type Json } from "./json.js";
import * as refusals from "./refusals.js";
import type { Token } from "./shapes.js";

const TOKEN_PATH = "/api/oauth/token";
const RENEW_EARLY_SHARE = 0.1; // renew a token when this share of its lifetime is left
const RENEW_EARLY_MAX_SECONDS = 60; // renew a token at most this long before it expires
const MAX_TIMEOUT_SECONDS = 2_000_000; // timers of Node and browsers count to 2^31 milliseconds
const ACCEPTED = 202; // the change waits for approval: nothing was changed
const ADDRESS_ADVICE = "The address of the server must be like http://127.0.0.1:5400.";
const VISIBLE_ASCII = /^[\x21-\x7e]+$/; // a token that a header can carry

/** Retry limits. The pause between attempts doubles from the first to the longest, with jitter. */
export interface Patience {
  /** Default 6. */
  readonly retries?: number;
  /** Default 0.1. */
  readonly firstSeconds?: number;
  /** Default 5. */
  readonly longestSeconds?: number;
  /** A longer Retry-After of the server throws the error, except in `followChanges`. Default 30. */
  readonly longestRetryAfterSeconds?: number;
}

/** Either a token, such as an API key, or a user name with a password. */
export type Credentials =
  | { readonly token: string; readonly username?: undefined; readonly password?: undefined }
  | { readonly token?: undefined; readonly username: string; readonly password: string };

export interface ConnectionOptions {
  /** Request a token that can only read. */
  readonly readOnly?: boolean;
  /** Time to wait for a response: more than 0, at most 2,000,000. Default 10. */
  readonly timeoutSeconds?: number;
  /** How often and how long to retry. */
  readonly patience?: Patience;
  /** Your own function instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export type Options = Credentials & ConnectionOptions;

/** Sends calls to one server with the token of one account or API key. */
export class Connection {
  readonly #url: string;
  readonly #session: Session;
  readonly #timeoutSeconds: number;
  readonly #patience: Required<Patience>;
  readonly #fetch: typeof fetch;

  constructor(url: string, options: Options) {
    this.#url = normalizeUrl(url);
    this.#session = new Session(options);
    this.#timeoutSeconds = options.timeoutSeconds ?? 10;
    if (!(this.#timeoutSeconds > 0 && this.#timeoutSeconds <= MAX_TIMEOUT_SECONDS)) {
      throw new RangeError(`timeoutSeconds must be more than 0 and at most ${MAX_TIMEOUT_SECONDS}.`);
    }
    const { retries = 6, firstSeconds = 0.1, longestSeconds = 5 } = options.patience ?? {};
    const { longestRetryAfterSeconds = 30 } = options.patience ?? {};
    this.#patience = { retries, firstSeconds, longestSeconds, longestRetryAfterSeconds };
    this.#fetch = options.fetch ?? ((...given) => fetch(...given));
  }

  /** Send a call and retry it within the limits; return its decoded response. */
  async send<T>(call: Call<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      call.signal?.throwIfAborted();
      try {
        return await this.#attempt(call);
      } catch (problem) {
        if (!(problem instanceof GamekeeperError)) {
          throw problem;
        }
        problem.idempotencyKey = call.key;
        const pause = this.#computePause(problem, attempt, call.isEndless);
        if (pause === undefined) {
          throw problem;
        }
        await sleep(pause, call.signal);
      }
    }
  }

  /** Compute the seconds until the next attempt; undefined means do not retry. */
  #computePause(problem: GamekeeperError, attempt: number, isEndless: boolean): number | undefined {
    const { retries, firstSeconds, longestSeconds, longestRetryAfterSeconds } = this.#patience;
    if (!isRetriable(problem) || (attempt >= retries && !isEndless)) {
      return undefined;
    }
    const asked = (problem instanceof Refused ? problem.retryAfter : undefined) ?? 0;
    if (asked > longestRetryAfterSeconds && !isEndless) {
      return undefined;
    }
    const own = Math.min(longestSeconds, firstSeconds * 2 ** Math.min(attempt, 16)) * (0.5 + Math.random() / 2);
    return Math.max(own, Math.min(asked, longestRetryAfterSeconds));
  }

  /** Send a call once, with a valid token: a failed log-in is a failed attempt of the call. */
  async #attempt<T>(call: Call<T>): Promise<T> {
    if (!call.needsToken) {
      return this.#exchange(call, undefined);
    }
    const logIn = (one: Call<Token>): Promise<Token> => this.#exchange(one, undefined);
    if (this.#session.isStale) {
      await this.#session.renew(this.#session.access, logIn);
    }
    const token = this.#session.access;
    try {
      return await this.#exchange(call, token);
    } catch (problem) {
      if (!(problem instanceof refusals.Denied && this.#session.isRenewable)) {
        throw problem;
      }
    }
    await this.#session.renew(token, logIn);
    return this.#exchange(call, this.#session.access);
  }

  async #exchange<T>(call: Call<T>, token: string | undefined): Promise<T> {
    const { status, content, retryAfter } = await this.#fetchOnce(call, token);
    if (status < 200 || status > 299 || status === ACCEPTED) {
      throw makeRefusal(status, content, retryAfter);
    }
    try {
      return call.answer.read(decode(content)) as T;
    } catch (cause) {
      throw new NotUnderstood(
        `The response to ${describe(call)} cannot be read by this client: ${describeError(cause)}. ` +
          "Check the address, and that client and server have the same version.",
        { cause },
      );
    }
  }

  async #fetchOnce<T>(call: Call<T>, token: string | undefined): Promise<RawResponse> {
    const headers: Record<string, string> = { Accept: "application/json", ...call.headers };
    if (call.body !== undefined) {
      headers["Content-Type"] = "application/json";
    }
    if (token !== undefined) {
      headers["Authorization"] = `Bearer ${token}`;
    }
    const url = `${this.#url}${call.path}${call.query && `?${call.query}`}`;
    const init: RequestInit = {
      method: call.method,
      headers,
      body: call.body ?? null,
      redirect: "manual", // following one would send the token elsewhere, and turn a POST into a GET
      credentials: "omit",
    };
    new Request(url, init); // throws the error of a request that can never be sent: it must not be retried
    const deadline = AbortSignal.timeout(Math.ceil((this.#timeoutSeconds + call.waitSeconds) * 1000));
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline;
    try {
      const response = await this.#fetch(url, { ...init, signal });
      const content = new Uint8Array(await response.arrayBuffer());
      return { status: response.status, content, retryAfter: response.headers.get("Retry-After") };
    } catch (cause) {
      throw new Unreachable(`No response to ${describe(call)}: ${describeError(cause)}`, { cause });
    }
  }
}

/** Wait, at most until the signal is aborted. */
function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal?.addEventListener("abort", end);
  });
}

interface RawResponse {
  readonly status: number;
  readonly content: Uint8Array;
  readonly retryAfter: string | null;
}

/** A renewal in progress, and the token that it replaces. */
interface Renewal {
  readonly stale: string | undefined;
  readonly done: Promise<void>;
}

/** The token of a connection, and what renews it. */
class Session {
  access: string | undefined;
  #refresh: string | null = null;
  #renewAt: number; // milliseconds, by the clock of `performance`
  #renewal: Renewal | undefined; // the one that is in progress
  readonly #credentials: Credentials;
  readonly #readOnly: boolean;

  constructor(options: Options) {
    const { token, username, password } = options;
    if ((token === undefined) === (username === undefined) || (username === undefined) !== (password === undefined)) {
      throw new TypeError("A client needs either a token, or username and password.");
    }
    if (token !== undefined && !VISIBLE_ASCII.test(token)) {
      throw new TypeError("A token has visible ASCII characters only, without spaces and line ends.");
    }
    this.access = token;
    this.#renewAt = token === undefined ? 0 : Infinity;
    this.#credentials = options;
    this.#readOnly = options.readOnly ?? false;
  }

  get isRenewable(): boolean {
    return this.#credentials.username !== undefined;
  }

  get isStale(): boolean {
    return performance.now() >= this.#renewAt;
  }

  /**
   * Replace the token `stale` by a new one, unless another call has already done it. Calls that do so at the same time
   * share one renewal, and its failure.
   */
  async renew(stale: string | undefined, send: (call: Call<Token>) => Promise<Token>): Promise<void> {
    if (this.access !== stale) {
      return;
    }
    const running = this.#renewal;
    if (running && running.stale === stale) {
      return running.done.catch((problem: unknown) => {
        throw copyError(problem);
      });
    }
    const renewal = { stale, done: this.#logIn(send) };
    this.#renewal = renewal;
    try {
      await renewal.done;
    } finally {
      if (this.#renewal === renewal) {
        this.#renewal = undefined;
      }
    }
  }

  async #logIn(send: (call: Call<Token>) => Promise<Token>): Promise<void> {
    if (this.#refresh !== null) {
      try {
        this.#adopt(await send(makeRefreshCall(this.#refresh)));
        return;
      } catch (problem) {
        if (!(problem instanceof refusals.InvalidGrant)) {
          throw problem;
        }
        this.#refresh = null; // the refresh token is expired or revoked: use the password instead
      }
    }
    const { username = "", password = "" } = this.#credentials;
    this.#adopt(await send(await makeLogInCall(username, password, { readOnly: this.#readOnly })));
  }

  #adopt(pair: Token): void {
    this.access = pair.accessToken;
    this.#refresh = pair.refreshToken;
    const early = Math.min(pair.expiresIn * RENEW_EARLY_SHARE, RENEW_EARLY_MAX_SECONDS);
    this.#renewAt = performance.now() + (pair.expiresIn - early) * 1000;
  }
}

export interface LogInOptions {
  /** Request a token that can only read. */
  readonly readOnly?: boolean;
  /** Code of the account's second factor, or a recovery code. */
  readonly otp?: string;
}

export async function makeLogInCall(username: string, password: string, options: LogInOptions): Promise<Call<Token>> {
  const body = {
    grant_type: "password",
    username,
    password: await hashPassword(password),
    scope: options.readOnly ? "read" : undefined,
    otp: options.otp,
  };
  return makeCall("POST", TOKEN_PATH, codecs.token, { body, needsToken: false });
}

export function makeRefreshCall(refreshToken: string): Call<Token> {
  const body = { grant_type: "refresh_token", refresh_token: refreshToken };
  return makeCall("POST", TOKEN_PATH, codecs.token, { body, needsToken: false });
}

/** Check the address of the server, and remove slashes from its end. */
function normalizeUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new TypeError(ADDRESS_ADVICE);
  }
  if (parsed.username || parsed.password) {
    throw new TypeError("The address of the server must not have a user name or password: pass them as options.");
  }
  if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(url)) {
    throw new TypeError(ADDRESS_ADVICE);
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, "");
}

function isRetriable(problem: GamekeeperError): boolean {
  return (
    problem instanceof Unreachable ||
    problem instanceof Unavailable ||
    problem instanceof refusals.TooManyRequests ||
    problem instanceof refusals.IdempotencyInProgress
  );
}

/** Make the error for a response without success, which may come from a proxy and have another body. */
function makeRefusal(status: number, content: Uint8Array, retryAfter: string | null): Refused {
  const fields = readFields(content);
  const readText = (name: string): string => (typeof fields[name] === "string" ? fields[name] : "");
  const code = readText("Code");
  const Kind = refusals.findClass(status, code);
  return new Kind({
    status,
    code,
    message: readText("Message") || `The server answered with status ${status}.`,
    requestId: readText("RequestId"),
    retryAfter: retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined,
    fields,
  });
}

function readFields(content: Uint8Array): Record<string, Json> {
  try {
    const found = decode(content);
    return typeof found === "object" && found !== null && !Array.isArray(found) ? found : {};
  } catch {
    return {}; // the body is no JSON, or is no valid UTF-8
  }
}

function decode(content: Uint8Array): Json {
  return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(content));
}

/** Describe a call for error messages, which may be logged: omit the token in the path of a revocation. */
function describe(call: Call<unknown>): string {
  return `${call.method} ${call.path.startsWith(`${TOKEN_PATH}/`) ? `${TOKEN_PATH}/…` : call.path}`;
}

/** Describe an error of fetch, whose cause says what happened. */
function describeError(problem: unknown): string {
  if (!(problem instanceof Error)) {
    return String(problem);
  }
  return problem.cause instanceof Error && problem.cause.message ? problem.cause.message : problem.message;
}
