/** Call each method with the example of its operation: it sends that request, and reads that answer. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Client, parseJson } from "gamekeeper-client";

interface Example {
  name: string;
  arguments: unknown[];
  request: string;
  body: unknown;
  answer: string;
}

const HASH = /^[0-9a-f]{64}$/; // of a password, which the client makes from what a person types

for (const each of JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Example[]) {
  let request = "";
  let body: unknown;
  const client = new Client("http://127.0.0.1:1", {
    token: "gka_x",
    fetch: async (url, init) => {
      request = `${init?.method} ${new URL(String(url)).pathname}`;
      body = typeof init?.body === "string" ? parseJson(init.body) : undefined;
      return new Response(each.answer);
    },
  });
  const methods = client as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  const method = methods[each.name];
  assert(method, `There is no method ${each.name}.`);
  const result = await method.apply(client, each.arguments).catch((problem: unknown) => {
    throw new Error(`${each.name}: ${problem}`);
  });
  assert.notEqual(result, undefined, each.name);
  assert.equal(request, each.request, each.name);
  assert.deepEqual(hidePasswords(body), hidePasswords(each.body ?? undefined), each.name);
}

function hidePasswords(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  const fields = Object.entries(value);
  return Object.fromEntries(fields.map(([name, each]) => [name, HASH.test(String(each)) ? "hidden" : each]));
}
