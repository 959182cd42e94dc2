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

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import game_server
import guild_rows
import guild_values
import people
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import Operation
from gamekeeper.http.routes import ROUTES
from world import SENT, Answer, World

HERE = Path(__file__).parent
FILES = [file for file in sorted(HERE.glob("*.toml")) if file.stem != "records"]
RECORDS: Mapping[str, Mapping[str, str]] = tomllib.loads((HERE / "records.toml").read_text(encoding="utf-8"))
# path prefixes of our own operations, which clients of the game engine do not call
OURS = ("/api/link/", "/api/keeper/")
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
    "empty": shapes.ZERO,
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
