"""Commands to the game that change no data: kills, warps and chat messages. The game reads them in the change feed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gamekeeper.game.change import command
from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store.engine import Writing


@command
@dataclass(frozen=True, slots=True)
class GameCommanded:
    kind: str  # player_killed, player_warped, chat_sent
    player_id: str | None  # None: a chat message to more than one player
    details: Mapping[str, object]  # field of the API → value
    servers: Sequence[str]  # the game servers that must carry it out
    life_ms: int | None  # time until the command expires, in ms; None: never

    def whose(self) -> SubjectIds:
        return self.player_id, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, ChangeSide(command=self.details)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        pass
