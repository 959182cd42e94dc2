// Build DOM elements without innerHTML; format, highlight and copy texts.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child != null && child !== false && child !== ""));
  return made;
}

// Render the part of Markdown that the OpenAPI document uses: lists, `code` and **strong**.
export function prose(text) {
  return text.trim().split(/\n\n+/).map((part) =>
    part.startsWith("* ")
      ? el("ul", {}, part.split(/\n?\* (?=[A-Z*])/).filter(Boolean).map((item) => el("li", {}, line(item))))
      : el("p", {}, line(part)));
}

export function line(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map((part) => {
    if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
    return part.startsWith("**") ? el("strong", {}, part.slice(2, -2)) : part;
  });
}

const LONGEST = 200_000; // largest number of characters shown; Copy copies all of them
const COLOURED = 50_000; // longer texts are not highlighted: each name and value would be an element
const TOKENS = /("(?:[^"\\]|\\.)*"(?=\s*:))|("(?:[^"\\]|\\.)*")|\b(true|false|null|-?\d+(?:\.\d+)?)\b/;
const KINDS = ["", "key", "text", "atom"];

export function code(text, label) {
  const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters. Copy to see all.` : text;
  const parts = shown.length > COLOURED ? [shown] : shown.split(TOKENS);
  return el("pre", { tabindex: "0", "aria-label": label }, el("code", {}, parts.map((part, at) => part && (at % 4 ? el("span", { class: KINDS[at % 4] }, part) : part))));
}

// Indent JSON by two spaces, with lists of numbers on one line. Works on the text: parsing would round 64-bit numbers.
export function pretty(text) {
  if (!isJson(text)) return text;
  let depth = 0;
  const feed = () => `\n${"  ".repeat(depth)}`;
  const lines = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g).map((token, at, all) => {
    if (token === ":") return ": ";
    if (token === ",") return token + feed();
    if ("{[".includes(token)) return "}]".includes(all[at + 1]) ? token : token + (depth += 1, feed());
    if ("}]".includes(token)) return "{[".includes(all[at - 1]) ? token : (depth -= 1, feed()) + token;
    return token;
  });
  return lines.join("").replace(/\[([\s\d,.-]+)\]/g, (_, list) => `[${list.trim().split(/,\s+/).join(", ")}]`);
}

export function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function copier(text, what) {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    await toClipboard(text());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return button;
}

// navigator.clipboard exists only on https and localhost; elsewhere copy through a hidden text area.
async function toClipboard(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = el("textarea", { class: "hidden" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
