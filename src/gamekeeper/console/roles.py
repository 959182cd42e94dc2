"""The pages of roles: all roles with what they allow, and one role with a form to edit it."""

from typing import NamedTuple

from gamekeeper.console import pages
from gamekeeper.console.server_texts import translate_message
from gamekeeper.game import permissions
from gamekeeper.game.permissions import ADMIN, PERMISSIONS
from gamekeeper.game.role_refusals import NoSuchRole
from gamekeeper.game.roles import list_permissions
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import roles, users
from gamekeeper.store.engine import Reading
from gamekeeper.store.roles import Role
from gamekeeper.store.users import User


class PermissionBox(NamedTuple):
    name: str
    meaning: str
    is_in_role: bool
    is_grantable: bool  # the viewer has this permission too, and so may put it into a role


class RoleView(NamedTuple):
    role: Role
    allows: list[tuple[str, str]]  # permissions with their meaning
    can_edit: bool


async def show(request: Request) -> Response:
    viewer, table = await request.services.keeper.store.read(lambda tx: _load(tx, request))
    shown = [_make_view(request, each, viewer) for each in table.values()]
    return pages.render(request, "roles.html", roles=shown, boxes=list_boxes(request, frozenset()))


async def show_role(request: Request) -> Response:
    viewer, table = await request.services.keeper.store.read(lambda tx: _load(tx, request))
    role = table.get(request.params[0])
    if role is None:
        raise NoSuchRole(role=request.params[0])
    view = _make_view(request, role, viewer)
    return pages.render(request, "role.html", view=view, boxes=list_boxes(request, role.permissions))


async def _load(tx: Reading, request: Request) -> tuple[User | None, dict[str, Role]]:
    return await users.find_by_id(tx, request.caller.account_id), await roles.read_all(tx)


def _make_view(request: Request, role: Role, viewer: User | None) -> RoleView:
    """Describe a role. Callers edit roles whose permissions they have, but not their own ones, as the rules demand."""
    held = list_permissions(role)
    mine = permissions.list_roles(viewer) if viewer else ()
    can_edit = role.name != ADMIN and role.name not in mine and held <= request.caller.permissions
    allows = [(name, translate_message(meaning)) for name, meaning in PERMISSIONS.items() if name in held]
    return RoleView(role, allows, can_edit and not request.caller.read_only)


def list_boxes(request: Request, held: frozenset[str]) -> list[PermissionBox]:
    mine = request.caller.permissions
    return [
        PermissionBox(name, translate_message(meaning), name in held, name in mine)
        for name, meaning in PERMISSIONS.items()
    ]
