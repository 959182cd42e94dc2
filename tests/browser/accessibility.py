"""Checks of one page with axe: a finding of any impact counts, in both themes, wide and narrow.

Axe needs more time the bigger a page is. The rows of a list often differ in their texts only, so axe gets two rows of
each kind. In `make long` axe gets the whole page, and applies every rule in all four looks.
"""

from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize
from visitor import NARROW, WIDE, Visitor

from long_forms import LONG

# all rules that axe has on by default, best practices included, and target-size of WCAG 2.2
ALL: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
# Axe takes longest for the colours. They are checked once for each theme; a narrow page has the same ones.
COLOURS = ["color-contrast", "link-in-text-block"]
ONLY_COLOURS = {**ALL, "runOnly": COLOURS}
WITHOUT_COLOURS = {**ALL, "rules": ALL["rules"] | {each: {"enabled": False} for each in COLOURS}}
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
        taken.push([child, each, child.nextSibling]);
      }
    }
    return `${each.localName} ${[...attributes.sort(), ...looks].join(' ')} {${[...inside.keys()].join('; ')}}`;
  };
  describe(document.body);
  window.repetitions = {
    hide: () => taken.forEach(([child]) => child.remove()),
    show: () => taken.toReversed().forEach(([child, parent, next]) => {
      if (next === null || next.parentNode === parent) parent.insertBefore(child, next);
    }),
  };
  window.repetitions.hide();
}"""


def check_page(visitor: Visitor) -> None:
    """Check that the page is accessible in both themes, and that nothing on it is wider than the window.

    A page that is open in a wide window is also checked in a narrow one. At the end it is as wide as before.
    """
    page, wide = visitor.page, visitor.page.viewport_size or {"width": WIDE[0], "height": WIDE[1]}
    narrow: ViewportSize = {"width": NARROW[0], "height": NARROW[1]}
    assert page.evaluate(REPEATED_IDS) == []
    assert page.evaluate(STICKS_OUT) == []
    if not LONG:
        page.evaluate(HIDE_REPETITIONS)
    check_look(page, ALL if LONG else ONLY_COLOURS, "dark")
    check_look(page, ALL, "light")
    if wide["width"] > narrow["width"]:
        if not LONG:
            page.evaluate("repetitions.show()")
        page.set_viewport_size(narrow)
        try:
            _check_narrow(page)
        finally:
            page.set_viewport_size(wide)
    if not LONG:
        page.evaluate("repetitions.show()")


def _check_narrow(page: Page) -> None:
    assert page.evaluate(STICKS_OUT) == [], "narrow"
    if LONG:
        check_look(page, ALL, "dark")
    else:
        page.evaluate("repetitions.hide()")
    check_look(page, ALL if LONG else WITHOUT_COLOURS, "light")


def check_look(page: Page, options: dict[str, Any], theme: Literal["dark", "light"]) -> None:
    """Check that axe finds nothing on the page, of any impact: minor, moderate, serious and critical."""
    page.emulate_media(color_scheme=theme)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(RUN, options)
    violations = [
        f"{each['impact']} {each['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for each in found
        for node in each["nodes"][:5]
    ]
    assert not violations, f"{theme}, {page.viewport_size}: {violations}"
