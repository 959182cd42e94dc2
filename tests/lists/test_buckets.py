"""The bucket index, compared with the simplest model: a sorted list of keys."""

from bisect import bisect_left, insort
from collections.abc import Generator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.lists import list_index
from gamekeeper.game.lists.list_index import Bucket, BucketBlock, BucketIndex, build_index
from gamekeeper.store.players.players import RankKey
from people import guid

NAMES = st.text("abß", max_size=5)  # names of few letters, so that many have the same prefix
RANKS = st.builds(RankKey, st.integers(1, 3), st.integers(0, 3), st.integers(0, 9).map(guid))
KINDS = [("", NAMES), (RankKey(0, 0, ZERO_GUID), RANKS)]
kinds = pytest.mark.parametrize(("lowest", "some"), KINDS, ids=["names", "ranks"])


@pytest.fixture(scope="module", autouse=True)
def small() -> Generator[None]:
    """Make buckets and blocks of the index small: a few dozen keys split them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(list_index, "BUCKET_ROWS", 4)
        patch.setattr(list_index, "SPLIT_ROWS", 8)
        patch.setattr(list_index, "BLOCK_BUCKETS", 3)
        yield


class Pair(NamedTuple):
    order: BucketIndex
    keys: list[Any]  # sorted list of keys: the model that the bucket index is compared with


def built(lowest: object, keys: Sequence[Any]) -> BucketIndex:
    return build_index([lowest, *keys[list_index.BUCKET_ROWS :: list_index.BUCKET_ROWS]], len(keys))


def agrees(pair: Pair, others: Sequence[Any]) -> bool:
    """Compare every position and every key of the index with the model, also keys that are not in the list."""
    found, keys = pair
    lows = [low for block in found.blocks for low in block.starts]
    counts = [count for block in found.blocks for count in block.counts]
    assert found.total == len(keys) == sum(counts)
    assert all(one < two for one, two in pairwise(lows))
    for place, key in enumerate(keys):
        bucket = found.find_at_position(place)
        assert bucket == found.find_by_key(key)
        assert bucket.before <= place < bucket.before + bucket.size
        assert keys[bucket.before :] == [each for each in keys if each >= bucket.start]
    for key in others:
        bucket = found.find_by_key(key)
        assert bucket.before <= bisect_left(keys, key) <= bucket.before + bucket.size
    return True


def divide(pair: Pair) -> BucketIndex:
    found, keys = pair
    for bucket in found.find_crowded():
        begin = found.find_by_key(bucket.start).before
        found = found.split(bucket.start, keys[begin : begin + bucket.size])
    assert found.find_crowded() == []
    return found


def change(pair: Pair, keys: Sequence[Any]) -> Pair:
    """Add each key to the index, or remove it if it is in the list."""
    model, steps = list(pair.keys), list[tuple[Any, int]]()
    for key in keys:
        if key in model:
            model.remove(key)
            steps.append((key, -1))
        else:
            insort(model, key)
            steps.append((key, 1))
    return Pair(pair.order.apply_steps(steps), model)


@kinds
@settings(max_examples=50)
@given(data=st.data())
def test_index_agrees_with_sorted_list_and_old_indexes_stay_unchanged(
    lowest: object, some: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    keys = sorted(data.draw(st.sets(some, max_size=60)))
    history = [Pair(built(lowest, keys), keys)]
    for _ in range(data.draw(st.integers(1, 5))):
        now = change(history[-1], data.draw(st.lists(some, max_size=40)))
        history.append(now)
        how = data.draw(st.sampled_from(["", "divided", "packed"]))
        if how:
            history.append(Pair(divide(now) if how == "divided" else now.order.merge_small(), now.keys))
    others = data.draw(st.lists(some, max_size=10))
    assert all(agrees(each, others) for each in history)


def test_key_below_every_start_belongs_into_first_bucket() -> None:
    late = BucketIndex([BucketBlock.from_counts(["m", "p"], [2, 1]), BucketBlock.from_counts(["t"], [4])])
    assert late.find_by_key("a") == Bucket("m", 0, 2)
    assert late.apply_steps([("a", 1), ("", 1)]).find_at_position(3) == Bucket("m", 0, 4)


def test_merge_leaves_no_two_neighbours_that_fit_into_one_bucket() -> None:
    keys = [f"{number:03}" for number in range(200)]
    pair = change(Pair(built("", keys), keys), [key for key in keys if not key.endswith(("3", "7"))])
    packed = pair.order.merge_small()
    counts = [count for block in packed.blocks for count in block.counts]
    assert agrees(Pair(packed, pair.keys), keys)
    assert all(one + two > list_index.BUCKET_ROWS for one, two in pairwise(counts))
    assert len(counts) < sum(len(block.starts) for block in pair.order.blocks)
    assert (packed.blocks[0].starts[0], packed.total) == ("", 40)


@kinds
@settings(max_examples=50)
@given(data=st.data())
def test_no_bucket_starts_at_a_removed_key(lowest: object, some: st.SearchStrategy[Any], data: st.DataObject) -> None:
    keys = sorted(data.draw(st.sets(some, max_size=60)) - {lowest})
    gone = data.draw(st.lists(st.sampled_from(keys), unique=True)) if keys else []
    pair = change(Pair(built(lowest, keys), keys), gone)
    left = pair.order.merge_starting_at(gone)
    assert agrees(Pair(left, pair.keys), keys)
    assert {low for block in left.blocks for low in block.starts} <= {lowest, *pair.keys}
    assert agrees(Pair(divide(Pair(left, pair.keys)), pair.keys), keys)
