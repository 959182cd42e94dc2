"""Methods of both clients are plain functions with typed signatures."""

import inspect
from typing import Any, get_type_hints

import msgspec

from client_calls import GUID, METHODS, build_call
from gamekeeper_client import AsyncClient, Client
from loops import collecting

BOTH: list[Any] = [Client, AsyncClient]


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


def test_calls_send_what_they_did_in_earlier_versions() -> None:
    """Otherwise the server takes a call that is repeated with its key after an upgrade for another one."""
    cases: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("ban_user", {"minutes": 5}, {"moderator": "", "reason": "", "minutes": 5}),
        ("unmute_player", {"reason": "sorry"}, {"moderator": "", "reason": "sorry"}),
        ("kill_player", {}, {"moderator": None, "reason": ""}),
        ("create_role", {}, {"name": GUID, "permissions": [], "readonly": False}),
        ("create_bulk_job", {"online": True}, {"Act": "ban_player", "Players": [], "Online": True}),
        ("change_user_roles", {"give": [], "take": ["viewer"]}, {"take": ["viewer"]}),
        ("send_global_chat", {"target": ""}, {"Message": GUID, "Target": None}),
        ("change_powers", {"mute": True, "users_query": False}, {"mute": True, "usersquery": False}),
    ]
    for name, given, body in cases:
        assert msgspec.json.decode(build_call(name, **given).body or b"") == body, name
