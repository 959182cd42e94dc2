from gamekeeper.intersect import catalogue
from gamekeeper.intersect.catalogue import READERS, GameData
from gamekeeper.intersect.data import Report
from gamekeeper.intersect.values import FIELDS, OWN
from gamekeeper.store.world.catalogue import CatalogueItem
from loops import over

ID = "00000000-0000-4000-8000-000000000001"


@over(
    "kind, flag, stacks",
    (0, 1, True),
    (0, 0, False),
    (3, 0, True),
    (1, 1, False),
    (6, 1, False),
    (2, 1, True),
    (2, b"\x00", False),
)
def test_item_type_decides_stacking(kind: int, flag: object, *, stacks: bool) -> None:
    found = catalogue.read_item((ID, "Thing", kind, flag, "thing.png", 8, 500, None, None))
    assert found == CatalogueItem(ID, "Thing", stacks, 500 if stacks else None, 8 if kind == 6 else 0, "thing.png")


def test_too_large_bag_is_limited_and_listed() -> None:
    game = GameData(Report({"items": "Items"}))
    game.add("items", [(ID, "Sack", 6, 0, None, 2**31 - 1, None, None, None)], [None] * 8)
    assert game.entries["items"] == {ID: CatalogueItem(ID, "Sack", False, None, 1000, None)}
    ((table, own_id, reason, taken),) = game.report.entries
    assert (table, own_id, taken) == ("Items", ID, True)
    assert "2147483647" in reason


@over("level", "²", "9" * 5000, "-1", "")
def test_invalid_experience_overrides_are_ignored(level: str) -> None:
    row = (ID, "Warrior", "[1,1]", "[1,1]", 0, 1, 1, f'{{"{level}": 5, "2": {2**70}, "3": 7}}')
    assert catalogue.read_class(row).overrides == {3: 7}


def test_every_kind_of_field_has_a_reader() -> None:
    kinds = {field.kind for fields in FIELDS.values() for field in fields.values()}
    assert kinds <= {*READERS, OWN}
