"""The forms of boards: each checkbox stands beside its label, on a line of its own."""

from collections.abc import Callable

import pytest
from demo_server import KEEPER, DemoServer
from playwright.sync_api import Locator
from visitor import NARROW, WIDE, Visitor

Visit = Callable[..., Visitor]


def find_box(found: Locator) -> tuple[float, float, float, float]:
    box = found.bounding_box()
    assert box
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


@pytest.mark.parametrize("width", [WIDE[0], NARROW[0]])
@pytest.mark.parametrize(("path", "boxes"), [("/console/boards", 3), ("/console/boards/most-silver", 2)])
def test_checkbox_stands_beside_its_label(visit: Visit, demo: DemoServer, path: str, boxes: int, width: int) -> None:
    me = visit(demo, KEEPER, width=width)
    me.go(path)
    found = me.page.locator(".tick").all()
    assert len(found) == boxes
    last = 0.0
    for each in found:
        _, top, right, bottom = find_box(each.locator("input"))
        left_of_text, top_of_text, _, bottom_of_text = find_box(each.locator("span"))
        assert right < left_of_text
        assert top_of_text - 3 <= (top + bottom) / 2 <= bottom_of_text + 3
        assert top > last
        last = bottom
