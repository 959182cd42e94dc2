"""A character: the values of its record, and the rules about them."""

from dataclasses import dataclass

from gamekeeper.game.lookup import ZERO

NOTHING_EQUIPPED = (-1, -1, -1, -1, -1)
NO_STATS = (0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Player:
    id: str
    user_id: str
    name: str
    in_bank: bool = False
    max_vitals: tuple[int, ...] = (0, 0)
    level: int = 1
    exp: int = 0
    experience_to_next_level: int = 0
    class_id: str = ZERO
    gender: int = 0
    vitals: tuple[int, ...] = (0, 0)
    base_stats: tuple[int, ...] = NO_STATS
    stat_point_allocations: tuple[int, ...] = NO_STATS
    stat_points: int = 0
    equipment: tuple[int, ...] = NOTHING_EQUIPPED
    map_id: str = ZERO
    x: int = 0
    y: int = 0
    z: int = 0
    dir: int = 0
    sprite: str = ""
    face: str = ""
    dead: bool = False
    created_at: int = 0
    play_time_seconds: int = 0
    last_online: int | None = None


def unequipped(player: Player, emptied: set[int]) -> tuple[int, ...]:
    return tuple(-1 if slot in emptied else slot for slot in player.equipment)
