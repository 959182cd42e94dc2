"""The change of an item's picture."""

from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store import pictures
from gamekeeper.store.engine import Writing
from gamekeeper.store.pictures import Picture


@dataclass(frozen=True, slots=True)
class ItemPicturePut:
    """A picture that the game published or removed. The audit log has its hash, never its content."""

    item_id: str
    before: str | None  # hash
    after: Picture | None
    kind = "item_picture_put"

    def whose(self) -> SubjectIds:
        return None, None

    def sides(self) -> tuple[ChangeSide, ChangeSide]:
        return self._make_side(self.before), self._make_side(self.after.hash if self.after else None)

    def _make_side(self, picture_hash: str | None) -> ChangeSide:
        return ChangeSide(command={"ItemId": self.item_id, "Hash": picture_hash})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        if self.after is None:
            pictures.delete(tx, self.item_id)
        else:
            pictures.save(tx, self.item_id, self.after)
