/** Read and write JSON without rounding integers: beyond 2^53 an integer is a bigint, in both directions. */

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

const LONG_NUMBER = /\d{16}/; // shorter numbers are below 2^53, so JSON.parse reads them exactly
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const TOKEN = new RegExp(`[ \\t\\n\\r]*([{}[\\],:]|${STRING.source}|${NUMBER.source}|true|false|null)`, "y");
const SPACE = /[ \t\n\r]*$/y;
const INTEGER = /^-?\d+$/;
const FLOAT_FROM = 2 ** 64; // no integer of the API is as large, so a number from here on is a float

/** Parse JSON. An integer beyond 2^53 becomes a bigint, every other number a number. */
export function parseJson(text: string): Json {
  return LONG_NUMBER.test(text) ? new Reader(text).readDocument() : (JSON.parse(text) as Json);
}

/**
 * Write a value as JSON. A bigint is written with all its digits; undefined fields are left out. An integer beyond 2^53
 * that is a number throws a RangeError, because JavaScript may have rounded it already.
 */
export function stringifyJson(value: unknown): string {
  if (typeof value === "bigint") {
    return String(value);
  }
  if (Array.isArray(value)) {
    return `[${value.map(stringifyJson).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${stringifyJson(each)}`).join(",")}}`;
  }
  if (value === undefined || (typeof value === "number" && !Number.isFinite(value))) {
    throw new TypeError(`JSON has no ${String(value)}.`);
  }
  if (typeof value === "number" && isInexact(value)) {
    throw new RangeError(`${value} is not exact: pass a bigint for an integer beyond 2^53.`);
  }
  return JSON.stringify(value);
}

function isInexact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < FLOAT_FROM;
}

class Reader {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readDocument(): Json {
    const value = this.#readValue(this.#readToken());
    SPACE.lastIndex = this.#position;
    if (!SPACE.test(this.#text)) {
      this.#fail();
    }
    return value;
  }

  #readValue(token: string): Json {
    switch (token[0]) {
      case "{":
        return this.#readObject();
      case "[":
        return this.#readArray();
      case '"':
      case "t":
      case "f":
      case "n":
        return JSON.parse(token) as Json;
      case "}":
      case "]":
      case ":":
      case ",":
        return this.#fail();
      default:
        return readNumber(token);
    }
  }

  #readObject(): Json {
    const fields: [string, Json][] = [];
    let token = this.#readToken();
    while (token !== "}" || fields.length > 0) {
      if (token[0] !== '"' || this.#readToken() !== ":") {
        this.#fail();
      }
      fields.push([JSON.parse(token) as string, this.#readValue(this.#readToken())]);
      if (this.#readEnd("}")) {
        break;
      }
      token = this.#readToken();
    }
    return Object.fromEntries(fields); // also sets a field that is named __proto__
  }

  #readArray(): Json {
    const values: Json[] = [];
    let token = this.#readToken();
    while (token !== "]" || values.length > 0) {
      values.push(this.#readValue(token));
      if (this.#readEnd("]")) {
        break;
      }
      token = this.#readToken();
    }
    return values;
  }

  /** Read a comma or the end of an object or array; tell whether it was the end. */
  #readEnd(end: string): boolean {
    const token = this.#readToken();
    return token === end || (token !== "," && this.#fail());
  }

  #readToken(): string {
    TOKEN.lastIndex = this.#position;
    const found = TOKEN.exec(this.#text)?.[1] ?? this.#fail();
    this.#position = TOKEN.lastIndex;
    return found;
  }

  #fail(): never {
    throw new SyntaxError(`The JSON is malformed near position ${this.#position}.`);
  }
}

function readNumber(token: string): number | bigint {
  const value = Number(token);
  return INTEGER.test(token) && !Number.isSafeInteger(value) ? BigInt(token) : value;
}
