"""Methods of both clients are plain functions with typed signatures, and parameters named as in the API."""

import inspect
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct

from client_calls import CALLED, METHODS, WRITES, build_call
from gamekeeper_client import AsyncClient, Client
from loops import collecting

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


def test_both_clients_have_the_same_methods_with_typed_parameters() -> None:
    assert find_public_methods(Client).keys() == find_public_methods(AsyncClient).keys() == {*METHODS, "close"}
    with collecting() as case:
        for kind in BOTH:
            for name, method in find_public_methods(kind).items():
                with case(kind.__name__, name):
                    assert_typed(method)


def assert_typed(method: Any) -> None:
    assert inspect.isfunction(method)
    signature = inspect.signature(method)
    for each in list(signature.parameters.values())[1:]:
        assert each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
        assert each.annotation is not each.empty, each
    returns = get_type_hints(method)["return"]
    assert "gamekeeper_client.call" not in str(returns)
    assert returns == (type(None) if signature.return_annotation is None else signature.return_annotation)


def test_only_named_powers_are_sent() -> None:
    call = build_call("change_powers", mute=True, users_query=False)
    assert msgspec.json.decode(call.body or b"") == {"mute": True, "usersquery": False}


def test_parameters_are_named_as_in_the_api() -> None:
    for name in METHODS:
        route = CALLED[name]
        asked = route.query.__struct_encode_fields__ if route.query else ()
        taken = route.body.__struct_fields__ if isinstance(route.body, type) and issubclass(route.body, Struct) else ()
        wire = {each.lower().replace("_", "") for each in (*asked, *taken)}
        write_options = WRITE_OPTIONS if name in WRITES else set[str]()
        for each in set(METHODS[name].signature.parameters) - {"self"} - write_options:
            plain = each.replace("_", "").lower()
            assert plain in wire | PATH_WORDS | SENT_OTHERWISE.keys(), f"{name}({each}=…)"
