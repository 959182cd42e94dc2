// A fastify and better-sqlite3 application over Gamekeeper's own database: three reads, for the benchmark.
"use strict";

const { createHash } = require("node:crypto");
const Database = require("better-sqlite3");
const fastify = require("fastify");
const pino = require("pino");

const BELIEVED_MS = 4000;
const LARGEST_PAGE = 100;
const GUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i;
const JSON_TYPE = "application/json; charset=utf-8";

const db = new Database(process.env.PEER_DATABASE, { readonly: true, fileMustExist: true });
db.pragma("cache_size = -32768"); // KiB of pages kept, as many as Gamekeeper keeps

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
const expiry = db
  .prepare(
    `SELECT t.access_expires FROM tokens t JOIN users u ON u.id = t.user_id
     WHERE t.access_hash = ? AND t.revoked_at IS NULL AND u.api`,
  )
  .pluck();

// The stored document as it is, with its tail in the place of the closing brace.
function record(row) {
  const last = row.last_online === null ? "null" : `"${new Date(row.last_online).toISOString()}"`;
  const names = `"ClassName":${JSON.stringify(row.class_name ?? "")},"MapName":${JSON.stringify(row.map_name ?? "")}`;
  return `${row.document.slice(0, -1)},${names},"Online":${row.online === 1},"LastOnline":${last}}`;
}

function find(key) {
  const guid = GUID.exec(key);
  return guid ? byId.get(guid.slice(1).join("-").toLowerCase()) : byFold.get(key.toLowerCase().normalize("NFC"));
}

function list(statement, { page, pageSize }) {
  const size = Math.min(pageSize, LARGEST_PAGE);
  const rows = statement.all(size, page * size);
  const head = `{"Total":${count.get()},"Page":${page},"PageSize":${size},"Count":${rows.length},"Values":[`;
  return `${head}${rows.map(record).join(",")}]}`;
}

const believed = new Map(); // a token found good is believed for four seconds, as Gamekeeper does

function good(authorization = "") {
  if (believed.get(authorization) > performance.now()) return true;
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
  const expires = expiry.get(createHash("sha256").update(token).digest("hex")) ?? 0;
  const life = expires - Date.now();
  if (life <= 0) return false;
  believed.set(authorization, performance.now() + Math.min(BELIEVED_MS, life));
  return true;
}

// One line per request, as Gamekeeper writes, where fastify by itself would write two; and, as Gamekeeper's, they are
// written together, at the latest after a fifth of a second.
const lines = pino.destination({ dest: 2, minLength: 4096, sync: true });
setInterval(() => lines.flushSync(), 200);
const app = fastify({ loggerInstance: pino(lines), disableRequestLogging: true });

app.addHook("onResponse", (request, reply, done) => {
  const route = `${request.method} ${request.routeOptions.url}`;
  request.log.info({ route, status: reply.statusCode, ms: reply.elapsedTime });
  done();
});

app.addHook("onRequest", (request, reply, done) => {
  if (good(request.headers.authorization)) done();
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

app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 3000) });
