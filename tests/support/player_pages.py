"""Forms of the page of a player, and of other pages."""

from keepers import Keeper
from markup import Form, Page
from world import Answer


def find_form(page: Page, path: str, **fields: str) -> Form:
    """Return the form that calls this operation of the API and has these field values."""
    wanted = {"path": path, **{f"body.{name}": value for name, value in fields.items()}}
    found = [each for each in page.forms if wanted.items() <= each.fields.items()]
    assert found, (wanted, page.forms)
    return found[0]


def list_paths(page: Page) -> set[str]:
    """List the paths of the operations that the forms of a page call."""
    return {each.fields["path"] for each in page.forms if "path" in each.fields}


def submit(keeper: Keeper, sent: Form, reason: str = "a test", **typed: str) -> Answer:
    """Send both steps of an action's form, with the field values on the page."""
    fields = {**sent.fields, **{f"body.{name}": each for name, each in typed.items()}}
    shown = keeper.post("/console/act", fields, csrf=sent.fields["csrf"]).accepted()
    answer = keeper.confirm(shown, reason)
    assert answer.status == 303, answer.raw
    return answer
