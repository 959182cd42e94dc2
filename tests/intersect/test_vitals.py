from gamekeeper.intersect.catalogue import ClassGrowth, ItemBonus, Vitals

WARRIOR = ClassGrowth((100, 20), (10, 2), by_percent=False, first_exp=100, exp_increase=50, overrides={3: 777})
MAGE = ClassGrowth((50, 80), (5, 10), by_percent=True)
VITALS = Vitals(
    {"w": WARRIOR, "m": MAGE}, {"helmet": ItemBonus((10, 2), (10, 0)), "curse": ItemBonus((-1000, -1000))}, 100
)


def test_vitals_grow_by_level() -> None:
    assert VITALS.compute_max("w", 1, []) == (100, 20)
    assert VITALS.compute_max("w", 5, []) == (140, 28)
    assert VITALS.compute_max("m", 3, []) == (55, 96)  # by percent: 50 * 1.05², 80 * 1.1²
    assert VITALS.compute_max("?", 50, []) == (20, 20)  # of a deleted class


def test_vitals_of_extreme_levels_are_limited() -> None:
    most = 2**31 - 1
    giant = ClassGrowth((10, -10), (50, 50), by_percent=True, first_exp=1, exp_increase=50)
    there = Vitals({"g": giant, "w": WARRIOR}, {"helmet": ItemBonus((10, 2), (10, 0))}, most)
    assert there.compute_max("g", 2_000_000, ["helmet"]) == (most, 0)
    assert there.compute_max("w", most, ["helmet"]) == (most, most)
    assert there.compute_exp_to_next("g", 2_000_000) == 2**63 - 1


def test_equipment_adds_to_vitals() -> None:
    assert VITALS.compute_max("w", 5, ["helmet", "unknown"]) == (140 + 10 + 14, 28 + 2)
    assert VITALS.compute_max("w", 1, ["curse"]) == (1, 0)


def test_experience_to_next_level() -> None:
    assert [VITALS.compute_exp_to_next("w", level) for level in (1, 2, 3, 100)] == [100, 150, 777, -1]
    assert VITALS.compute_exp_to_next("?", 1) == 0
