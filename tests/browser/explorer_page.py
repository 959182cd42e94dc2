"""Uses the API explorer in a browser, at /api/docs and in the console."""

from demo_server import KEEPER, PASSWORD
from playwright.sync_api import Locator, expect
from visitor import Visitor


def log_in(visitor: Visitor, name: str = KEEPER) -> None:
    """Log in to the API explorer at /api/docs."""
    page = visitor.page
    page.get_by_role("button", name="Log in").click()
    page.get_by_label("Account name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("dialog").get_by_role("button", name="Log in").click()
    page.get_by_role("button", name="Token in use").wait_for()


def open_operation(visitor: Visitor, name: str) -> Locator:
    """Open the API explorer's form of the operation with this id."""
    operation = visitor.page.locator(f"#{name}")
    operation.locator("summary").first.click()
    return operation


def preview(operation: Locator, **texts: str) -> None:
    for label, text in texts.items():
        operation.get_by_label(label).first.fill(text)
    operation.get_by_role("button", name="Preview changes").click()
    expect(operation.locator(".result .status")).to_be_visible()


def preview_gift(visitor: Visitor, player: str, item: str) -> Locator:
    operation = open_operation(visitor, "give_item")
    preview(operation, lookupKey=player, itemid=item, quantity="1")
    expect(operation.locator(".result")).to_contain_text("Nothing has been changed yet.")
    return operation
