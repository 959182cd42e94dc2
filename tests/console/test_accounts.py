"""The console's list of all accounts: filters, search, order and pages."""

from collections.abc import Callable, Mapping

import pytest
from keepers import Keeper, open_session
from markup import Page

import people
import staff
from gamekeeper.console import accounts
from gamekeeper.game import search
from gamekeeper.game.lookup import new_guid
from gamekeeper.store import users
from gamekeeper.store.users import Powers
from world import World

PAGE = "/console/accounts"
BANNED, MUTED, POWERS = (f"{PAGE}?state={state}" for state in ("banned", "muted", "powers"))
FAR = 4_102_444_800_000  # the year 2100, in milliseconds: end of a ban or mute


def impose(world: World, table: str, ends: Mapping[str, int | None]) -> None:
    """Ban or mute these accounts one after the other, each until its given time."""
    names = "user_id, reason, moderator, started_at, ends_at"
    for number, (name, ends_at) in enumerate(ends.items()):
        values = (people.USER_IDS[name], f"<b>{name}</b> cheats", "Root", 1000 * number, ends_at)
        world.sql(f"INSERT INTO {table} ({names}) VALUES ($1, $2, $3, $4, $5)", *values)  # noqa: S608 - the test chooses the name


def list_names(root: Keeper, path: str) -> list[str]:
    """List the names of the accounts in the order of the page."""
    return [name for name, to in root.page(path).links.items() if to.startswith(f"{PAGE}/")]


def test_list_shows_permissions_and_states(shared_root: Keeper) -> None:
    page = shared_root.page(PAGE)
    assert page.links["Ann"] == f"/console/accounts/{people.USER_IDS['Ann']}"
    assert "Clerk clerk@example.test API access, View accounts" in page.text
    assert "Mona mona@example.test — muted" in page.text
    assert "1 to 7 of 7 accounts" in page.text


def test_search_finds_email_and_part_of_it(shared_root: Keeper) -> None:
    page = shared_root.page(f"{PAGE}?search=ONA@EX&sortby=email")
    assert "Mona" in page.links
    assert "Ann" not in page.links
    assert "No results. Try fewer letters" in shared_root.page(f"{PAGE}?search=qqqq").text


def test_order_is_part_of_the_address(shared_root: Keeper) -> None:
    html = shared_root.page(shared_root.page(PAGE).links["Name ▲"]).html
    assert html.index("shop@") < html.index("bob@") < html.index("ann@")


def test_list_needs_users_query(keeper: Callable[[str], Keeper]) -> None:
    assert keeper("Clerk").get(PAGE).status == 200
    shop = keeper("Shop")
    refused = shop.get(PAGE)
    assert refused.status == 403
    assert b"ann@example.test" not in refused.raw
    assert "Accounts" not in shop.page("/console/characters").links


@pytest.mark.parametrize(("table", "state"), [("bans", BANNED), ("mutes", MUTED)])
def test_penalties_are_listed_newest_first_with_end_and_reason(
    world: World, root: Keeper, table: str, state: str
) -> None:
    world.sql("DELETE FROM mutes")
    impose(world, table, {"Ann": FAR, "Clerk": None, "Bob": 1, "Shop": FAR + 1})
    page = root.page(state)
    assert list_names(root, state) == ["Shop", "Clerk", "Ann"]
    assert "Ann <b>Ann</b> cheats 2100-01-01 00:00:00 UTC 1970-01-01 00:00:00 UTC Root ann@example.test" in page.text
    assert "Clerk <b>Clerk</b> cheats permanent 1970-01-01 00:00:01 UTC Root clerk@example.test" in page.text
    assert "1 to 3 of 3 accounts" in page.text
    assert "or more" not in page.text


def test_state_filter_keeps_order_page_and_search(world: World, root: Keeper) -> None:
    impose(world, "bans", {"Ann": FAR, "Clerk": None, "Shop": FAR})
    by_email = root.page(BANNED).links["Email"]
    assert list_names(root, by_email) == ["Ann", "Clerk", "Shop"]
    assert root.page(by_email).links["Since"] == BANNED
    assert root.page(by_email).links["Show all"] == f"{PAGE}?sortby=email&sortdirection=ascending"
    second = root.page(root.page(f"{by_email}&pagesize=1").links["Next"])
    assert list_names(root, second.links["Next"]) == ["Shop"]
    assert list_names(root, second.links["First"]) == list_names(root, second.links["Previous"]) == ["Ann"]
    assert second.form(PAGE, "Search").fields["state"] == "banned"


def test_search_within_a_state_finds_only_its_accounts(world: World, root: Keeper) -> None:
    impose(world, "bans", {"Ann": FAR, "Clerk": 1, "Shop": None})
    assert list_names(root, f"{BANNED}&search=LERK") == []
    assert "No results among these accounts." in root.page(f"{BANNED}&search=clerk").text
    assert list_names(root, f"{BANNED}&search=nn@EX") == ["Ann"]
    assert list_names(root, f"{POWERS}&search=example") == ["Clerk", "Root", "Server", "Shop"]
    assert list_names(root, f"{MUTED}&search=mona") == ["Mona"]
    assert root.page(f"{BANNED}&search=ann").links["Show all"] == PAGE
    assert "search=ann" in root.page(f"{BANNED}&search=ann").links["Name"]


def test_long_list_shows_the_newest_and_finds_others_by_name(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (search, accounts):
        monkeypatch.setattr(module, "MAX_MATCHES", 2)
    impose(world, "bans", {"Ann": FAR, "Clerk": None, "Shop": FAR})
    page = root.page(BANNED)
    assert list_names(root, BANNED) == ["Shop", "Clerk"]
    assert "There are 2 or more accounts; those whose ban or mute ends last are listed." in page.text
    assert "1 to 2 of 2 or more accounts" in page.text
    assert list_names(root, f"{BANNED}&search=ann") == ["Ann"]
    assert list_names(root, f"{BANNED}&search=bob") == []
    assert list_names(root, f"{POWERS}&search=shop") == ["Shop"]
    assert list_names(root, f"{POWERS}&search=ann") == []
    assert "There are 2 or more accounts; the first by name are listed." in root.page(POWERS).text


def test_search_for_common_text_is_marked_incomplete(
    world: World, root: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All accounts match by email. If too many have the state, a limited number of matches is filtered by it."""
    impose(world, "bans", {"Ann": FAR, "Bob": FAR, "Clerk": None, "Mona": None, "Shop": FAR})
    # search limit of 6: only 5 accounts are banned, so the search examines all of them
    monkeypatch.setattr(search, "MAX_MATCHES", 6)
    assert "1 to 5 of 5 accounts" in root.page(f"{BANNED}&search=example").text
    monkeypatch.setattr(search, "MAX_MATCHES", 4)
    for path in (PAGE + "?", BANNED, POWERS):
        assert "or more accounts" in root.page(f"{path}&search=example").text
        assert "1 to 1 of 1 accounts" in root.page(f"{path}&search=shop@").text
    monkeypatch.setattr(search, "MAX_MATCHES", 1)
    assert "Too many names match to search them all" in root.page(f"{BANNED}&search=root").text


def test_account_with_any_permission_is_listed(world: World, root: Keeper) -> None:
    assert list_names(root, POWERS) == ["Clerk", "Root", "Server", "Shop"]
    for power in Powers._fields:
        # users_query is granted too: users_manage cannot be granted without it
        held = Powers()._replace(users_query=power == "users_manage")._replace(**{power: True})
        given = ", ".join(f"{name} = {{{str(has).lower()}}}" for name, has in held._asdict().items())
        world.sql(f"UPDATE users SET {given} WHERE id = $1", people.USER_IDS["Ann"])  # noqa: S608 - the test chooses the names
        assert list_names(root, POWERS) == ["Ann", "Clerk", "Root", "Server", "Shop"], power


def test_state_without_accounts_shows_a_message(world: World, root: Keeper) -> None:
    world.sql("DELETE FROM mutes")
    assert "No account is banned. Choose Show all to find an account to ban." in root.page(BANNED).text
    assert "No account is muted." in root.page(MUTED).text
    assert root.page(BANNED).links["Show all"] == PAGE
    assert "Show all" not in root.page(f"{PAGE}?state=&search=").links


def test_filters_by_role_and_sign_in_have_chips_and_shareable_addresses(world: World, root: Keeper) -> None:
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


def test_sign_ins_are_shown_only_with_the_audit_log(world: World) -> None:
    staff.add_account(world, "Reader", staff.save_role(world, "reader", ["users.query"]))
    user = world.run(users.find_by_fold(world.keeper.store, "reader"))
    assert user
    session = open_session(world, user.name, user.id)
    page = session.page(PAGE)
    assert "Last sign-in" not in page.text
    assert {"role"} == {"role", "signedinfrom", "signedinto"} & page.form(PAGE, "Search").fields.keys()
    assert session.get(f"{PAGE}?signedinfrom=1970-01-03").status == 403


def test_unknown_state_is_rejected(shared_root: Keeper) -> None:
    refused = shared_root.get(f"{PAGE}?state=asleep")
    assert refused.status == 400
    assert "The field 'state' must be banned or muted or powers, or left out." in Page(refused.raw.decode()).text
    assert shared_root.get(f"{BANNED}&sortby=colour").status == 400


def test_order_of_another_state_is_ignored(world: World, root: Keeper) -> None:
    """An order that the selected state filter does not offer is replaced by its default, also in the page's forms."""
    everybody = list_names(root, PAGE)
    for state in ("", "state=&", "state=all&", "state=ALL&"):
        page = root.page(f"{PAGE}?{state}sortby=newest")
        assert list_names(root, f"{PAGE}?{state}sortby=newest") == everybody
        assert "Name ▲" in page.links
        assert "sortby" not in page.form(PAGE, "Search").fields
    impose(world, "bans", {"Ann": FAR, "Clerk": None})
    assert list_names(root, f"{BANNED}&sortby=level") == list_names(root, f"{BANNED}&sortby=newest") == ["Clerk", "Ann"]
    assert "Since" not in root.page(f"{BANNED}&sortby=level").links
    assert "Name ▲" not in root.page(f"{BANNED}&sortby=").links
