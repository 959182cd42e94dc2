"""Checks of one page with axe: a finding of any impact counts, in both themes, wide and narrow."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page
from visitor import NARROW, Visitor

# all rules that axe has on by default, best practices included, and target-size of WCAG 2.2
ALL: dict[str, Any] = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
# Axe takes longest for the colours. They are checked wide, once for each theme; a narrow page has the same ones.
COLOURS = ["color-contrast", "link-in-text-block"]
ONLY_COLOURS = {**ALL, "runOnly": COLOURS}
WITHOUT_COLOURS = {**ALL, "rules": ALL["rules"] | {each: {"enabled": False} for each in COLOURS}}
RUN = "options => axe.run(options).then(found => found.violations)"
STICKS_OUT = """() => {
  const wide = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > wide + 1);
  return document.documentElement.scrollWidth > wide ? out.slice(0, 5).map(each => each.outerHTML.slice(0, 120)) : [];
}"""


def check_page(visitor: Visitor) -> None:
    """Check that the page is accessible in both themes, and that nothing on it is wider than the window."""
    page = visitor.page
    assert page.evaluate(STICKS_OUT) == []
    assert find_violations(page, ALL) == []
    page.emulate_media(color_scheme="dark")
    assert find_violations(page, ONLY_COLOURS) == [], "dark"
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate(STICKS_OUT) == [], "narrow"
    assert find_violations(page, WITHOUT_COLOURS) == [], "narrow"


def find_violations(page: Page, options: dict[str, Any]) -> list[str]:
    """Return what axe finds on the page, of any impact: minor, moderate, serious and critical."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(RUN, options)
    return [
        f"{each['impact']} {each['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for each in found
        for node in each["nodes"][:5]
    ]
