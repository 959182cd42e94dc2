// A fastify and better-sqlite3 application over Gamekeeper's own database: three reads and a gift, for the benchmark.
"use strict";

const { createHash, randomBytes } = require("node:crypto");
const Database = require("better-sqlite3");
const fastify = require("fastify");
const pino = require("pino");

const BELIEVED_MS = 4000;
const LARGEST_PAGE = 100;
const GUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i;
const JSON_TYPE = "application/json; charset=utf-8";
const ZERO = "00000000-0000-0000-0000-000000000000";
const NO_BUFFS = "[0,0,0,0,0]";
const SLOTS = { inventory: 35, bank: 100 }; // Gamekeeper's defaults
const STACK_CAP = 1000000;

const db = new Database(process.env.PEER_DATABASE, { fileMustExist: true });
db.pragma("cache_size = -32768"); // KiB of pages kept, as many as Gamekeeper keeps
db.pragma("synchronous = FULL"); // a commit is on the disk before it is answered
db.pragma("foreign_keys = ON");

// As text: node joins and sends strings faster than buffers.
const RECORD = `
  SELECT CAST(p.document AS TEXT) AS document, c.name AS class_name, m.name AS map_name,
         o.player_id IS NOT NULL AS online, p.last_online
  FROM players p
  LEFT JOIN classes c ON c.id = p.class_id
  LEFT JOIN maps m ON m.id = p.map_id
  LEFT JOIN presence o ON o.player_id = p.id`;
const byId = db.prepare(`${RECORD} WHERE p.id = ?`);
const byFold = db.prepare(`${RECORD} WHERE p.fold = ?`);
const byName = db.prepare(`${RECORD} ORDER BY p.fold LIMIT ? OFFSET ?`);
const byRank = db.prepare(`${RECORD} ORDER BY p.level DESC, p.exp DESC, p.id DESC LIMIT ? OFFSET ?`);
const count = db.prepare("SELECT COUNT(*) FROM players").pluck();
const holder = db.prepare(
  `SELECT t.access_expires AS expires, t.id AS token, t.read_only AS readOnly, u.id AS account
   FROM tokens t JOIN users u ON u.id = t.user_id
   WHERE t.access_hash = ? AND t.revoked_at IS NULL AND u.api`,
);
const keptAnswer = db.prepare("SELECT fingerprint, answer FROM masked_keys WHERE account_id = ? AND key = ?");
const idById = db.prepare("SELECT id FROM players WHERE id = ?").pluck();
const idByFold = db.prepare("SELECT id FROM players WHERE fold = ?").pluck();
const itemById = db.prepare("SELECT stackable, max_stack, bag_slots FROM items WHERE id = ?");
const slotsOf = db.prepare(
  "SELECT place, slot, item_id, quantity, bag_id, buffs FROM slots WHERE player_id = ? ORDER BY place, slot",
);
const saveSlot = db.prepare(
  `INSERT INTO slots (player_id, place, slot, item_id, quantity, bag_id, buffs) VALUES (?, ?, ?, ?, ?, NULL, ?)
   ON CONFLICT (player_id, place, slot) DO UPDATE SET quantity = excluded.quantity`,
);
const append = db.prepare(
  `INSERT INTO ledger (at, kind, actor_id, token_id, over_link, player_id, before, after, request_id, reason)
   VALUES (?, 'items_given', ?, ?, 0, ?, ?, ?, ?, ?)`,
);
const keepAnswer = db.prepare(
  `INSERT INTO idempotency_keys (account_id, key, fingerprint, answer, at, player_id)
   VALUES (?, ?, ?, CAST(? AS BLOB), ?, ?)`,
);

// The stored document as it is, with its tail in the place of the closing brace.
function record(row) {
  const last = row.last_online === null ? "null" : `"${new Date(row.last_online).toISOString()}"`;
  const names = `"ClassName":${JSON.stringify(row.class_name ?? "")},"MapName":${JSON.stringify(row.map_name ?? "")}`;
  return `${row.document.slice(0, -1)},${names},"Online":${row.online === 1},"LastOnline":${last}}`;
}

const fold = (name) => name.toLowerCase().normalize("NFC");

function find(key) {
  const guid = GUID.exec(key);
  return guid ? byId.get(guid.slice(1).join("-").toLowerCase()) : byFold.get(fold(key));
}

function list(statement, { page, pageSize }) {
  const size = Math.min(pageSize, LARGEST_PAGE);
  const rows = statement.all(size, page * size);
  const head = `{"Total":${count.get()},"Page":${page},"PageSize":${size},"Count":${rows.length},"Values":[`;
  return `${head}${rows.map(record).join(",")}]}`;
}

// Fill stacks in slot order, then free slots; then the bank. Undefined: they do not fit.
function place(rows, item, { itemid, quantity, bankoverflow }) {
  const most = item.stackable ? item.max_stack || STACK_CAP : 1;
  const changed = { inventory: [], bank: [] };
  let left = quantity;
  for (const where of bankoverflow ? ["inventory", "bank"] : ["inventory"]) {
    const here = rows.filter((row) => row.place === where);
    for (const row of item.stackable ? here : []) {
      if (!left || row.item_id !== itemid || row.bag_id || row.quantity >= most) continue;
      const added = Math.min(left, most - row.quantity);
      changed[where].push({ slot: row.slot, before: row.quantity, after: row.quantity + added, buffs: row.buffs });
      left -= added;
    }
    const taken = new Set(here.map((row) => row.slot));
    for (let slot = 0; left && slot < SLOTS[where]; slot++) {
      if (taken.has(slot)) continue;
      const added = Math.min(left, most);
      changed[where].push({ slot, before: 0, after: added, buffs: NO_BUFFS });
      left -= added;
    }
  }
  return left || item.bag_slots ? undefined : changed;
}

// The changed slots for the audit log, before or after the gift.
function sideOf(changed, itemid, side) {
  const spell = ({ slot, buffs, ...counts }) => {
    const held = counts[side] ? itemid : ZERO;
    return `{"Slot":${slot},"BagId":null,"ItemId":"${held}","Quantity":${counts[side]},"StatBuffs":${buffs}}`;
  };
  const lists = Object.entries({ Items: changed.inventory, Bank: changed.bank }).filter(([, slots]) => slots.length);
  const sorted = (slots) => slots.toSorted((one, other) => one.slot - other.slot);
  return `{${lists.map(([name, slots]) => `"${name}":[${sorted(slots).map(spell).join(",")}]`).join(",")}}`;
}

const give = db.transaction((requestId, caller, key, reason, name, gift) => {
  const asked = JSON.stringify(["POST", "/api/v1/players/[lookupKey]/items/give", [name], gift]);
  const fingerprint = key && createHash("sha256").update(asked).digest("hex");
  const kept = key && keptAnswer.get(caller.account, key);
  if (kept) return kept.fingerprint === fingerprint ? kept.answer : 409;
  const guid = GUID.exec(name);
  const player = guid ? idById.get(guid.slice(1).join("-").toLowerCase()) : idByFold.get(fold(name));
  const item = itemById.get(gift.itemid);
  if (!player || !item) return 404;
  const rows = slotsOf.all(player);
  const changed = place(rows, item, gift);
  if (!changed) return 409;
  const held = { inventory: 0, bank: 0 };
  for (const row of rows) if (row.item_id === gift.itemid && row.place in held) held[row.place] += row.quantity;
  for (const [where, slots] of Object.entries(changed)) {
    for (const { slot, before, after, buffs } of slots) {
      saveSlot.run(player, where, slot, gift.itemid, after, buffs);
      held[where] += after - before;
    }
  }
  const sides = [sideOf(changed, gift.itemid, "before"), sideOf(changed, gift.itemid, "after")];
  append.run(Date.now(), caller.account, caller.token, player, ...sides, requestId, reason);
  const counts = `{"total":${held.inventory + held.bank},"bank":${held.bank},"inventory":${held.inventory}}`;
  const answer = `{"id":"${gift.itemid}","quantity":${counts}}`;
  if (key) keepAnswer.run(caller.account, key, fingerprint, answer, Date.now(), player);
  return answer;
});

const believed = new Map(); // a token found good is believed for four seconds, as Gamekeeper does

function callerOf(authorization = "") {
  const known = believed.get(authorization);
  if (known?.until > performance.now()) return known;
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
  const found = holder.get(createHash("sha256").update(token).digest("hex"));
  const life = (found?.expires ?? 0) - Date.now();
  if (life <= 0) return undefined;
  const caller = { ...found, until: performance.now() + Math.min(BELIEVED_MS, life) };
  believed.set(authorization, caller);
  return caller;
}

// One line per request, as Gamekeeper writes, where fastify by itself would write two; and, as Gamekeeper's, they are
// written together, at the latest after a fifth of a second.
const lines = pino.destination({ dest: 2, minLength: 4096, sync: true });
setInterval(() => lines.flushSync(), 200);
const prefix = randomBytes(8).toString("hex");
let requests = 0;
const genReqId = () => prefix + (requests++).toString(16).padStart(8, "0");
const app = fastify({ loggerInstance: pino(lines), disableRequestLogging: true, genReqId });

app.addHook("onResponse", (request, reply, done) => {
  const route = `${request.method} ${request.routeOptions.url}`;
  request.log.info({ route, status: reply.statusCode, ms: reply.elapsedTime });
  done();
});

app.decorateRequest("caller", null);
app.addHook("onRequest", (request, reply, done) => {
  request.caller = callerOf(request.headers.authorization);
  if (request.caller && !(request.method === "POST" && request.caller.readOnly)) done();
  else reply.code(401).send({ Message: "The token is not good." });
});

const query = {
  type: "object",
  properties: {
    page: { type: "integer", minimum: 0, default: 0 },
    pageSize: { type: "integer", minimum: 1, default: 5 },
  },
};

app.get("/api/v1/players", { schema: { querystring: query } }, (request, reply) => {
  reply.type(JSON_TYPE).send(list(byName, request.query));
});

app.get("/api/v1/players/rank", { schema: { querystring: query } }, (request, reply) => {
  reply.type(JSON_TYPE).send(list(byRank, request.query));
});

app.get("/api/v1/players/:key", (request, reply) => {
  const row = find(request.params.key);
  if (row) reply.type(JSON_TYPE).send(record(row));
  else reply.code(404).send({ Message: "No such player." });
});

const gift = {
  type: "object",
  required: ["itemid", "quantity"],
  properties: {
    itemid: { type: "string", pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" },
    quantity: { type: "integer", minimum: 1 },
    bankoverflow: { type: "boolean", default: false },
  },
};

app.post("/api/v1/players/:key/items/give", { schema: { body: gift } }, (request, reply) => {
  const { "idempotency-key": key, "x-reason": reason = null } = request.headers;
  const answer = give.immediate(request.id, request.caller, key, reason, request.params.key, request.body);
  if (typeof answer === "number") reply.code(answer).send({ Message: "The gift is refused." });
  else reply.type(JSON_TYPE).send(answer);
});

app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
