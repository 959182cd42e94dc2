// The search box: suggestions while somebody types, chosen with the arrow keys, Enter and Escape.
const WAIT = 150;
const LIST = "suggestions";

export function searchBox(box) {
  const list = document.createElement("div");
  list.id = LIST;
  list.className = LIST;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  const said = document.createElement("div");
  said.className = "hidden";
  said.setAttribute("role", "status");
  box.after(list, said);
  const given = { role: "combobox", "aria-autocomplete": "list", "aria-controls": LIST, "aria-expanded": "false" };
  for (const [name, value] of Object.entries(given)) box.setAttribute(name, value);

  let timer = 0;
  let asked = null;
  let chosen = -1;
  const options = () => [...list.querySelectorAll("[role=option]")];

  function close() {
    clearTimeout(timer);
    asked?.abort();
    said.className = "hidden";
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function choose(next) {
    const all = options();
    if (all.length === 0) return;
    chosen = (next + all.length) % all.length;
    for (const [place, each] of all.entries()) each.setAttribute("aria-selected", String(place === chosen));
    box.setAttribute("aria-activedescendant", all[chosen].id);
    all[chosen].scrollIntoView({ block: "nearest" });
  }

  function show(groups) {
    list.replaceChildren(...groups.map(group));
    for (const [place, each] of options().entries()) each.id = `${LIST}-${place}`;
    chosen = -1;
    box.removeAttribute("aria-activedescendant");
    list.hidden = groups.length === 0;
    box.setAttribute("aria-expanded", String(groups.length > 0));
    said.className = "hidden";
    said.textContent = `${options().length} suggestions`;
  }

  // Not what was found before: it is of another text.
  function fail(text) {
    close();
    said.className = `${LIST} notice bad`;
    said.textContent = text;
  }

  async function ask() {
    const text = box.value.trim();
    asked?.abort();
    if (!text) {
      close();
      return;
    }
    asked = new AbortController();
    try {
      const answer = await fetch(`/console/suggest?q=${encodeURIComponent(text)}`, { headers: { Accept: "application/json" }, signal: asked.signal });
      const told = await answer.json();
      if (document.activeElement !== box) return;
      if (answer.ok) show(told.groups);
      else fail(told.Message);
    } catch (failure) {
      if (failure.name !== "AbortError") fail("The server cannot be reached. Type on to try again.");
    }
  }

  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      event.preventDefault(); // the text stays
      close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) ask();
      else if (event.key === "ArrowDown") choose(chosen + 1);
      else choose(chosen < 0 ? -1 : chosen - 1);
    } else if (event.key === "Enter" && chosen >= 0 && !list.hidden) {
      event.preventDefault();
      location.assign(options()[chosen].href);
    }
  });
  box.addEventListener("blur", (event) => {
    if (!list.contains(event.relatedTarget)) close();
  });
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus until the click
}

function group({ title, found }, number) {
  const made = document.createElement("div");
  const heading = document.createElement("div");
  made.setAttribute("role", "group");
  heading.id = `${LIST}-group-${number}`;
  heading.className = "group";
  heading.textContent = title;
  made.setAttribute("aria-labelledby", heading.id);
  made.append(heading, ...found.map(option));
  return made;
}

function option({ name, detail, href }) {
  const made = document.createElement("a");
  made.href = href;
  made.tabIndex = -1;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", "false");
  const said = document.createElement("span");
  said.textContent = name || "(no name)";
  const more = document.createElement("span");
  more.className = "detail";
  more.textContent = detail;
  made.append(said, more);
  return made;
}
