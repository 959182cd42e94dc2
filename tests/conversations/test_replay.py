"""Replay the calls of real clients exactly, and check the fields that each client reads from the answers.

A conversation is a TOML file in this folder. `online` names the online players, and `guild` the members of the guild
`<guild>`, its owner first. `[before]` is called before each call, for clients that log in every time. In a `[[call]]`,
`send` is method and path, `headers` and `body` are sent as written, `status` is 200 by default, and the client does
this with the answer:

* it compares values with those under `exactly`,
* it `reads` values of a kind: text, number, fraction, flag, list, object, guid, time, nothing (null), `text?` (text or
  null), or a whole record of records.toml,
* it `keeps` values for later calls, which refer to them as `<name>`.

A path such as `Values/0/Name` selects a value; "" is the whole answer. `answers` are its headers. `<coin>` and other
names of people.py can be used everywhere.
"""

import asyncio
import json
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import msgspec
import pytest

import game_server
import guild_rows
import guild_values
import people
from databases import Sqlite
from gamekeeper.http import wire
from gamekeeper.http.operation import Operation
from gamekeeper.http.routes import ROUTES
from world import SENT, Answer, World

HERE = Path(__file__).parent
FILES = [file for file in sorted(HERE.glob("*.toml")) if file.stem != "records"]
RECORDS: Mapping[str, Mapping[str, str]] = tomllib.loads((HERE / "records.toml").read_text(encoding="utf-8"))
# path prefixes of our own operations, which clients of the game engine do not call
OURS = ("/api/link/", "/api/keeper/")
ASIDE = {"Warning", "Code", "RequestId"}  # fields of our own in answers, which clients of the game engine do not read
PEOPLE = {"ann": people.ANN.id, "bob": people.BOB.id, "zoe": people.ZOE.id}
THINGS = {"coin": people.COIN, "arrow": people.ARROW, "sword": people.SWORD, "pouch": people.POUCH}
LORE = {"fireball": people.FIREBALL, "heal": people.HEAL, "kills": people.KILLS, "tutorial": people.TUTORIAL}
PLACES = {"warrior": people.WARRIOR, "meadow": people.MEADOW}
GUILD = {"fame": guild_values.FAME, "motto": guild_values.MOTTO, "at war": guild_values.AT_WAR}
SERVER = {"double xp": people.DOUBLE_XP, "harbour": people.HARBOUR, "motd": people.MOTD}
WORDS: Mapping[str, str] = {
    **PEOPLE,
    **{word: each.id for word, each in (THINGS | LORE | PLACES | SERVER | GUILD).items()},
    **{f"user {name}": user_id for name, user_id in people.USER_IDS.items()},
    "anns pouch": people.ANNS_POUCH,
    "nobody": people.NOBODY_ID,
    "guild": guild_rows.GUILD_ID,
    "empty": wire.scalars.ZERO,
    "hash": SENT,
    "HASH": SENT.upper(),
    "new hash": "ab" * 32,
}
GUID = re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
KINDS: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "fraction": lambda value: isinstance(value, float),
    "flag": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "guid": lambda value: isinstance(value, str) and GUID.fullmatch(value) is not None,
    "time": lambda value: isinstance(value, str) and TIME.fullmatch(value) is not None,
    "nothing": lambda value: value is None,
    "text?": lambda value: value is None or isinstance(value, str),
}


class Spoken(NamedTuple):
    """A call of a real client as it was sent, and its answer."""

    call: Mapping[str, Any]
    route: Operation
    answer: Answer
    words: Mapping[str, str]  # values from earlier answers that the client had kept before the call


class Misread(AssertionError):
    """Raised when the answer lacks a value that the client reads."""


def fill_in(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"<([\w ]+)>", lambda found: words[found[1]], text)


def at(answer: Any, place: str) -> Any:
    for step in filter(None, place.split("/")):
        answer = answer[int(step) if isinstance(answer, list) else step]
    return answer


def replay(world: World, conversation: Mapping[str, Any]) -> list[Spoken]:
    """Replay a conversation; raise Misread where the client would fail."""
    if conversation.get("online"):
        game_server.heartbeat(world)
        game_server.join(world, *(PEOPLE[name] for name in conversation["online"]))
    if conversation.get("guild"):
        guild_rows.insert(world, {PEOPLE[name]: rank for rank, name in enumerate(conversation["guild"])})
        guild_values.insert(world)
    words, spoken = dict(WORDS), list[Spoken]()
    for call in conversation["call"]:
        for each in [conversation["before"], call] if "before" in conversation else [call]:
            spoken.append(say(world, each, words))
            read(spoken[-1])
            words |= {word: find_value(spoken[-1], place) for word, place in each.get("keeps", {}).items()}
    return spoken


def say(world: World, call: Mapping[str, Any], words: Mapping[str, str]) -> Spoken:
    method, path = fill_in(call["send"], words).split(" ", 1)
    headers = {name: fill_in(value, words) for name, value in call.get("headers", {}).items()}
    body = fill_in(call.get("body", ""), words).encode()
    answer = world.call(method, path, by=None, raw=body, headers=headers)
    return Spoken(call, route_of(method, path), answer, dict(words))


def read(spoken: Spoken) -> None:
    """Read the values from the answer that the real client reads."""
    call, answer = spoken.call, spoken.answer
    about = f"{call['send']}: {answer.status} {answer.raw[:600]!r}"
    if answer.status != call.get("status", 200):
        raise Misread(f"{call.get('status', 200)} expected: {about}")
    for name, value in call.get("answers", {}).items():
        if answer.headers.get(name.lower()) != value:
            raise Misread(f"the header {name} is {answer.headers.get(name.lower())}: {about}")
    for place, value in call.get("exactly", {}).items():
        wanted = fill_in(value, spoken.words) if isinstance(value, str) else value
        if not same(find_value(spoken, fill_in(place, spoken.words)), wanted):
            raise Misread(f"{place} is not {wanted!r}: {about}")
    for place, kind in call.get("reads", {}).items():
        of_kind(spoken, place, kind)


def of_kind(spoken: Spoken, place: str, kind: str) -> None:
    for name, inner in RECORDS.get(kind, {}).items():
        of_kind(spoken, f"{place}/{name}", inner)
    if not KINDS["object" if kind in RECORDS else kind](find_value(spoken, place)):
        raise Misread(f"{place} is no {kind}: {spoken.call['send']}: {spoken.answer.raw[:600]!r}")


def same(value: Any, wanted: Any) -> bool:
    """Compare two JSON values strictly: True does not equal 1."""
    return json.dumps(value) == json.dumps(wanted)


def find_value(spoken: Spoken, place: str) -> Any:
    try:
        return at(spoken.answer.json, place)
    except (KeyError, IndexError, TypeError, ValueError):
        raise Misread(f"{place} is not there: {spoken.call['send']}: {spoken.answer.raw[:600]!r}") from None


def route_of(method: str, path: str) -> Operation:
    """Return the operation of a path; literal segments win over parameters."""
    plain = path.partition("?")[0].rstrip("/")
    fitting = [each for each in ROUTES if each.method == method and pattern(each.path).fullmatch(plain)]
    return min(fitting, key=lambda each: len(each.parameters))


def pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\[\w+\\\]", "[^/]+", re.escape(path)))


def load(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


# --- replay of all conversations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_client_finds_what_it_reads(world: World, file: Path) -> None:
    replay(world, load(file))


def list_called() -> set[tuple[str, str]]:
    """Return the API operations that a real client calls successfully."""
    every = [call for file in FILES for call in [*load(file)["call"], load(file).get("before")] if call]
    words = {**{word: "x" for call in every for word in call.get("keeps", {})}, **WORDS}
    sent = [fill_in(call["send"], words).split(" ", 1) for call in every if "status" not in call]
    return {(route.method, route.path) for route in (route_of(method, path) for method, path in sent)}


def test_every_operation_is_in_a_conversation() -> None:
    wanted = {(route.method, route.path) for route in ROUTES if not route.path.startswith(OURS)}
    assert wanted - list_called() == set()


# --- check that the replay notices renamed fields ------------------------------------------------------------------


def rename_field(shape: type[msgspec.Struct], field: str) -> type[msgspec.Struct]:
    """Return the answer's struct type with one field renamed on the wire."""
    fields = [
        (each.name, each.type, each.default) if each.default is not msgspec.NODEFAULT else (each.name, each.type)
        for each in msgspec.structs.fields(shape)
    ]
    spelt = {each.name: each.encode_name for each in msgspec.structs.fields(shape)} | {field: field.swapcase()}
    return msgspec.defstruct(shape.__name__, fields, rename=spelt)


@pytest.mark.parametrize(
    ("file", "shape", "field"),
    [
        ("php_shop", wire.tokens.Token, "access_token"),
        ("php_shop", wire.items.Quantity, "inventory"),
        ("ranking_page", wire.players.OnlineCount, "onlineCount"),
        ("registration_site", wire.users.Message, "Message"),
    ],
)
def test_renamed_wire_field_fails_the_replay(
    world: World, monkeypatch: pytest.MonkeyPatch, file: str, shape: type[msgspec.Struct], field: str
) -> None:
    monkeypatch.setattr(sys.modules[shape.__module__], shape.__name__, rename_field(shape, field))
    with pytest.raises(Misread, match="is not there"):
        replay(world, load(HERE / f"{file}.toml"))


def shapes_in(kind: Any) -> set[type[msgspec.Struct]]:
    """Return every struct type of an answer, including nested ones."""
    inside = [shapes_in(each) for each in get_args(kind)]
    origin = getattr(kind, "__origin__", kind)
    if isinstance(origin, type) and issubclass(origin, msgspec.Struct):
        fields = [shapes_in(each.type) for each in msgspec.structs.fields(kind)]
        return {origin}.union(*inside, *fields)
    return set[type[msgspec.Struct]]().union(*inside)


def spelt_otherwise(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [spelt_otherwise(each, name) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value).items()
        return {(key + "_" if key == name else key): spelt_otherwise(each, name) for key, each in fields}
    return value


def is_noticed(spoken: Iterable[Spoken], name: str) -> bool:
    for each in spoken:
        raw = json.dumps(spelt_otherwise(each.answer.json, name)).encode()
        try:
            read(each._replace(answer=Answer(each.answer.status, each.answer.headers, raw)))
        except Misread:
            return True
    return False


@pytest.fixture
def everything_spoken(sqlite_databases: Sqlite, loop: asyncio.AbstractEventLoop) -> Mapping[str, list[Spoken]]:
    """Replay all recorded conversations on SQLite, each in its own database; return the calls by answer type."""
    by_shape: defaultdict[str, list[Spoken]] = defaultdict(list)
    for file in FILES:
        url = sqlite_databases.fresh()
        world = World(url, sqlite_databases.tokens, loop)
        for each in replay(world, load(file)):
            by_shape[str(each.route.answer)].append(each)
        world.close()
        sqlite_databases.drop(url)
    return by_shape


def test_every_renamed_field_is_noticed(everything_spoken: Mapping[str, list[Spoken]]) -> None:
    shapes = {str(route.answer): route.answer for route in ROUTES if not route.path.startswith(OURS)}
    unnoticed = [
        f"{shape}: {name}"
        for shape, gives in shapes.items()
        for name in names_in(gives) - ASIDE
        if not is_noticed(everything_spoken[shape], name)
    ]
    assert unnoticed == []


def names_in(kind: Any) -> set[str]:
    return {field.encode_name for shape in shapes_in(kind) for field in msgspec.structs.fields(shape)}
