"""The players of the demo, their items and guilds. They are generated deterministically, so every demo is equal."""

from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from random import Random
from typing import NamedTuple, TypeVar

from gamekeeper.demo import world
from gamekeeper.demo.world import make_numbered_id, make_numbered_name, make_stable_id
from gamekeeper.game.access.passwords import NO_PASSWORD
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.player import BANK, INVENTORY, NOTHING_EQUIPPED, Player, SlotAddress, Stack
from gamekeeper.game.players.changes import PlayerState
from gamekeeper.game.players.inventory import read_capacity
from gamekeeper.ground.instants import DAY_MS, HOUR_MS
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.accounts.users import User
from gamekeeper.store.world.catalogue import CatalogueItem, CatalogueVariable, NamedEntry
from gamekeeper.store.world.guilds import GuildColumns, GuildMember

T = TypeVar("T")
FullPlayer = tuple[Player, PlayerState]
Slots = dict[SlotAddress, Stack]

SEED = "gamekeeper"
HIGHEST_LEVEL = 60
BUSIEST_LEVEL = 48
STRONGBOX_LEVEL = 45
FIRST_DAY = 1_735_689_600_000  # 2025-01-01 in ms: creation of the first demo player
LAST_DAY = 1_767_225_600_000  # 2026-01-01 in ms: later than every last log-in of a demo player
SIZES = read_capacity(Settings())
BAG_SIZES = {item.id: item.bag_slots for item in world.ITEMS}


class HashDice:
    """Pseudo-random numbers from a hash, for numbered players: seeding `Random` for each would be too slow."""

    __slots__ = ("_left",)

    def __init__(self, number: int) -> None:
        self._left = int.from_bytes(blake2b(f"{SEED} {number}".encode(), digest_size=40).digest(), "big")

    def random(self) -> float:
        return self.randrange(1 << 53) / (1 << 53)

    def randrange(self, stop: int, /) -> int:
        self._left, thrown = divmod(self._left, stop)
        return thrown

    def randint(self, a: int, b: int, /) -> int:
        self._left, thrown = divmod(self._left, b - a + 1)
        return a + thrown

    def choice(self, seq: Sequence[T], /) -> T:
        self._left, thrown = divmod(self._left, len(seq))
        return seq[thrown]


Dice = Random | HashDice


class DemoSample(NamedTuple):
    """A player, an item, a spell and so on for the examples that the demo prints."""

    player: Player
    item: CatalogueItem
    spell: NamedEntry  # a spell that the example player does not know yet
    variable: CatalogueVariable
    bag_id: str
    account: str  # name of the example player's account


def build_named_players() -> list[FullPlayer]:
    owners = [(name, account) for account, names in world.ACCOUNTS.items() for name in names]
    return [_build_named(number, name, account) for number, (name, account) in enumerate(owners)]


def build_account(user_id: str, name: str, password: str, powers: Powers, created_at: int = 0) -> User:
    return User(user_id, name, f"{name.lower()}@example.test", password, powers, created_at, None, None)


def build_numbered_players(numbers: Iterable[int]) -> list[FullPlayer]:
    """Build numbered demo players, each with an account of the same name."""
    return [_build_numbered(HashDice(number), number) for number in numbers]


def build_numbered_account(player: Player, created_at: int = 0) -> User:
    return build_account(player.user_id, player.name, NO_PASSWORD, world.NO_POWERS, created_at)


def build_sample() -> DemoSample:
    player, belongings = next(each for each in build_named_players() if each[0].name == world.BUSIEST)
    unknown = next(spell for spell in world.SPELLS if spell.id not in belongings.spells.values())
    owner = next(name for name, theirs in world.ACCOUNTS.items() if player.name in theirs)
    return DemoSample(player, world.DRAUGHT, unknown, world.DRAGONS, _make_bag_id(player.name, "pack"), owner)


def _seed_dice(what: str) -> Random:
    return Random(f"{SEED} {what}")  # noqa: S311 - a fixed seed, so that every demo is equal


def _build_named(number: int, name: str, account: str) -> FullPlayer:
    dice = _seed_dice(name)
    level = BUSIEST_LEVEL if name == world.BUSIEST else 1 + round((HIGHEST_LEVEL - 1) * dice.random() ** 1.5)
    created_at = FIRST_DAY + (number * 36 + dice.randrange(36)) * HOUR_MS
    who = PlayerIdentity(make_stable_id("player", name), make_stable_id("user", account), name, created_at)
    kind = dice.choice(world.CLASSES)
    if name == world.NEWCOMER:
        return _build_player(dice, who, 1, kind, ()), PlayerState()
    worn = [dice.choice(world.HELMETS), dice.choice(world.ARMORS), kind.weapon]
    worn += [dice.choice(world.SHIELDS), dice.choice(world.BOOTS)] if level > HIGHEST_LEVEL // 4 else []
    player = _build_player(dice, who, level, kind, worn)
    slots = _fill_slots(dice, name, level, worn)
    return player, PlayerState(
        slots=slots,
        bags={stack.bag_id: BAG_SIZES[stack.item_id] for stack in slots.values() if stack.bag_id},
        spells={slot: spell.id for slot, spell in enumerate(kind.spells[: 1 + level // 10])},
        variables=_choose_variables(dice, level),
    )


class PlayerIdentity(NamedTuple):
    id: str
    user_id: str
    name: str
    created_at: int


def _build_player(
    dice: Dice, who: PlayerIdentity, level: int, kind: world.DemoClass, worn: Sequence[CatalogueItem]
) -> Player:
    health, mana = kind.health[0] + kind.health[1] * level, kind.mana[0] + kind.mana[1] * level
    needed = 50 * level * level
    exp = dice.randrange(needed)
    gender = dice.randrange(2)
    dead = who.name == world.DEAD
    return Player(
        id=who.id,
        user_id=who.user_id,
        name=who.name,
        in_bank=who.name == world.BANKING,
        max_vitals=(health, mana),
        level=level,
        exp=exp,
        experience_to_next_level=needed,
        class_id=kind.id,
        gender=gender,
        vitals=(0 if dead else dice.randint(health // 2, health), dice.randint(mana // 3, mana)),
        base_stats=kind.stats,
        stat_point_allocations=tuple([dice.randrange(level) for _ in kind.stats]),
        stat_points=dice.randrange(6),
        equipment=(*range(len(worn)), *NOTHING_EQUIPPED[len(worn) :]),
        map_id=dice.choice(world.MAPS).id,
        x=dice.randrange(64),
        y=dice.randrange(48),
        dir=dice.randrange(4),
        sprite=_build_sprite(kind.weapon.name, gender),
        face=f"face-{dice.randrange(12)}.png",
        dead=dead,
        created_at=who.created_at,
        play_time_seconds=level * level * 400 + dice.randrange(3600),
        last_online=LAST_DAY - dice.randrange(60 * 24) * HOUR_MS,
    )


@cache
def _build_sprite(weapon: str, gender: int) -> str:
    return f"{weapon.lower().replace(' ', '-')}-{gender}.png"


def _fill_slots(dice: Random, name: str, level: int, worn: Sequence[CatalogueItem]) -> Slots:
    slots = {(INVENTORY, slot): Stack(item.id, 1, None, _choose_buffs(dice)) for slot, item in enumerate(worn)}
    if name == world.FULLEST:
        return (
            _choose_full_stacks(dice, INVENTORY, SIZES.inventory) | _choose_full_stacks(dice, BANK, SIZES.bank) | slots
        )
    slots |= _choose_stacks(dice, INVENTORY, len(worn), dice.randint(4, 18))
    slots |= _choose_stacks(dice, BANK, 1, dice.randint(5, 60))
    if level >= STRONGBOX_LEVEL:
        strongbox = _make_bag_id(name, "strongbox")
        slots[BANK, 0] = Stack(world.CHEST.id, 1, strongbox)
        slots |= _choose_stacks(dice, strongbox, 0, 16)
    if name in world.WITH_A_PACK:
        slots[INVENTORY, SIZES.inventory - 1] = Stack(world.PACK.id, 1, _make_bag_id(name, "pack"))
        slots |= _choose_stacks(dice, _make_bag_id(name, "pack"), 0, 5)
    if name == world.BUSIEST:
        pouch = _make_bag_id(name, "pouch")
        slots[_make_bag_id(name, "pack"), 6] = Stack(world.POUCH.id, 1, pouch)
        slots |= {(pouch, 0): Stack(world.HERB.id, 40), (pouch, 1): Stack(world.KEY.id, 1)}
    return slots


def _make_bag_id(name: str, bag: str) -> str:
    return make_stable_id("bag", f"{name}'s {bag}")


def _choose_stacks(dice: Random, place: str, first: int, count: int) -> Slots:
    """Build a demo player's stacks: coins first, then random items, within each item's stack limit."""
    wares = [world.COIN, *(dice.choice(world.STACKS[1:]) for _ in range(count - 1))]
    most = [item.max_stack or 5000 for item in wares]
    return {(place, first + number): Stack(item.id, dice.randint(1, most[number])) for number, item in enumerate(wares)}


def _choose_full_stacks(dice: Random, place: str, size: int) -> Slots:
    wares = [item for item in world.STACKS if item.max_stack]
    chosen = [dice.choice(wares) for _ in range(size)]
    return {(place, slot): Stack(item.id, item.max_stack or 1) for slot, item in enumerate(chosen)}


def _choose_buffs(dice: Random) -> tuple[int, ...]:
    return tuple(max(0, dice.randint(-3, 4)) for _ in range(5))


def _choose_variables(dice: Random, level: int) -> dict[str, int | bool]:
    return {
        world.DRAGONS.id: level // 8,
        world.REPUTATION.id: dice.randint(-100, 900),
        world.STREAK.id: dice.randrange(30),
        world.FISHING.id: dice.randrange(100),
        world.TUTORIAL.id: True,
        world.BRIDGE.id: dice.choice((True, False)),
        world.PARDON.id: dice.choice((True, False)),
    }


def _build_numbered(dice: Dice, number: int) -> FullPlayer:
    level = 1 + int(HIGHEST_LEVEL * dice.random() ** 3)
    kind = dice.choice(world.CLASSES)
    created_at = FIRST_DAY + dice.randrange(LAST_DAY - FIRST_DAY)
    who = PlayerIdentity(
        make_numbered_id("player", number), make_numbered_id("user", number), make_numbered_name(number), created_at
    )
    player = _build_player(dice, who, level, kind, ())
    return player, PlayerState(
        slots={
            (INVENTORY, 0): Stack(world.COIN.id, 1 + dice.randrange(200 * level)),
            (INVENTORY, 1): Stack(kind.weapon.id, 1),
            (BANK, 0): Stack(world.ORE.id, dice.randint(1, 100)),
        },
        spells={0: kind.spells[0].id},
        variables={world.DRAGONS.id: level // 8} if number % 2 else {world.TUTORIAL.id: level > 1},
    )


FOUNDED_AT = 1_735_722_000_000  # when the first guild was founded: 2025-01-01 09:00 UTC, as its owner was created
LOWEST_RANK = 3  # the engine's ranks are 0 (owner) to 3


def build_guilds() -> tuple[list[GuildColumns], list[GuildMember]]:
    """Build the guilds and their members. The first member owns the guild; the others have the ranks 1 to 3."""
    guilds, members = list[GuildColumns](), list[GuildMember]()
    for number, (name, players) in enumerate(world.GUILDS.items()):
        guild_id, founded_at = make_stable_id("guild", name), FOUNDED_AT + 40 * number * DAY_MS
        guilds.append(GuildColumns(guild_id, name, fold(name), founded_at, 50, make_stable_id("instance", name)))
        members += [
            GuildMember(make_stable_id("player", player), guild_id, min(rank, LOWEST_RANK), founded_at + rank * DAY_MS)
            for rank, player in enumerate(players)
        ]
    return guilds, members
