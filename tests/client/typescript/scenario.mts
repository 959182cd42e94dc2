/** A shop, a leaderboard, a bot and a game server, each with the installed TypeScript client, against a real server. */

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { Client, errors, type Change } from "gamekeeper-client";

const [proxied = "", direct = "", password = "", coin = "", bob = "", doubleXp = "", kills = ""] =
  process.argv.slice(2);
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const patience = { retries: 300, firstSeconds: 0.02, longestSeconds: 0.2 };
const root = new Client(direct, { username: "Root", password });
const game = new Client(direct, { username: "Server", password });

/** Ask the test to do something, and wait until it has. */
async function ask(what: string): Promise<void> {
  console.log(what);
  await answers.next();
}

async function countCoins(): Promise<number> {
  const slots = await root.getInventory("Bob");
  return slots.filter((slot) => slot.itemId === coin).reduce((sum, slot) => sum + slot.quantity, 0);
}

/** A bot: note the gifts to Bob, until there are as many as expected. */
async function noteGifts(after: bigint, expected: number): Promise<Change[]> {
  const gifts: Change[] = [];
  for await (const change of root.followChanges({ after, wait: 5 })) {
    if (change.kind === "items_given" && change.playerId === bob) {
      gifts.push(change);
    }
    if (gifts.length === expected) {
      break;
    }
  }
  return gifts;
}

async function keepShop(): Promise<void> {
  const made = await root.createKey({ name: "web shop", permissions: ["items.give", "items.take", "players.read"] });
  assert(made.key);
  const shop = new Client(proxied, { token: made.key, patience });
  const start = (await root.listChanges({ after: "now" })).next;
  const gifts = noteGifts(start, 3);

  const given = await shop.giveItem("Bob", { itemId: coin, quantity: 5 }, { reason: "Bestellung für Bob № 1 ✓" });
  assert.equal(given.quantity.inventory, BigInt(await countCoins()));
  const taken = await shop.takeItem("Bob", { itemId: coin, quantity: 2 });
  assert.equal(taken.quantity, 2);
  const balance = await countCoins();
  const preview = await shop.giveItem("Bob", { itemId: coin, quantity: 1000 }, { dryRun: true });
  assert.equal(preview.quantity.inventory, BigInt(balance + 1000));
  assert.equal(await countCoins(), balance);

  const tooMany = await catchError(() => shop.takeItem("Bob", { itemId: coin, quantity: balance + 1 }));
  assert(tooMany instanceof errors.NotEnoughItems && tooMany instanceof errors.Conflict);
  assert.deepEqual([tooMany.name, tooMany.status, tooMany.code], ["NotEnoughItems", 409, "not_enough_items"]);
  assert.match(tooMany.message, /has only/);
  assert.match(tooMany.requestId, /^\w+$/);
  assert.equal(tooMany.fields["Code"], tooMany.code);
  assert(tooMany.idempotencyKey);

  await ask("kill the server when it has answered the next request");
  const write = { idempotencyKey: "order-4711", reason: "order 4711" };
  const afterKill = await shop.giveItem("Bob", { itemId: coin, quantity: 7 }, write);
  assert.equal(afterKill.quantity.inventory, BigInt(balance + 7));
  const again = await shop.giveItem("Bob", { itemId: coin, quantity: 7 }, write);
  assert.deepEqual(again, afterKill);
  assert.equal(await countCoins(), balance + 7);
  const reused = await catchError(() => shop.giveItem("Bob", { itemId: coin, quantity: 8 }, write));
  assert(reused instanceof errors.IdempotencyKeyReused);

  await shop.giveItem("Bob", { itemId: coin, quantity: 1 });
  const noted = await gifts; // also by the bot, which was following when the server was killed
  const history = [];
  for await (const change of root.iterateHistory({ player: bob, kind: "items_given", limit: 1 })) {
    history.push(change);
  }
  assert.deepEqual(history.map((each) => each.seq).reverse(), noted.map((each) => each.seq));
  const reasons = history.map((each) => each.reason);
  assert.deepEqual(reasons, [null, "order 4711", "Bestellung für Bob № 1 ✓"]);
}

async function showLeaderboard(): Promise<void> {
  const names = [];
  for await (const player of root.iterateRanking({ pageSize: 1 })) {
    names.push(player.name);
  }
  assert.deepEqual(names.toSorted(), ["Ann", "Bob", "Zoe"]);
  assert.equal((await root.getRank(names[1] ?? "", { around: 1 })).around.length, 2);
  await root.createBoard({ name: "levels", title: "Highest levels", ranks: "level" });
  let standings = await root.listStandings("levels", { pageSize: 2 });
  while (!standings.season.complete) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    standings = await root.listStandings("levels", { pageSize: 2 });
  }
  const ranked = [];
  for await (const standing of root.iterateStandings("levels", { pageSize: 2 })) {
    ranked.push(standing.name);
  }
  assert.deepEqual(ranked, names);
  assert.equal(typeof standings.values[0]?.value, "bigint");
}

async function runGame(): Promise<void> {
  const start = (await game.listChanges({ after: "now" })).next;
  const state = await game.sendHeartbeat("realm", { lease: 60, appliedSeq: start });
  assert.equal(state.server, "realm");
  assert.equal((await game.reportJoined("realm", { players: [bob] })).online, 1);
  assert((await root.getPlayer("bob")).online);
  await root.killPlayer("Bob", { reason: "stuck" });
  for await (const change of game.followChanges({ after: start, server: "realm" })) {
    if (change.kind === "player_killed" && change.playerId === bob && !change.expired) {
      const { acks } = await game.acknowledgeCommands("realm", { acks: [{ seq: change.seq, state: "applied" }] });
      assert.deepEqual(acks, [{ seq: change.seq, state: "applied" }]);
      break;
    }
  }
  assert.equal((await game.reportLeft("realm", { players: [bob] })).online, 0);
  assert.equal((await game.reportShutdown("realm")).online, 0);
}

/** Integers beyond 2^53 keep all their digits, as numbers of players and of variables, in both directions. */
async function keepDigits(): Promise<void> {
  const large = 2n ** 62n + 1n;
  const saved = await game.putPlayer(bob, { exp: large, vitals: [7, 8] });
  assert.deepEqual([saved.exp, saved.vitals, (await root.getPlayer("Bob")).exp], [large, [7, 8], large]);
  assert.equal((await root.setVariable("Bob", kills, { value: -large })).value, -large);
  assert.equal((await root.getVariable("Bob", kills)).value, -large);
  const variable = await root.getServerVariable(doubleXp);
  assert.equal(variable.timeCreated, -8586599203473051578n);
  assert.equal((await root.setServerVariable(doubleXp, { value: large })).value, large);
  const inexact = await catchError(() => game.putPlayer(bob, { exp: 2 ** 60 }));
  assert(inexact instanceof RangeError);
}

async function checkErrors(): Promise<void> {
  const nowhere = new Client("http://127.0.0.1:1", { token: "gka_x", patience: { retries: 1, firstSeconds: 0.01 } });
  const away = await catchError(() => nowhere.giveItem("Bob", { itemId: coin, quantity: 1 }));
  assert(away instanceof errors.Unreachable && away.idempotencyKey && away.cause);
  const missing = await catchError(() => root.getPlayer("../Nobody"));
  assert(missing instanceof errors.NoSuchPlayer);
  assert.match(missing.message, /'\.\.\/Nobody'/);
  assert(await catchError(() => root.getPlayer("..")) instanceof TypeError);
  assert(await catchError(() => new Client(direct, { token: "gka_x" }).getInfo()) instanceof errors.Denied);
  assert(await catchError(() => root.issueToken("Root", "wrong")) instanceof errors.InvalidGrant);
  const pair = await root.issueToken("Ann", password, { readOnly: true }).catch((problem: unknown) => problem);
  assert(pair instanceof errors.UnauthorizedClient);
  const own = await root.issueToken("Root", password);
  assert(own.refreshToken);
  assert.notEqual((await root.refreshToken(own.refreshToken)).accessToken, own.accessToken);
  const secret = "a long secret";
  const registered = await root.registerUser({ username: "Wanda", password: secret, email: "w@example.test" });
  assert.equal(registered.username, "Wanda");
  assert.equal((await root.validatePassword("Wanda", { password: secret })).message, "Password Correct");
}

async function catchError(act: () => Promise<unknown>): Promise<unknown> {
  try {
    await act();
  } catch (problem) {
    return problem;
  }
  return undefined;
}

await keepShop();
await showLeaderboard();
await runGame();
await keepDigits();
await checkErrors();
console.log("done");
process.exit();
