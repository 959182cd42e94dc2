"""The console's list of all accounts: filters, search, order and pages."""

from keepers import Keeper, open_staff

import people
import staff
from gamekeeper.game.lookup import new_guid
from world import World

PAGE = "/console/accounts"
BANNED, MUTED, POWERS = (f"{PAGE}?state={state}" for state in ("banned", "muted", "powers"))
FAR = 4_102_444_800_000  # the year 2100, in milliseconds: end of a ban or mute


def list_names(root: Keeper, path: str) -> list[str]:
    """List the names of the accounts in the order of the page."""
    return [name for name, to in root.page(path).links.items() if to.startswith(f"{PAGE}/")]


def test_list_shows_permissions_and_states(shared_root: Keeper) -> None:
    page = shared_root.page(PAGE)
    assert page.links["Ann"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    page.assert_shown(
        "Clerk clerk@example.test API access, View accounts", "Mona mona@example.test — muted", "1 to 7 of 7 accounts"
    )


def test_list_shows_permissions_filters_and_chips(world: World, root: Keeper) -> None:
    staff.add_account(world, "Mod", "moderator")
    staff.add_account(world, "Late", "moderator")
    event = (
        "INSERT INTO security_events (id, at, kind, user_id) SELECT $1, $2, 'sign_in', id FROM users WHERE name = $3"
    )
    for name, at in (("Mod", 86_400_000), ("Late", 864_000_000), ("Ann", 864_000_001)):
        world.sql(event, new_guid(), at, name)
    form = root.page(PAGE).form(PAGE, "Search")
    assert {"role", "signedinfrom", "signedinto"} <= form.fields.keys()
    assert list_names(root, f"{PAGE}?role=moderator") == ["Late", "Mod"]
    both = f"{PAGE}?role=moderator&signedinto=1970-01-05"
    page = root.page(both)
    assert list_names(root, both) == ["Mod"]
    assert "Mod mod@example.test moderator 1970-01-02 00:00:00 UTC" in page.text
    assert page.form(PAGE, "Search").fields["signedinto"] == "1970-01-05"
    assert page.links["Role: moderator ✕ : remove this condition"].startswith(f"{PAGE}?signedinto=1970-01-05T23")
    assert page.links["Last sign-in until 1970-01-05 ✕ : remove this condition"] == f"{PAGE}?role=moderator"
    assert page.links["Show all"] == PAGE
    assert list_names(root, f"{PAGE}?signedinfrom=1970-01-03")[-2:] == ["Ann", "Late"]  # newest first
    assert list_names(root, f"{PAGE}?signedinto=1970-01-30&sortby=name") == ["Ann", "Late", "Mod"]
    assert "No accounts match the filter." in root.page(f"{PAGE}?role=viewer").text
    assert root.get(f"{PAGE}?signedinfrom=yesterday").status == 400
    session = open_staff(world, ["users.query"], "Reader")
    page = session.page(PAGE)
    assert "Last sign-in" not in page.text
    assert {"role"} == {"role", "signedinfrom", "signedinto"} & page.form(PAGE, "Search").fields.keys()
    assert session.get(f"{PAGE}?signedinfrom=1970-01-03").status == 403
