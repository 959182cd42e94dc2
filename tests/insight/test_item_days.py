"""Totals of items at the ends of days: each change belongs to the day of its own time, whatever its number is."""

from datetime import UTC, datetime

import pytest

from economics import catch_up, give
from findings import errors, findings
from gamekeeper.game.insight import economy, flows
from gamekeeper.ground.instants import DAY_MS
from gamekeeper.store.insight.economy import ItemDay
from people import ANN, COIN
from signalling import list_signals
from world import World

pytestmark = pytest.mark.both_engines

DAYS = (-20, -9, -7, -5, -3, -1)  # on which the number of coins changes, counted from today
FIX, RECOUNT, NOTHING = "gamekeeper doctor --fix", "gamekeeper economy --recount", "Nothing repairs it"
START = 1250  # coins of Ann, at noon of the first day


@pytest.fixture(name="midnight")
def find_midnight(world: World) -> int:
    """Move all changes to noon of yesterday, and return the time at which today began."""
    midnight = world.ledger()[-1].at // DAY_MS * DAY_MS
    world.sql("UPDATE ledger SET at = $1", midnight - DAY_MS // 2)
    return midnight


def change(world: World, at: int, name: str, gain: int) -> None:
    """Give or take coins at a time."""
    give(world, name, abs(gain), what="give" if gain > 0 else "take")
    world.sql("UPDATE ledger SET at = $1 WHERE seq = $2", at, world.ledger()[-1].seq)


def read_days(world: World, midnight: int, first: int = -1) -> list[tuple[int | None, int | None]]:
    """Read quantity and holders at the end of each day, from this day on (-1: yesterday)."""
    since, to = (datetime.fromtimestamp((midnight + day * DAY_MS) / 1000, UTC).date() for day in (first, 0))
    days = world.get(f"/api/keeper/v1/economy/items/{COIN.id}?from={since}&to={to}").json["Days"]
    return [(each["Quantity"], each["Holders"]) for each in days]


def find_unbalanced(world: World, midnight: int) -> list[str]:
    """Return the rules of the signals that the comparison of yesterday's and today's sums raises."""
    world.sql("UPDATE rollups SET position = $1 WHERE name = 'conservation'", midnight // DAY_MS - 1)
    world.sql("UPDATE economy SET at = at + $1", DAY_MS)  # as if today were over
    for _ in range(2):
        world.run(world.keeper.signal_checks.run())
    world.sql("UPDATE economy SET at = at - $1", DAY_MS)
    return [each["Rule"] for each in list_signals(world)]


@pytest.mark.parametrize("batch", [1, 500])
def test_changes_across_midnight_count_for_their_own_day(
    world: World, midnight: int, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(economy, "BATCH_CHANGES", batch)
    catch_up(world)
    change(world, midnight - 200, "Zoe", 3)
    change(world, midnight + 100, "Bob", 100)
    change(world, midnight + 110, "Zoe", 5)
    change(world, midnight - 50, "Bob", 1)
    change(world, midnight - 40, "Zoe", -3)
    change(world, midnight + 120, "Bob", -101)
    change(world, midnight - 30, "Ann", -50)
    catch_up(world)
    assert read_days(world, midnight) == [(START - 49, 2), (START - 45, 2)]
    assert find_unbalanced(world, midnight) == []
    assert errors(world) == []


def test_many_later_changes_and_older_days_keep_exact_quantities(
    world: World, midnight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Holders are unknown where they cannot be found with a bounded number of changes."""
    world.sql("UPDATE ledger SET at = at - $1", 3 * DAY_MS)
    catch_up(world)
    monkeypatch.setattr(flows, "MOST_LATER", 2)
    change(world, midnight - DAY_MS, "Zoe", 4)
    change(world, midnight + 10, "Bob", 5)
    change(world, midnight + 20, "Bob", 6)
    change(world, midnight - 50, "Bob", 7)
    catch_up(world)
    assert read_days(world, midnight) == [(START + 11, None), (START + 22, 3)]
    change(world, midnight - 40, "Ann", 1)  # its row of yesterday was deleted, and must not come back without Bob's
    catch_up(world)
    assert read_days(world, midnight) == [(START + 12, None), (START + 23, 3)]
    change(world, midnight - 3 * DAY_MS, "Zoe", 1)
    catch_up(world)
    assert read_days(world, midnight, -4) == [
        (START, 1), (START + 1, None), (START + 1, None), (START + 13, None), (START + 24, 3),
    ]  # fmt: skip
    assert find_unbalanced(world, midnight) == []
    assert errors(world) == []


def test_recount_across_midnight_leaves_no_wrong_day(world: World, midnight: int) -> None:
    catch_up(world)
    change(world, midnight - 200, "Bob", 1)
    catch_up(world)
    world.run(world.keeper.economy.recount())
    change(world, midnight - 100, "Zoe", 10)
    change(world, midnight + 100, "Bob", 100)
    catch_up(world)
    assert read_days(world, midnight) == [(START + 11, None), (START + 111, 3)]
    assert find_unbalanced(world, midnight) == []
    assert errors(world) == []


@pytest.fixture(name="today")
def count_days(world: World, midnight: int) -> int:
    """Count changes of coins on DAYS, and return the number of today."""
    world.sql("UPDATE ledger SET at = $1", midnight + DAYS[0] * DAY_MS)
    catch_up(world)
    for day, name, gain in zip(DAYS[1:], ("Bob", "Zoe", "Ann", "Bob", "Zoe"), (5, 2, 3, -5, 1), strict=True):
        change(world, midnight + day * DAY_MS, name, gain)
    catch_up(world)
    return midnight // DAY_MS


def list_wrong_days(world: World) -> list[str]:
    return [each for each in errors(world) if "the flows give" in each or "the changes of players give" in each]


def test_doctor_corrects_single_wrong_days(world: World, today: int) -> None:
    before = world.read_tables(["item_days"])
    for numbers in (("quantity",), ("holders",), ("quantity", "holders")):
        for number in numbers:
            wrong = f"UPDATE item_days SET {number} = {number} + 3 WHERE day IN ($1, $2) AND item_id = $3"  # noqa: S608 - the text is of this test
            world.sql(wrong, today - 7, today - 1, COIN.id)
        found = errors(world)
        assert len(found) == len(list_wrong_days(world)) == 2
        assert all(each.endswith(FIX) for each in found), found
        assert "Corrected 2 totals of items at the ends of days." in {
            each.message for each in findings(world, fix=True)
        }
        assert world.read_tables(["item_days"]) == before
        assert errors(world) == []


DAY_IS_WRONG = "UPDATE item_days SET quantity = quantity + 3 WHERE item_id = $1 AND day"
FLOW_IS_WRONG = "UPDATE item_flows SET created = created + 3 WHERE item_id = $1 AND day = $2 - 5"
TRIMMED = "UPDATE epoch SET trimmed = 1 WHERE $1 <> '' AND $2 > 0"


@pytest.mark.parametrize(
    ("statements", "advice"),
    [
        pytest.param([TRIMMED, FLOW_IS_WRONG], NOTHING, id="a flow after a trim"),
        pytest.param([TRIMMED, f"{DAY_IS_WRONG} = $2 - 7"], NOTHING, id="a day after a trim"),
        pytest.param([FLOW_IS_WRONG, f"{DAY_IS_WRONG} = $2 - 3"], NOTHING, id="a flow and a day"),
        pytest.param([f"{DAY_IS_WRONG} <= $2 - 5"], NOTHING, id="a run of days"),
        pytest.param([f"{DAY_IS_WRONG} = $2 - 20"], NOTHING, id="the first day"),
        pytest.param(
            [
                f"UPDATE holdings SET quantity = quantity+3 WHERE player_id = '{ANN.id}' AND thing_id = $1 AND $2 > 0",  # noqa: S608 - the text is of this test
                "UPDATE item_totals SET quantity = quantity + 3 WHERE item_id = $1 AND $2 > 0",
            ],
            RECOUNT,
            id="holdings and totals by as much",
        ),
    ],
)
def test_doctor_leaves_days_that_it_cannot_judge(world: World, today: int, statements: list[str], advice: str) -> None:
    """Right numbers of past days cannot be recovered, so a fault elsewhere must not change them."""
    for statement in statements:
        world.sql(statement, COIN.id, today)
    before = world.read_tables(["item_days"])
    findings(world, fix=True)
    assert world.read_tables(["item_days"]) == before
    found = list_wrong_days(world)
    assert found
    assert all(advice in each and FIX not in each for each in found), found


def test_correction_leaves_days_that_changed_since_they_were_read(world: World, today: int) -> None:
    read, right = ItemDay(today - 5, START + 9, 3), ItemDay(today - 5, START, 2)
    before = world.read_tables(["item_days"])
    assert world.run(world.keeper.store.write(lambda tx: flows.correct(tx, [(COIN.id, read, right)]))) == 0
    assert world.read_tables(["item_days"]) == before
