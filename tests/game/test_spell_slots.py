"""Slots of spells: the slot for a new spell, and the slot of a known one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamekeeper.game.core.refusals import NoFreeSpellSlot, SpellAlreadyKnown, SpellNotKnown
from gamekeeper.game.players import player_edits

SIZE = 5
known_spells = st.dictionaries(st.integers(0, SIZE - 1), st.text("abcdefgh", min_size=1, max_size=1)).filter(
    lambda known: len(set(known.values())) == len(known)
)


@given(known_spells)
def test_new_spell_takes_the_lowest_free_slot_or_is_refused(known: dict[int, str]) -> None:
    free = [slot for slot in range(SIZE) if slot not in known]
    if free:
        assert player_edits.find_free_spell_slot(known, "new", SIZE) == free[0]
    else:
        with pytest.raises(NoFreeSpellSlot, match="all 5 spell slots"):
            player_edits.find_free_spell_slot(known, "new", SIZE)


@given(known_spells)
def test_known_spell_is_found_and_cannot_be_learnt_twice(known: dict[int, str]) -> None:
    for slot, spell in known.items():
        assert player_edits.find_spell_slot(known, spell) == slot
        with pytest.raises(SpellAlreadyKnown):
            player_edits.find_free_spell_slot(known, spell, SIZE)
    with pytest.raises(SpellNotKnown):
        player_edits.find_spell_slot(known, "new")


def test_slot_beyond_the_size_does_not_make_room() -> None:
    with pytest.raises(NoFreeSpellSlot):
        player_edits.find_free_spell_slot({0: "a", 7: "b"}, "new", 1)
