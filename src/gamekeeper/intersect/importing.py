"""An Intersect server's data into ours: the catalogue, then accounts, then characters, then what nobody owns."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from gamekeeper.game.bulk_loads import pause_gc
from gamekeeper.game.effects import (
    DROP_INDEXES,
    PAUSE_LISTS,
    RESUME_LISTS,
    CataloguePut,
    Change,
    PlayersLoaded,
    Unlogged,
    UsersLoaded,
)
from gamekeeper.game.inventory import Stack
from gamekeeper.game.lookup import ZERO_GUID, fold
from gamekeeper.intersect import accounts, catalogue, values
from gamekeeper.intersect.accounts import CLASHES, UNADDRESSED
from gamekeeper.intersect.catalogue import Game
from gamekeeper.intersect.characters import Bag, Character, Raw, Reader
from gamekeeper.intersect.course import Course, Turned
from gamekeeper.intersect.data import OWNERS
from gamekeeper.intersect.report import Counts, Line
from gamekeeper.intersect.source import Row
from gamekeeper.intersect.there import (
    BAG,
    DELETED_PLAYER,
    DELETED_USER,
    EMAIL,
    PLAYER,
    PLAYER_NAME,
    USER,
    USER_NAME,
)
from gamekeeper.intersect.vitals import Vitals
from gamekeeper.store import indexes, players, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.imports import DONE_STAGE
from gamekeeper.store.moderation import ImposedPenalty

BELONGINGS = ("inventory", "bank", "spells", "variables", "switches")
HOLDING = ("inventory", "bank", "bag_slots")  # what may hold a bag
DOUBLED = "its id is another row's"
DELETED = "it was deleted here"
NO_ACCOUNT = "its account is not there"
NOT_TAKEN = "its character was not taken"
NO_OWNER = "whoever it belongs to is not there, or its id is no guid or all zeros"
NO_END = "nobody can tell when it ends: impose it anew if it is to last"
LOST_BAG = "no slot of a character that is there holds it"
UNKEPT = "Gamekeeper does not keep these"


async def run(course: Course) -> bool:
    """Whether there was anything to do."""
    if not await course.resume():
        return False
    game, store = _game(course), course.keeper.store if course.keeper else None
    fresh = store is not None and not (await users.count(store) or await players.count(store))
    stages: Mapping[str, Callable[[], Awaitable[None]]] = {
        "catalogue": partial(_catalogue, course, game),
        "users": partial(_users, course),
        "players": partial(_players, course, game, fresh=fresh),
        "bags": partial(_bags, course),
        "strays": partial(_strays, course),
    }
    names = list(stages)
    with pause_gc():
        for stage in names[names.index(course.stage or names[0]) :]:
            course.come_to(stage)
            await stages[stage]()
    course.come_to(DONE_STAGE)
    await course.step(ZERO_GUID, _nothing)
    if course.keeper and not course.dry:
        await indexes.create_missing(course.keeper.store)
        await course.keeper.lists.prepare()
    return True


async def _nothing(_: Reading | None) -> Turned:
    return Turned((), Counts(), ())


# --- the catalogue -------------------------------------------------------------------------------------------------


def _game(course: Course) -> Game:
    game = Game()
    for noun in catalogue.KINDS:
        if noun in course.data.tables:
            table = course.data.tables[noun]
            game.add(noun, table.name, course.data.game.every(table))
    return game


async def _catalogue(course: Course, game: Game) -> None:
    async def turn(tx: Reading | None) -> Turned:
        counts, changes = Counts(), list[Change]()
        for noun, entries in game.entries.items():
            kind, count = catalogue.KINDS[noun], counts[course.data.names[noun]]
            there = await course.there.entries(tx, kind, entries)
            new = [entry for each, entry in entries.items() if each not in there]
            count.taken, count.there = len(new), len(entries) - len(new)
            changes += [CataloguePut(kind, [], new)] if new else []
        for line in game.lines:
            counts[line.table].left += not line.taken
        known = set(course.data.names.values())
        unkept = [name for name, count in course.counts.of.items() if name not in known and count.rows]
        return Turned(changes, counts, [*game.lines, *(Line(name, "", UNKEPT) for name in unkept)])

    await course.step(ZERO_GUID, turn)


# --- accounts ------------------------------------------------------------------------------------------------------


async def _users(course: Course) -> None:
    pattern = re.compile(course.settings.name_pattern)

    async def work(ids: list[str]) -> None:
        read = {noun: course.rows(noun, ids) for noun in ("users", "bans", "mutes")}
        await course.step(ids[-1], partial(_users_turned, course, pattern, read))

    await course.batches("users", work)


async def _users_turned(
    course: Course, pattern: re.Pattern[str], read: Mapping[str, Mapping[str, list[Row]]], tx: Reading | None
) -> Turned:
    names, there, counts, lines = course.data.names, course.there, Counts(), list[Line]()
    known = await there.find(tx, USER, read["users"])
    gone = await there.find(tx, DELETED_USER, read["users"].keys() - known)
    new: list[accounts.Read] = []
    for own_id, rows in read["users"].items():
        if own_id in gone:
            _left(counts, lines, names["users"], [(own_id, DELETED)])
        elif own_id not in known:
            new.append(accounts.user(rows[0], pattern, partial(_note, lines, names["users"], own_id)))
        _left(counts, lines, names["users"], [(own_id, DOUBLED) for _ in rows[1:]])
    counts[names["users"]].taken, counts[names["users"]].there = len(new), len(known)
    clashing = await _clashing(course, tx, USER_NAME, [(each.user.id, each.fold) for each in new])
    addressed = [(each.user.id, each.email_fold) for each in new if each.email_fold is not None]
    unaddressed = {each.user.id for each in new if each.email_fold is None}
    unaddressed |= await _clashing(course, tx, EMAIL, addressed)
    lines += [Line(names["users"], each, CLASHES, taken=True) for each in sorted(clashing)]
    lines += [Line(names["users"], each, UNADDRESSED, taken=True) for each in sorted(unaddressed)]
    bans, mutes = (_imposed(names[noun], read[noun], known, gone, counts, lines) for noun in ("bans", "mutes"))
    there.note(USER, [each.user.id for each in new])
    loaded = UsersLoaded([each.user for each in new], clashing, unaddressed, bans, mutes)
    return Turned([PAUSE_LISTS, loaded, RESUME_LISTS] if new else [], counts, lines)


async def _clashing(course: Course, tx: Reading | None, kind: str, wanted: Sequence[tuple[str, str]]) -> set[str]:
    """Ids of those who want what somebody else has; the first of them gets it."""
    taken = await course.there.find(tx, kind, [each for _, each in wanted])
    clashing: set[str] = set()
    for own_id, each in wanted:
        if each in taken:
            clashing.add(own_id)
        taken.add(each)
    course.there.note(kind, [each for _, each in wanted])
    return clashing


def _imposed(
    table: str, read: Mapping[str, list[Row]], known: set[str], gone: set[str], counts: Counts, lines: list[Line]
) -> list[ImposedPenalty]:
    new = [rows for own_id, rows in read.items() if own_id not in known | gone]
    found = [(rows[0], accounts.imposed(rows)) for rows in new]
    taken = [each for _, each in found if each]
    counts[table].taken, counts[table].there = len(taken), len(read.keys() & known)
    _left(counts, lines, table, [(values.shown(row[1]), NO_END) for row, each in found if not each])
    _left(counts, lines, table, [(values.shown(read[each][0][1]), NO_ACCOUNT) for each in read if each in gone])
    for rows in read.values():
        _left(counts, lines, table, [(values.shown(row[1]), "its account has another") for row in rows[1:]])
    return taken


# --- characters ----------------------------------------------------------------------------------------------------


async def _players(course: Course, game: Game, *, fresh: bool) -> None:
    vitals = Vitals(game.classes, game.worn, course.settings.max_level)
    first = [DROP_INDEXES] if fresh else []  # somebody may look for those who are there
    items, spells, types = game.ids("items"), game.ids("known_spells"), game.types()
    usual = dict[tuple[object, object, object], Stack]()

    async def work(ids: list[str]) -> None:
        read = {noun: course.rows(noun, ids) for noun in ("players", *BELONGINGS)}
        bags = _bags_of(course, read)

        async def turn(tx: Reading | None) -> Turned:
            reader = Reader(course.data.names, course.settings, vitals, items, spells, types, bags, usual)
            return await _players_turned(course, reader, read, tx, first)

        await course.step(ids[-1], turn)
        first.clear()

    await course.batches("players", work)


def _bags_of(course: Course, read: Mapping[str, Mapping[str, list[Row]]]) -> dict[str, Bag]:
    """The bags in these slots, the bags in those, and so on."""
    tables, source, found = course.data.tables, course.data.players, dict[str, Bag]()
    wanted = _named_bags(row for noun in ("inventory", "bank") for rows in read[noun].values() for row in rows)
    while wanted:
        rows: dict[str, list[Row]] = {}
        for row in source.among(tables["bag_slots"], sorted(wanted)):
            rows.setdefault(row[0], []).append(row)
        sizes = dict(source.among(tables["bags"], sorted(wanted)))
        found |= {each: Bag(sizes[each], rows.get(each, ())) for each in sizes}
        wanted = _named_bags(row for own in rows.values() for row in own) - found.keys()
    return found


def _named_bags(rows: Iterable[Row]) -> set[str]:
    named = {values.guid(raw) for raw in {row[5] for row in rows}}
    return {each for each in named if each and each != ZERO_GUID}


async def _players_turned(
    course: Course,
    reader: Reader,
    read: Mapping[str, Mapping[str, list[Row]]],
    tx: Reading | None,
    first: Sequence[Unlogged],
) -> Turned:
    there, names, counts, lines = course.there, course.data.names, reader.counts, reader.lines
    known = await there.find(tx, PLAYER, read["players"])
    gone = await there.find(tx, DELETED_PLAYER, read["players"].keys() - known)
    owners = {own_id: values.guid(rows[0][1]) for own_id, rows in read["players"].items()}
    accounts_there = await there.find(tx, USER, {each for each in owners.values() if each})
    reader.used |= await there.find(tx, BAG, reader.bags)
    pattern = re.compile(course.settings.name_pattern)
    new: list[Character] = []
    for own_id, rows in read["players"].items():
        _left(counts, lines, names["players"], [(own_id, DOUBLED) for _ in rows[1:]])
        if own_id in known:
            _count_there(course, reader, read, own_id)
        elif own_id in gone or owners[own_id] not in accounts_there:
            reader.leave("players", own_id, DELETED if own_id in gone else NO_ACCOUNT)
            _leave_belongings(reader, read, own_id)
        else:
            new.append(reader.read(Raw(rows[0], *(read[noun].get(own_id, ()) for noun in BELONGINGS)), pattern))
    clashing = await _clashing(course, tx, PLAYER_NAME, [(player.id, fold(player.name)) for player, _ in new])
    lines += [Line(names["players"], each, CLASHES, taken=True) for each in sorted(clashing)]
    there.note(PLAYER, [player.id for player, _ in new])
    there.note(BAG, reader.used)
    loaded = [PAUSE_LISTS, *first, PlayersLoaded(new, clashing), RESUME_LISTS] if new else []
    return Turned(loaded, counts, lines)


def _count_there(course: Course, reader: Reader, read: Mapping[str, Mapping[str, list[Row]]], own_id: str) -> None:
    """Its bags too: later on nobody else is looked for who has them."""
    reader.counts[reader.tables["players"]].there += 1
    rows = [(noun, row) for noun in BELONGINGS for row in read[noun].get(own_id, ())]
    walked: set[str] = set()
    for noun, row in rows:  # it grows while bags are found
        reader.counts[reader.tables[noun]].there += 1
        bag_id = values.guid(row[5]) if noun in HOLDING else None
        if bag_id and bag_id in reader.bags and bag_id not in walked:
            walked.add(bag_id)
            reader.counts[reader.tables["bags"]].there += 1
            rows += [("bag_slots", each) for each in reader.bags[bag_id].rows]
    course.walked.add(BAG, walked)


def _leave_belongings(reader: Reader, read: Mapping[str, Mapping[str, list[Row]]], own_id: str) -> None:
    """All but its bags, which are looked at when it is known whose they all are."""
    for noun in BELONGINGS:
        for row in read[noun].get(own_id, ()):
            reader.leave(noun, row[1], NOT_TAKEN)


# --- what nobody owns ----------------------------------------------------------------------------------------------


async def _bags(course: Course) -> None:
    async def work(ids: list[str]) -> None:
        read = {noun: course.rows(noun, ids) for noun in ("bags", "bag_slots")}

        async def turn(tx: Reading | None) -> Turned:
            counts, lines = Counts(), list[Line]()
            found = await course.there.find(tx, BAG, ids) | course.walked.among(BAG, ids)
            names = course.data.names
            for own_id in ids:
                if own_id not in found:
                    _left(counts, lines, names["bags"], [(own_id, LOST_BAG)])
                    slots = read["bag_slots"].get(own_id, ())
                    _left(counts, lines, names["bag_slots"], [(values.shown(row[1]), LOST_BAG) for row in slots])
                _left(counts, lines, names["bags"], [(own_id, DOUBLED) for _ in read["bags"].get(own_id, ())[1:]])
            return Turned((), counts, lines)

        await course.step(ids[-1], turn)

    await course.batches("bags", work)


async def _strays(course: Course) -> None:
    """Rows that belong to nobody: looked for only where the sums say that there are some."""

    async def turn(_: Reading | None) -> Turned:
        counts = Counts()
        return Turned((), counts, _stray_lines(course, counts))

    await course.step(ZERO_GUID, turn)


def _stray_lines(course: Course, counts: Counts) -> Iterator[Line]:
    """Counted while they are written: they may be many."""
    tables = course.data.tables
    for noun, owner in OWNERS.items():
        if noun in tables and course.counts[tables[noun].name].unaccounted:
            for row_id, key in course.data.players.strays(tables[owner], tables[noun]):
                counts[tables[noun].name].left += 1
                yield Line(tables[noun].name, values.shown(row_id), f"{NO_OWNER}: {values.shown(key)}")


def _left(counts: Counts, lines: list[Line], table: str, rows: Sequence[tuple[str, str]]) -> None:
    counts[table].left += len(rows)
    lines += [Line(table, row_id, reason) for row_id, reason in rows]


def _note(lines: list[Line], table: str, own_id: str, reason: str) -> None:
    lines.append(Line(table, own_id, reason, taken=True))
