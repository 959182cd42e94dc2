/** Convert between JSON of the API and values of this client, which have names in camelCase and 64-bit bigints. */

import type { Json } from "./json.js";

/** Converts values of one type. The generated shapes state the type, so it is `any` here. */
export interface Codec {
  read(json: Json): any;
  write(value: any): any;
}

export interface ObjectCodec extends Codec {
  /** Count the fields that an object of the API has; -1 if a required one is missing. */
  countRead(json: Json): number;
  /** Count the fields that an object of this client has. */
  countWritten(value: object): number;
}

/** A value that is the same on both sides. */
export const plain: Codec = { read: (json) => json, write: (value) => value };

/** A 64-bit integer: always a bigint here. Other values of a union are left as they are. */
export const long: Codec = {
  read: (json) => (typeof json === "number" && Number.isInteger(json) ? BigInt(json) : json),
  write: (value) => requireExact(value),
};

/** Reject a number that JavaScript may have rounded already. */
export function requireExact<T>(value: T): T {
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new RangeError(`${value} is not exact: pass an integer, and beyond 2^53 a bigint.`);
  }
  return value;
}

export function list(item: Codec): Codec {
  return {
    read: (json) => requireArray(json).map((each) => item.read(each)),
    write: (value: readonly unknown[]) => value.map((each) => item.write(each)),
  };
}

/** An object with any names. */
export function map(value: Codec): Codec {
  const convert = (entries: object, change: (each: any) => unknown): object =>
    Object.fromEntries(Object.entries(entries).map(([name, each]) => [name, change(each)]));
  return {
    read: (json) => convert(requireObject(json), (each) => value.read(each)),
    write: (given) => convert(given, (each) => value.write(each)),
  };
}

/** A value or null. */
export function nullable(codec: Codec): Codec {
  return {
    read: (json) => (json === null ? null : codec.read(json)),
    write: (value) => (value === null ? null : codec.write(value)),
  };
}

/** Fields by the name of the API. A name of this client that ends with ? may be missing in an answer. */
export type Fields = Readonly<Record<string, string | readonly [string, Codec]>>;

/** An object. Fields that are not declared, such as those of a newer server, are left as they are. */
export function object(fields: Fields): ObjectCodec {
  const declared = Object.entries(fields).map(([name, field]) => {
    const [own, codec] = typeof field === "string" ? [field, plain] : field;
    return { name, own: own.replace("?", ""), isRequired: !own.endsWith("?"), codec };
  });
  const byName = new Map(declared.map((each) => [each.name, each]));
  const byOwn = new Map(declared.map((each) => [each.own, each]));
  return {
    read(json) {
      const given = requireObject(json);
      const missing = declared.find((each) => each.isRequired && !Object.hasOwn(given, each.name));
      if (missing) {
        throw new TypeError(`the field ${missing.name} is missing`);
      }
      return Object.fromEntries(
        Object.entries(given).map(([name, each]) => {
          const field = byName.get(name);
          return field ? [field.own, field.codec.read(each)] : [name, each];
        }),
      );
    },
    write(value: object) {
      return Object.fromEntries(
        Object.entries(value)
          .filter(([, each]) => each !== undefined)
          .map(([own, each]) => {
            const field = byOwn.get(own);
            return field ? [field.name, field.codec.write(each)] : [own, each];
          }),
      );
    },
    countRead(json) {
      const given = requireObject(json);
      const isComplete = declared.every((each) => !each.isRequired || Object.hasOwn(given, each.name));
      return isComplete ? Object.keys(given).filter((name) => byName.has(name)).length : -1;
    },
    countWritten: (value) => Object.keys(value).filter((own) => byOwn.has(own)).length,
  };
}

/** One of several objects: the one that has most of the given fields, and the first of several such. */
export function oneOf(...options: readonly [ObjectCodec, ...ObjectCodec[]]): Codec {
  const findBest = (count: (each: ObjectCodec) => number): ObjectCodec =>
    options.reduce((best, each) => (count(each) > count(best) ? each : best));
  return {
    read: (json) => findBest((each) => each.countRead(json)).read(json),
    write: (value) => findBest((each) => each.countWritten(value)).write(value),
  };
}

function requireArray(json: Json): Json[] {
  if (!Array.isArray(json)) {
    throw new TypeError("a list is missing");
  }
  return json;
}

function requireObject(json: Json): { [name: string]: Json } {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new TypeError("an object is missing");
  }
  return json;
}
