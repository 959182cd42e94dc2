"""Checks of one page with axe: a finding of any impact counts. `make long` checks both themes, wide and narrow.

Axe needs more time the bigger a page is. The rows of a list often differ in their texts only, so in `make test` axe
gets two rows of each kind, in the light theme.
"""

from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize
from visitor import NARROW, WIDE, Visitor

from long_forms import LONG

# all rules that axe has on by default, best practices included, and target-size of WCAG 2.2
ALL: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
RUN = "options => axe.run(options).then(found => found.violations)"
STICKS_OUT = """() => {
  const wide = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > wide + 1);
  return document.documentElement.scrollWidth > wide ? out.slice(0, 5).map(each => each.outerHTML.slice(0, 120)) : [];
}"""
REPEATED_IDS = """() => {
  const ids = [...document.querySelectorAll('[id]')].map(each => each.id);
  return ids.filter((each, place) => ids.indexOf(each) !== place);
}"""
# Rows and other parts of a page are of one kind if they have the same classes, roles, types and names of attributes,
# look the same, and their descendants do. Two of each kind stay, because neighbours matter to the rule target-size.
HIDE_REPETITIONS = """() => {
  const PARTS = new Set(['li', 'tr', 'option', 'article', 'details', 'g', 'a', 'rect', 'circle', 'path']);
  const ANYWHERE = new Set(['details', 'article']);  // they count on the whole page, the others in their list
  const counts = new Map(), taken = [];
  const describe = each => {
    const attributes = [...each.attributes]
      .map(({ name, value }) => name + (['class', 'role', 'type'].includes(name) ? `=${value}` : value ? '=' : ''));
    const { color, backgroundColor, fontSize, fontWeight, display, visibility } = getComputedStyle(each);
    const words = [...each.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const looks = [color, backgroundColor, fontSize, fontWeight, display, visibility, words];
    const inside = new Map();
    for (const child of [...each.children]) {
      const kind = describe(child), among = ANYWHERE.has(child.localName) ? counts : inside;
      among.set(kind, (among.get(kind) ?? 0) + 1);
      inside.set(kind, inside.get(kind) ?? 1);
      if (PARTS.has(child.localName) && among.get(kind) > 2 && !child.contains(document.activeElement)) {
        taken.push(child);
      }
    }
    return `${each.localName} ${[...attributes.sort(), ...looks].join(' ')} {${[...inside.keys()].join('; ')}}`;
  };
  describe(document.body);
  taken.forEach(child => child.remove());
}"""


def check_page(visitor: Visitor) -> None:
    """Check that axe finds nothing on the page, and that nothing on it is wider than the window, wide and narrow.

    The window must be wide; at the end it is as wide as before.
    """
    page, wide = visitor.page, visitor.page.viewport_size or {"width": WIDE[0], "height": WIDE[1]}
    narrow: ViewportSize = {"width": NARROW[0], "height": NARROW[1]}
    assert page.evaluate(REPEATED_IDS) == []
    for size in (narrow, wide):
        page.set_viewport_size(size)
        assert page.evaluate(STICKS_OUT) == [], size
        if LONG:
            check_look(page, "dark")
            check_look(page, "light")
    if not LONG:
        page.evaluate(HIDE_REPETITIONS)
        check_look(page, "light")


def check_look(page: Page, theme: Literal["dark", "light"]) -> None:
    """Check that axe finds nothing on the page, of any impact: minor, moderate, serious and critical."""
    page.emulate_media(color_scheme=theme)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(RUN, ALL)
    violations = [
        f"{each['impact']} {each['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for each in found
        for node in each["nodes"][:5]
    ]
    assert not violations, f"{theme}, {page.viewport_size}: {violations}"
