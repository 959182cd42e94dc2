"""Methods of both clients are plain functions with signatures, docstrings, and parameters named as in the API."""

import asyncio
import inspect
import pydoc
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, get_type_hints
from unittest.mock import AsyncMock, create_autospec

import msgspec
import pytest
from msgspec import Struct

from client_calls import CALLED, METHODS, WRITES, build_call
from gamekeeper.http import operation_refusals
from gamekeeper_client import AsyncClient, Client, errors
from gamekeeper_client.players import Player

NOWHERE = "http://127.0.0.1:1"  # valid server URL that is never contacted: these tests send no requests
BOTH: list[Any] = [Client, AsyncClient]
WRITE_OPTIONS = {"dry_run", "reason", "idempotency_key"}
IDS = {
    *("playerid", "tokenid", "variableid", "bagid", "mailid", "keyid", "approvalid", "invitationid", "mapid"),
    *("objectid", "objecttype", "userid", "guildid", "noteid", "signalid", "tag", "board", "season", "itemid", "jobid"),
}
PATH_WORDS = {"player", "user", "username", "server", "kind", "seq", "role", *IDS}
SENT_OTHERWISE = {
    "readonly": "`scope=read` in the API",
    "fields": "the body itself",
    "entries": "the body itself",
}


def find_public_methods(kind: type) -> dict[str, Any]:
    return {name: each for name, each in inspect.getmembers(kind, callable) if not name.startswith("_")}


ALL = [(kind, name) for kind in BOTH for name in find_public_methods(kind)]
EVERY_METHOD = pytest.mark.parametrize(("kind", "name"), ALL, ids=[f"{kind.__name__}.{name}" for kind, name in ALL])


def test_both_clients_have_the_same_methods() -> None:
    assert find_public_methods(Client).keys() == find_public_methods(AsyncClient).keys() == {*METHODS, "close"}


@EVERY_METHOD
def test_signature_is_concrete(kind: Any, name: str) -> None:
    method = getattr(kind, name)
    assert inspect.isfunction(method)
    signature = inspect.signature(method)
    for each in list(signature.parameters.values())[1:]:
        assert each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
        assert each.annotation is not each.empty, each
    returns = get_type_hints(method)["return"]
    assert "gamekeeper_client.call" not in str(returns)
    assert returns == (type(None) if signature.return_annotation is None else signature.return_annotation)


@EVERY_METHOD
def test_docstring_describes_parameters_answer_and_errors(kind: Any, name: str) -> None:
    text = inspect.getdoc(getattr(kind, name)) or ""
    summary, _, rest = text.partition("\n\n")
    assert re.fullmatch(r"[A-Z][^\n]*\.", summary), "one line that says what the method does"
    described = re.findall(r"^(\w+): .*\.$", rest, re.MULTILINE)
    assert set(described) == set(list(inspect.signature(getattr(kind, name)).parameters)[1:])
    assert len(re.findall(r"^Returns .*\.$", rest, re.MULTILINE)) == 1
    assert all(hasattr(errors, each) for each in find_named_errors(text))


def find_named_errors(text: str) -> set[str]:
    raises = text.partition("\nRaises ")[2]
    return set(re.findall(r"\b[A-Z][a-z]+[A-Z]\w+|\bDenied\b|\bOutranked\b", raises))


@pytest.mark.parametrize("name", METHODS)
def test_errors_of_docstring_are_those_of_the_operation(name: str) -> None:
    """The docstring names every refusal that the operation declares, and none that it cannot return."""
    route = CALLED[name]
    possible = {kind.__name__ for kinds in operation_refusals.list_refusals(route).values() for kind in kinds}
    own = {kind.__name__ for kind in route.refusals}
    named = find_named_errors(getattr(Client, name).__doc__)
    assert named <= possible
    # exception: two client methods share the token route, and each docstring names only the errors of its method
    assert own <= named or route.path == "/api/oauth/token"


def test_iterators_and_answers_have_type_annotations() -> None:
    assert get_type_hints(Client.get_player)["return"] is get_type_hints(AsyncClient.get_player)["return"] is Player
    assert get_type_hints(Client.iterate_players)["return"] == Iterator[Player]
    assert get_type_hints(AsyncClient.iterate_players)["return"] == AsyncIterator[Player]
    assert inspect.iscoroutinefunction(AsyncClient.get_player)
    assert not inspect.iscoroutinefunction(Client.get_player)


@pytest.mark.parametrize("kind", BOTH)
def test_help_names_parameters(kind: Any) -> None:
    text = pydoc.plain(pydoc.render_doc(kind))
    signature = "give_item(self, player: str, item_id: str, quantity: int = 1, *, bank_overflow: bool = False"
    assert signature in text
    assert "bank_overflow: put into the bank" in text
    assert "idempotency_key: your own key" in text


@pytest.mark.parametrize("kind", BOTH)
def test_autospec_rejects_misspelt_keyword(kind: Any) -> None:
    fake = create_autospec(kind, instance=True)
    with pytest.raises(TypeError, match="dryrun"):
        fake.give_item("Nim", "item", dryrun=True)
    with pytest.raises(TypeError, match="item_id"):
        fake.give_item("Nim")
    assert isinstance(fake.get_player, AsyncMock) == (kind is AsyncClient)
    with pytest.raises(TypeError, match="read_onyl"):
        create_autospec(kind)(NOWHERE, token="gka_none", read_onyl=True)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("name", METHODS)
def test_unknown_keyword_is_type_error(kind: Any, name: str) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'zzz'"):
        build_call(name, zzz=True)
    with pytest.raises(TypeError, match=rf"\b{name}\(\)"):
        run(kind, name, zzz=True)


def run(kind: Any, name: str, **given: Any) -> None:
    answer = getattr(kind(NOWHERE, token="gka_none"), name)(**given)
    if inspect.iscoroutine(answer):
        asyncio.run(answer)


@pytest.mark.parametrize("kind", BOTH)
def test_client_rejects_unknown_option(kind: Any) -> None:
    with pytest.raises(TypeError, match="read_onyl"):
        kind(NOWHERE, token="gka_none", read_onyl=True)


@pytest.mark.parametrize("act", ["ban", "mute"])
@pytest.mark.parametrize("whom", ["user", "player"])
def test_penalty_sends_duration_and_reason_as_named(act: str, whom: str) -> None:
    call = build_call(f"{act}_{whom}", duration=3, reason="shouting")
    assert msgspec.json.decode(call.body or b"") == {"duration": 3, "reason": "shouting", "moderator": ""}
    assert call.headers["X-Reason"] == "shouting"


def test_only_named_powers_are_sent() -> None:
    call = build_call("change_powers", mute=True, users_query=False)
    assert msgspec.json.decode(call.body or b"") == {"mute": True, "usersquery": False}


def test_history_filters_are_sent_as_named() -> None:
    call = build_call("iterate_history", from_="2026-01-01T00:00:00Z", to="2026-02-01T00:00:00Z", request="r")
    sent = {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z", "request": "r", "limit": "1000"}
    assert call.query == sent


@pytest.mark.parametrize("name", METHODS)
def test_parameters_are_named_as_in_the_api(name: str) -> None:
    route = CALLED[name]
    asked = route.query.__struct_encode_fields__ if route.query else ()
    taken = route.body.__struct_fields__ if isinstance(route.body, type) and issubclass(route.body, Struct) else ()
    wire = {each.lower().replace("_", "") for each in (*asked, *taken)}
    write_options = WRITE_OPTIONS if name in WRITES else set[str]()
    for each in set(METHODS[name].signature.parameters) - {"self"} - write_options:
        plain = each.replace("_", "").lower()
        assert plain in wire | PATH_WORDS | SENT_OTHERWISE.keys(), f"{name}({each}=…)"
