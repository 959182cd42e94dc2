"""The order against the plainest one there is: a sorted list of its keys."""

from bisect import bisect_left, insort
from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.game import order
from gamekeeper.game.lookup import ZERO
from gamekeeper.game.order import Block, Bucket, Order, build
from gamekeeper.store.players import RankKey
from people import guid

NAMES = st.text("abß", max_size=5)  # many that begin alike
RANKS = st.builds(RankKey, st.integers(1, 3), st.integers(0, 3), st.integers(0, 9).map(guid))
KINDS = [("", NAMES), (RankKey(0, 0, ZERO), RANKS)]
kinds = pytest.mark.parametrize(("lowest", "some"), KINDS, ids=["names", "ranks"])


@pytest.fixture(scope="module", autouse=True)
def small() -> Generator[None]:
    """So that a few dozen keys divide buckets and blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "FULL", 4)
        patch.setattr(order, "CROWDED", 8)
        patch.setattr(order, "BLOCK", 3)
        yield


class Pair(NamedTuple):
    order: Order
    keys: list[Any]  # sorted: the model


def built(lowest: object, keys: Sequence[Any]) -> Order:
    return build([lowest, *keys[order.FULL :: order.FULL]], len(keys))


def agrees(pair: Pair, others: Sequence[Any]) -> bool:
    """Every place and every key, those that are not in it too."""
    found, keys = pair
    lows = [low for block in found.blocks for low in block.lows]
    counts = [count for block in found.blocks for count in block.counts]
    assert found.total == len(keys) == sum(counts)
    assert all(one < two for one, two in pairwise(lows))
    for place, key in enumerate(keys):
        bucket = found.at(place)
        assert bucket == found.of(key)
        assert bucket.before <= place < bucket.before + bucket.size
        assert keys[bucket.before :] == [each for each in keys if each >= bucket.low]
    for key in others:
        bucket = found.of(key)
        assert bucket.before <= bisect_left(keys, key) <= bucket.before + bucket.size
    return True


def divide(pair: Pair) -> Order:
    found, keys = pair
    for bucket in found.crowded():
        begin = found.of(bucket.low).before
        found = found.divided(bucket.low, keys[begin : begin + bucket.size])
    assert found.crowded() == []
    return found


def change(pair: Pair, keys: Sequence[Any]) -> Pair:
    """Each key comes, or goes if it is there."""
    model, steps = list(pair.keys), list[tuple[Any, int]]()
    for key in keys:
        if key in model:
            model.remove(key)
            steps.append((key, -1))
        else:
            insort(model, key)
            steps.append((key, 1))
    return Pair(pair.order.after(steps), model)


@kinds
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_whatever_comes_and_goes_it_agrees_and_the_older_ones_stay_as_they_were(
    lowest: object, some: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    keys = sorted(data.draw(st.sets(some, max_size=60)))
    history = [Pair(built(lowest, keys), keys)]
    for _ in range(data.draw(st.integers(1, 5))):
        now = change(history[-1], data.draw(st.lists(some, max_size=40)))
        history.append(now)
        how = data.draw(st.sampled_from(["", "divided", "packed"]))
        if how:
            history.append(Pair(divide(now) if how == "divided" else now.order.packed(), now.keys))
    others = data.draw(st.lists(some, max_size=10))
    assert all(agrees(each, others) for each in history)


@kinds
def test_an_empty_list(lowest: object, some: st.SearchStrategy[Any]) -> None:
    empty = built(lowest, [])
    assert (empty.total, empty.packed().total, empty.crowded()) == (0, 0, [])

    @given(some)
    def asked(key: object) -> None:
        assert empty.of(key) == Bucket(lowest, 0, 0)
        one = empty.after([(key, 1)])
        assert (one.at(0), one.of(key)) == (Bucket(lowest, 0, 1), Bucket(lowest, 0, 1))
        assert one.after([(key, -1)]).total == 0

    asked()


def test_a_key_below_every_low_belongs_into_the_first_bucket() -> None:
    late = Order([Block.of(["m", "p"], [2, 1]), Block.of(["t"], [4])])
    assert late.of("a") == Bucket("m", 0, 2)
    assert late.after([("a", 1), ("", 1)]).at(3) == Bucket("m", 0, 4)


def test_empty_buckets_and_blocks_are_passed_over() -> None:
    gaps = Order([Block.of(["", "b"], [0, 2]), Block.of(["c", "d"], [0, 0]), Block.of(["e"], [1])])
    assert [gaps.at(place) for place in range(3)] == [Bucket("b", 0, 2), Bucket("b", 0, 2), Bucket("e", 2, 1)]


def test_keys_that_grow_divide_buckets_and_then_blocks() -> None:
    pair = Pair(built("", []), [])
    for number in range(0, 400, 8):
        pair = change(pair, [f"same{each:04}" for each in range(number, number + 8)])
        pair = Pair(divide(pair), pair.keys)
        assert agrees(pair, [])
    sizes = [len(block.lows) for block in pair.order.blocks]
    assert sum(sizes) >= 400 // order.CROWDED
    assert len(sizes) > 10
    assert max(sizes) <= order.BLOCK * 1.5


def test_packing_leaves_no_two_neighbours_that_fit_into_one() -> None:
    keys = [f"{number:03}" for number in range(200)]
    pair = change(Pair(built("", keys), keys), [key for key in keys if not key.endswith(("3", "7"))])
    packed = pair.order.packed()
    counts = [count for block in packed.blocks for count in block.counts]
    assert agrees(Pair(packed, pair.keys), keys)
    assert all(one + two > order.FULL for one, two in pairwise(counts))
    assert len(counts) < sum(len(block.lows) for block in pair.order.blocks)
    assert (packed.blocks[0].lows[0], packed.total) == ("", 40)


@kinds
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_no_bucket_is_known_by_a_key_that_is_gone(
    lowest: object, some: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    keys = sorted(data.draw(st.sets(some, max_size=60)) - {lowest})
    gone = data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []
    pair = change(Pair(built(lowest, keys), keys), gone)
    left = pair.order.without(gone)
    assert agrees(Pair(left, pair.keys), keys)
    assert {low for block in left.blocks for low in block.lows} <= {lowest, *pair.keys}
    assert agrees(Pair(divide(Pair(left, pair.keys)), pair.keys), keys)


def test_what_stayed_the_same_is_shared() -> None:
    keys = [f"{number:03}" for number in range(100)]
    before = built("", keys)
    after = before.after([("0005", 1)])
    assert [one is two for one, two in zip(before.blocks, after.blocks, strict=True)].count(False) == 1
