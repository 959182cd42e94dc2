"""Keywords of the client's methods: unknown ones raise TypeError, known ones are named as on the wire."""

import inspect
from typing import Any, get_args

import msgspec
import pytest
from msgspec import Struct

from client_calls import CALLED, OPERATIONS, built
from gamekeeper_client import AsyncClient, Client
from gamekeeper_client.call import WriteOptions

NOWHERE = "http://127.0.0.1:1"  # no test here sends anything
IDS = {"playerid", "tokenid", "variableid", "bagid", "mailid", "objectid", "objecttype"}
PATH_WORDS = {"player", "user", "username", "server", "kind", "seq", *IDS}
SENT_OTHERWISE = {
    "password": "the client sends its hash, as `password` or as `authorization`",
    "readonly": "`scope=read` on the wire",
    "pagesize": "of an iterator: how many it fetches at a time",
    "fields": "the body itself",
    "entries": "the body itself",
    "powers": "the body itself",
    "playerids": "`Players` on the wire",
}


@pytest.fixture(params=[Client, AsyncClient], ids=["blocking", "awaiting"])
def client(request: pytest.FixtureRequest) -> Any:
    return request.param(NOWHERE, token="gka_none")


@pytest.mark.parametrize(
    ("method", "given", "wrong", "nearest"),
    [
        ("give_item", ["Nim", "item"], "dryrun", "dry_run"),
        ("give_item", ["Nim", "item"], "idempotency_kye", "idempotency_key"),
        ("ban_user", ["Marlow"], "durration", "duration"),
        ("kick_player", ["Nim"], "moderater", "moderator"),
        ("history", [], "playr", "player"),
        ("players", [], "serach", "search"),
    ],
)
def test_misspelt_keyword_is_type_error_at_call_time(
    client: Any, method: str, given: list[str], wrong: str, nearest: str
) -> None:
    with pytest.raises(TypeError, match=f"{method}.*'{wrong}'. Did you mean '{nearest}'"):
        getattr(client, method)(*given, **{wrong: "x"})


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_method_rejects_unknown_keyword(name: str) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'"):
        built(name, zzz=True)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_client_rejects_unknown_option(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"'read_onyl'. Did you mean 'read_only'"):
        kind(NOWHERE, token="gka_none", read_onyl=True)


def test_unknown_power_is_type_error(client: Any) -> None:
    with pytest.raises(TypeError, match=r"'users_mange'. Did you mean 'users_manage'"):
        client.change_powers("Marlow", {"users_mange": False})


@pytest.mark.parametrize("act", ["ban", "mute"])
@pytest.mark.parametrize("whom", ["user", "player"])
def test_penalty_sends_duration_and_reason_as_named(act: str, whom: str) -> None:
    call = built(f"{act}_{whom}", duration=3, reason="shouting")
    assert msgspec.json.decode(call.body or b"") == {"duration": 3, "reason": "shouting", "moderator": ""}
    assert call.headers["X-Reason"] == "shouting"


def test_history_filters_are_sent_as_named() -> None:
    call = built("history", from_="2026-01-01T00:00:00Z", to="2026-02-01T00:00:00Z", request="r")
    sent = {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z", "request": "r", "limit": "1000"}
    assert call.query == sent


@pytest.mark.parametrize("name", OPERATIONS)
def test_keywords_are_named_as_on_the_wire(name: str) -> None:
    route = CALLED[name]
    asked = route.asks.__struct_encode_fields__ if route.asks else ()
    taken = route.takes.__struct_fields__ if isinstance(route.takes, type) and issubclass(route.takes, Struct) else ()
    wire = {each.lower().replace("_", "") for each in (*asked, *taken)}
    for each in _keywords(name) - set(WriteOptions.__annotations__):
        plain = each.replace("_", "").lower()
        assert plain in wire | PATH_WORDS | SENT_OTHERWISE.keys(), f"{name}({each}=…)"


def _keywords(name: str) -> set[str]:
    found: set[str] = set()
    for each in inspect.signature(OPERATIONS[name].build).parameters.values():
        found |= set(get_args(each.annotation)[0].__annotations__) if each.kind is each.VAR_KEYWORD else {each.name}
    return found
