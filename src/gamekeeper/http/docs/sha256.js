// SHA-256 in hex. Browsers offer it only on https and localhost; elsewhere this implementation is used.

export async function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  if (!globalThis.crypto?.subtle) return hex(digest(bytes));
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

function hex(bytes) {
  return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
}

function primes(count) {
  const found = [];
  for (let each = 2; found.length < count; each++) if (found.every((prime) => each % prime)) found.push(each);
  return found;
}

function fraction(root) {
  return Math.floor((root % 1) * 2 ** 32) | 0;
}

const K = primes(64).map((prime) => fraction(Math.cbrt(prime)));
const START = primes(8).map((prime) => fraction(Math.sqrt(prime)));

function padded(bytes) {
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  new DataView(blocks.buffer).setBigUint64(blocks.length - 8, BigInt(bytes.length) * 8n);
  return new DataView(blocks.buffer);
}

function turn(word, by) {
  return (word >>> by) | (word << (32 - by));
}

export function digest(bytes) {
  const blocks = padded(bytes);
  let state = START;
  for (let at = 0; at < blocks.byteLength; at += 64) {
    const mixed = compress(state, schedule(blocks, at));
    state = state.map((word, number) => (word + mixed[number]) | 0);
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((word, number) => out.setInt32(number * 4, word));
  return new Uint8Array(out.buffer);
}

function schedule(blocks, at) {
  const words = Array.from({ length: 16 }, (_, number) => blocks.getInt32(at + number * 4));
  for (let t = 16; t < 64; t++) {
    const [a, b] = [words[t - 15], words[t - 2]];
    const low = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
    const high = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
    words.push((words[t - 16] + low + words[t - 7] + high) | 0);
  }
  return words;
}

function compress(state, words) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t++) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[t] + words[t]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
  }
  return [a, b, c, d, e, f, g, h];
}
