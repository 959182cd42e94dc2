/** Retries, renewals of tokens, errors and JSON, with scripted answers instead of a server. */

import assert from "node:assert/strict";
import { Client, errors, parseJson, stringifyJson, type Options } from "gamekeeper-client";

const GIVEN = { id: "i", quantity: { total: 1, bank: 0, inventory: 1 } };
const GIFT = { itemId: "i", quantity: 1 };
const QUICK = { retries: 3, firstSeconds: 0.001, longestSeconds: 0.002 };

interface Sent {
  request: string;
  headers: Headers;
  body: string;
}

/** An answer: a status with JSON or bytes and headers; undefined: no answer. */
type Answer = [number, unknown, Record<string, string>?] | undefined;

/** Make a client that gets these answers, the last one again and again; and the list of what it sends. */
function script(answers: Answer[], options: Partial<Options> = {}): [Client, Sent[]] {
  const sent: Sent[] = [];
  const fetch = async (url: unknown, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(url));
    const request = `${init?.method} ${pathname}${search}`;
    sent.push({ request, headers: new Headers(init?.headers), body: String(init?.body ?? "") });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (!answer) {
      throw new TypeError("fetch failed", { cause: new Error("connection reset") });
    }
    const [status, body, headers = {}] = answer;
    return new Response(body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body), { status, headers });
  };
  const given = { token: "gka_x", patience: QUICK, fetch, ...options } as Options;
  return [new Client("http://127.0.0.1:1/", given), sent];
}

function refuse(status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Answer {
  return [status, { Message: "No.", Code: code, RequestId: "r1", ...more }, headers];
}

function issue(access: string, expiresIn: number): Answer {
  const fields = { access_token: access, token_type: "bearer", refresh_token: "r", ".issued": "", ".expires": "" };
  return [200, { ...fields, expires_in: expiresIn }];
}

async function catchError(call: Promise<unknown>): Promise<errors.GamekeeperError> {
  const problem = await call.then(
    () => assert.fail("no error"),
    (error: unknown) => error,
  );
  assert(problem instanceof errors.GamekeeperError, String(problem));
  return problem;
}

// --- retries -------------------------------------------------------------------------------------------------------

{
  const busy = [refuse(503, "overloaded"), undefined, refuse(409, "idempotency_in_progress"), [200, GIVEN] as Answer];
  const [client, sent] = script(busy);
  await client.giveItem("Bob & Co", GIFT, { reason: " für Bob ", dryRun: true });
  assert.equal(sent.length, 4);
  assert.equal(sent[0]?.request, "POST /api/v1/players/Bob%20%26%20Co/items/give?dryRun=true");
  assert.equal(new Set(sent.map((each) => each.headers.get("Idempotency-Key"))).size, 1);
  assert.deepEqual(JSON.parse(sent[3]?.body ?? ""), { itemid: "i", quantity: 1 });
  const reason = Uint8Array.from(sent[0]?.headers.get("X-Reason") ?? "", (char) => char.charCodeAt(0));
  assert.equal(new TextDecoder().decode(reason), "für Bob");
}
{
  const [client, sent] = script([undefined]);
  const problem = await catchError(client.giveItem("Bob", GIFT, { idempotencyKey: "mine" }));
  assert(problem instanceof errors.Unreachable && problem.idempotencyKey === "mine");
  assert.equal(problem.message, "No response to POST /api/v1/players/Bob/items/give: connection reset");
  assert.equal(sent.length, 1 + QUICK.retries);
  assert.equal((await catchError(client.getInfo())).idempotencyKey, undefined);
}
for (const [status, code] of [[500, "internal_error"], [409, "inventory_full"], [301, ""]] as const) {
  const [client, sent] = script([refuse(status, code)]);
  assert(await catchError(client.getInfo()) instanceof errors.Refused);
  assert.equal(sent.length, 1);
}
{
  const started = performance.now();
  const [client] = script([refuse(429, "too_many_mails", {}, { "Retry-After": "1" }), [200, { name: "x", port: 1 }]]);
  await client.getInfo();
  assert(performance.now() - started >= 990);
  const [hasty, sent] = script([refuse(503, "", {}, { "Retry-After": "31" })]);
  const problem = await catchError(hasty.getInfo());
  assert(problem instanceof errors.Unavailable && problem.retryAfter === 31);
  assert.equal(sent.length, 1);
}

for (const timeoutSeconds of [1.0009999, 2_000_000]) {
  const [client, sent] = script([[200, { name: "x", port: 1 }]], { timeoutSeconds });
  await client.getInfo();
  assert.equal(sent.length, 1);
}
for (const timeoutSeconds of [0, -1, NaN, Infinity, 2_000_001]) {
  assert.throws(() => new Client("http://127.0.0.1", { token: "x", timeoutSeconds }), RangeError);
}
const NAMED_ADDRESSES = ["http://Ann:secret@127.0.0.1", "http://Ann@127.0.0.1"];
for (const url of [...NAMED_ADDRESSES, "http://a b", "ftp://a", "http:///a", "http://a?b"]) {
  assert.throws(() => new Client(url, { token: "x" }), TypeError);
}
for (const name of ["\ud800", "", ".."]) {
  const [client, sent] = script([[200, GIVEN]]);
  await assert.rejects(client.giveItem(name, GIFT), TypeError);
  assert.equal(sent.length, 0);
}

// --- tokens --------------------------------------------------------------------------------------------------------

const LOG_IN = { token: undefined, username: "Root", password: "secret" } as unknown as Partial<Options>;
const INFO: Answer = [200, { name: "x", port: 1 }];

/** List the grants and the tokens of what was sent. */
function listTokens(sent: Sent[]): string[] {
  const findGrant = (body: string): string | undefined => /"(password|refresh_token)"/.exec(body)?.[1];
  return sent.map((each) => findGrant(each.body) ?? each.headers.get("Authorization") ?? "");
}

{
  const [client, sent] = script([issue("a", 3600), INFO], LOG_IN);
  await Promise.all([client.getInfo(), client.getInfo(), client.getInfo()]);
  assert.deepEqual(listTokens(sent), ["password", "Bearer a", "Bearer a", "Bearer a"]);
}
{
  const answers = [issue("a", 0), INFO, issue("b", 0), INFO, refuse(400, "invalid_grant"), issue("c", 60), INFO];
  const [client, sent] = script(answers, { ...LOG_IN, readOnly: true });
  for (let count = 0; count < 4; count++) {
    await client.getInfo();
  }
  const first = ["password", "Bearer a", "refresh_token", "Bearer b"];
  assert.deepEqual(listTokens(sent), [...first, "refresh_token", "password", "Bearer c", "Bearer c"]);
  const { password, scope } = JSON.parse(sent[0]?.body ?? "") as Record<string, string>;
  assert.deepEqual([password?.length, scope], [64, "read"]);
}
{
  const [client, sent] = script([issue("a", 3600), refuse(401, "denied"), issue("b", 3600), INFO], LOG_IN);
  await client.getInfo();
  assert.deepEqual(listTokens(sent), ["password", "Bearer a", "refresh_token", "Bearer b"]);
  const [denied, once] = script([refuse(401, "denied")]);
  assert(await catchError(denied.getInfo()) instanceof errors.Denied);
  assert.equal(once.length, 1);
}
{
  const [client, sent] = script([issue("a", 0), [200, GIVEN], undefined], LOG_IN);
  await client.giveItem("Bob", GIFT);
  const problem = await catchError(client.giveItem("Bob", GIFT, { idempotencyKey: "mine" }));
  assert(problem instanceof errors.Unreachable && problem.idempotencyKey === "mine");
  assert.equal(sent.length, 2 + 1 + QUICK.retries);
}

{
  const [client, sent] = script([refuse(400, "invalid_grant"), refuse(400, "invalid_grant")], LOG_IN);
  const calls = ["one", "two", "three"].map((each) => client.giveItem("Bob", GIFT, { idempotencyKey: each }));
  const problems = await Promise.all(calls.map(catchError));
  assert.deepEqual(problems.map((each) => each.idempotencyKey), ["one", "two", "three"]);
  assert(problems.every((each) => each instanceof errors.InvalidGrant && each.message === "No."));
  assert.deepEqual(listTokens(sent), ["password"]);
  await catchError(client.getInfo());
  assert.deepEqual(listTokens(sent), ["password", "password"]);
}
{ // a request with a token that no header can carry is not sent, and not retried
  const [client, sent] = script([issue("a\nb", 3600), INFO], LOG_IN);
  await assert.rejects(client.getInfo(), TypeError);
  assert.deepEqual(listTokens(sent), ["password"]);
}

// --- errors --------------------------------------------------------------------------------------------------------

{
  const [client] = script([[202, { Message: "Wait.", Code: "approval_required", ApprovalId: "a1" }]]);
  const held = await catchError(client.giveItem("Bob", GIFT));
  assert(held instanceof errors.ApprovalRequired && held.approvalId === "a1" && held.status === 202);
}
{
  const change = { Seq: 7, At: "", Kind: "k", PlayerId: null, Before: null, After: {}, By: null, RequestId: "" };
  const [client] = script([refuse(409, "unapplied_changes", { Changes: [change] })]);
  const problem = await catchError(client.putPlayer("id", { exp: 1n, appliedSeq: 6 }));
  assert(problem instanceof errors.UnappliedChanges);
  assert.deepEqual(problem.changes.map((each) => [each.seq, each.kind, each.after]), [[7n, "k", {}]]);
}
{
  const [client] = script([refuse(409, "code_of_a_newer_server")]);
  const problem = await catchError(client.getInfo());
  assert(problem instanceof errors.Conflict && problem.code === "code_of_a_newer_server" && problem.requestId === "r1");
}
for (const body of [new TextEncoder().encode("hello"), Uint8Array.of(0x22, 0xe9, 0x22), { other: 1 }, [1]]) {
  const [client] = script([[200, body]]);
  const problem = await catchError(client.giveItem("Bob", GIFT, { idempotencyKey: "mine" }));
  assert(problem instanceof errors.NotUnderstood && problem.idempotencyKey === "mine");
  const [proxy] = script([[404, body]]);
  const missing = await catchError(proxy.getInfo());
  assert(missing instanceof errors.NotFound);
  assert.equal(missing.message, "The server answered with status 404.");
}
{
  const [client] = script([undefined]);
  const problem = await catchError(client.revokeToken("Ann", "secret-token"));
  assert(!problem.message.includes("secret"));
}
assert.throws(() => new Client("127.0.0.1:5400", { token: "x" }), TypeError);
assert.throws(() => new Client("http://127.0.0.1", { token: "a b" }), TypeError);
assert.throws(() => new Client("http://127.0.0.1", { username: "Ann" } as unknown as Options), TypeError);
for (const options of [{ reason: "a\nb" }, { reason: "x".repeat(501) }, { idempotencyKey: "a b" }]) {
  const [client, sent] = script([[200, GIVEN]]);
  await assert.rejects(client.giveItem("Bob", GIFT, options), TypeError);
  assert.equal(sent.length, 0);
}

// --- the change feed -----------------------------------------------------------------------------------------------

{
  const make = (seq: number): Answer => {
    const change = { Seq: seq, At: "", Kind: "k", PlayerId: null, Before: null, After: null, By: null, RequestId: "" };
    return [200, { Changes: [change], Next: seq, Epoch: "e" }];
  };
  const away = [undefined, undefined, undefined, undefined, refuse(503, "database_away"), undefined];
  const [client, sent] = script([make(2), ...away, make(3)]);
  const found = [];
  for await (const change of client.followChanges({ after: 1 })) {
    found.push(change.seq);
    if (found.length === 2) break;
  }
  assert.deepEqual(found, [2n, 3n]);
  assert.equal(sent[0]?.request, "GET /api/link/v1/changes?after=1&wait=20&limit=1000");
  assert.equal(sent[7]?.request, "GET /api/link/v1/changes?after=2&wait=20&limit=1000&epoch=e");
}
for (const answers of [[undefined], "silence"] as const) {
  // a signal ends the iteration while it pauses before a retry, and while it waits for an answer
  const wait = (_: unknown, init?: RequestInit): Promise<Response> =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
  const patience = { ...QUICK, firstSeconds: 100, longestSeconds: 100 };
  const [client] = answers === "silence" ? script([], { fetch: wait }) : script([...answers], { patience });
  const ending = new AbortController();
  setTimeout(() => ending.abort(), 20); // `AbortSignal.timeout` alone would not keep Node running
  for await (const change of client.followChanges({ signal: ending.signal })) {
    assert.fail(`a change: ${change.seq}`);
  }
}

// --- JSON ----------------------------------------------------------------------------------------------------------

const LARGE = "9007199254740993";
const TEXTS = ['"a\\"\\\\\\u00e9\\n/"', "[]", "{}", "-0.5e-3", "true", "false", "null"];
const NESTED = ['{"a": [1, {"b": []}], "": {}}', '{"__proto__": 1}'];
for (const text of [...TEXTS, ...NESTED]) {
  // a large number beside it makes the reader of this package read it
  assert.deepEqual(parseJson(` [ ${text} ,\n${LARGE}] `), [JSON.parse(text), BigInt(LARGE)], text);
}
assert.deepEqual(parseJson(`[-${LARGE}, ${LARGE}.5, 1e400]`), [-BigInt(LARGE), Number(`${LARGE}.5`), Infinity]);
assert.equal(parseJson("9007199254740991"), 2 ** 53 - 1);
const LISTS = ["[", "]", "[1", "[1,", "[,1]", "[1,]", "[1 2]", "[1]]"];
const OBJECTS = ["{", '{"a"}', '{"a":}', '{"a":1,}', "{,}", "{1:2}", "{}x"];
const VALUES = ["", "tru", "'a'", '"a', '"\\x"', '"\n"', "01", "1.", ".5", "+1"];
for (const text of [...LISTS, ...OBJECTS, ...VALUES]) {
  assert.throws(() => parseJson(text), SyntaxError, text);
  for (const large of [`[${LARGE}, ${text}]`, `${text}, ${LARGE}`, `{"a": ${LARGE}, "b": ${text}}`]) {
    assert.throws(() => parseJson(large), SyntaxError, large);
  }
}
assert.equal(stringifyJson({ a: [BigInt(LARGE), null, "é\n"], b: undefined }), `{"a":[${LARGE},null,"é\\n"]}`);
assert.throws(() => stringifyJson({ a: NaN }), TypeError);
for (const inexact of [2 ** 53, -(2 ** 60)]) {
  assert.throws(() => stringifyJson({ a: [inexact] }), RangeError);
  const [client, sent] = script([[200, {}]]);
  await assert.rejects(client.setServerVariable("id", { value: inexact }), RangeError);
  assert.equal(sent.length, 0);
}
assert.equal(stringifyJson([2 ** 53 - 1, 2n ** 60n, 0.5, 1e300]), `[9007199254740991,${2n ** 60n},0.5,1e+300]`);
