"""Every write to players and over the game link: audit log, X-Reason and permissions."""

import json

import people
from game_server import LINK
from gamekeeper.game.core.writes import erase_names
from gamekeeper.http.contract.operation import WRITE
from gamekeeper.http.routes import ROUTES
from world import PLAYERS, World
from writes import CASES, KEEPER_PLAYERS, Case, every_write, token_of


def test_table_lists_every_write_to_players_and_over_the_link() -> None:
    places = (PLAYERS, KEEPER_PLAYERS, LINK)
    writes = [route for route in ROUTES if route.access is WRITE and route.path.startswith(places)]
    # the table leaves out bans, mutes and kicks (paths with /admin/), which test_moderation.py tests
    writes = [route for route in writes if "/admin/" not in route.path]
    assert sorted(case.route for case in CASES) == sorted(f"{route.method} {route.path}" for route in writes)


def test_longest_names_are_erased_first() -> None:
    assert erase_names("Ann Lee asked Lee", ["Lee", "Ann Lee"]) == "(erased) asked (erased)"


@every_write
def test_audit_log_records_actor_target_change_and_reason(ready: World, case: Case) -> None:
    pair, seen = token_of(ready, "Root"), len(ready.ledger())
    answer = ready.call(
        case.route.partition(" ")[0],
        case.path,
        body=case.body,
        token=pair.access,
        headers={"X-Reason": "  naïve refund "},
    ).accepted()
    rows = ready.ledger()[seen:]
    assert [row.kind for row in rows] == list(case.rows)
    for row in rows:
        before, after = json.loads(row.before or "null"), json.loads(row.after or "null")
        expected_before, expected_after = case.rows[row.kind]
        assert before == expected_before or expected_before is ...
        assert after == expected_after
        assert (row.actor_id, row.token_id) == (people.USER_IDS["Root"], pair.id)
        assert (row.request_id, row.reason) == (answer.headers["x-request-id"], "naïve refund")
        assert (row.player_id, row.user_id) == (case.player, case.user)
        assert row.over_link is case.path.startswith(LINK)
        assert row.at > 1_700_000_000_000
