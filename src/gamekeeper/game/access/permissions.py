"""Permissions and built-in roles: what a caller may do. The tables of docs/permissions.md are generated from here.

The setting `oidc_roles` maps the groups of an OpenID Connect provider to roles. The last account that can manage staff
must not lose that permission: rules for accounts and roles use the staff lock of this module.

Permissions of `COLUMNS`, and the role `api`, are flags in the table of accounts, as they were before there were roles.
So an older version can run beside this one during an upgrade. All other permissions and roles have tables of their own.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gamekeeper.game.access.refusals import LastManager, UnknownRole
from gamekeeper.game.core.change import Actor
from gamekeeper.game.core.refusals import Outranked
from gamekeeper.ground.settings import BadSetting, Settings, variable
from gamekeeper.store.access import roles
from gamekeeper.store.access.credentials import Identity
from gamekeeper.store.access.roles import NO_GRANTS, Grants, Powers, Role
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.lists import search

PERMISSIONS: Mapping[str, str] = {  # name → what it allows; a fixed list
    "players.read": "Look up and list players, their items, spells, variables and ranks, and the game's catalogue.",
    "players.progress": "Set a player's level and class.",
    "players.rename": "Rename a player.",
    "players.delete": "Delete a player who is not online.",
    "items.give": "Give items to players.",
    "items.take": "Take items from players.",
    "spells.write": "Teach players spells and let them forget spells.",
    "variables.write": "Set players' variables.",
    "world.write": "Set variables of the server and of guilds.",
    "chat.send": "Send chat messages into the game.",
    "players.command": "Kill and warp players who are online.",
    "users.query": "Read accounts and their email addresses; register accounts; check, change and reset passwords.",
    "users.manage": "Change every account, also without its password; includes staff, API keys and erasing people.",
    "people.export": "Export all data of a person.",
    "people.erase": "Delete an account, and erase the person's data from the audit log.",
    "moderation.ban": "Ban accounts and lift bans.",
    "moderation.mute": "Mute accounts and lift mutes.",
    "moderation.kick": "Kick players out of the game.",
    "audit.read": "Read the audit log, and items, spells and variables of players at an earlier time.",
    "audit.undo": "Undo changes; needs also the permission of the change that is undone.",
    "logs.read": "Read the activity and trade logs of players and accounts, without addresses.",
    "addresses.read": "See addresses in the activity and trade logs.",
    "notes.write": "Read and write notes, warnings and tags about players and accounts; share saved views of lists.",
    "boards.write": "Create, change and delete boards and their seasons; hide accounts from them.",
    "signals.write": "Acknowledge signals. Reading them needs audit.read.",
    "bulk.run": "Change many players at once by a bulk job; needs also the permission of each change.",
    "game.link": "Report players, presence and the catalogue as a game server, and follow the change feed.",
    "game.editor": "Edit the game in the game's own editor. Gamekeeper only stores this.",
    "approvals.decide": "See changes that wait for approval; approve or deny those of other accounts.",
    "keys.manage": "Create, list, change, rotate and revoke API keys, with permissions that one has oneself.",
    "staff.manage": "Edit roles; give them to accounts and take them away; suspend accounts.",
}
ALL = frozenset(PERMISSIONS)
# permissions with which a caller changes nothing; users.query does more, but not for callers that can only read
READING = frozenset({"players.read", "users.query", "audit.read", "logs.read", "addresses.read", "people.export"})
INCLUDED: Mapping[str, frozenset[str]] = {  # permission → permissions that it includes
    "users.manage": frozenset(
        {
            "users.query",
            "people.export",
            "people.erase",
            "keys.manage",
            "staff.manage",
            "approvals.decide",
            "notes.write",
            "boards.write",
            "signals.write",
        }
    ),
}
COLUMNS: Mapping[str, str] = {  # flag in Powers → permission that it grants
    "editor": "game.editor",
    "ban": "moderation.ban",
    "kick": "moderation.kick",
    "mute": "moderation.mute",
    "users_query": "users.query",
    "users_manage": "users.manage",
    "game_link": "game.link",
}
# permissions that only console sessions have, tokens got with a second factor, and, by the setting
# staff_without_second_factor, those of accounts without one; API keys if they name them
GUARDED = frozenset({"keys.manage", "staff.manage"})
FLAGS: Mapping[str, str] = {permission: flag for flag, permission in COLUMNS.items()}
STAFF = "staff.manage"
DECIDE = "approvals.decide"  # the permission; also the rule that holds changes of accounts that decide on approvals
PROTECTED = frozenset({"users.manage", "staff.manage", "game.link"})  # only moderators with the same may act on holders
# permissions by the names that the commands and operations of `Powers` use, with their flags
POWER_ROLES = {"users.query": "users_query", "users.manage": "users_manage", "game.link": "game_link"}
SYNONYMS = {"userquery": "users.query", "usermanage": "users.manage"}
POWERS = ("editor", "ban", "kick", "mute")
POWER_FLAGS = {**POWER_ROLES, **{flag: flag for flag in Powers._fields}}
ADMIN, API = "admin", "api"  # names of the role with every permission, and of the role that `users.api` stands for


class RoleDefinition(NamedTuple):
    about: str
    permissions: frozenset[str]
    read_only: bool = False


_MODERATOR = frozenset(
    {
        *("players.read", "users.query", "moderation.ban", "moderation.mute", "moderation.kick"),
        *("chat.send", "players.command", "logs.read", "notes.write"),
    }
)
_CHANGES = frozenset(
    {
        *("players.progress", "players.rename", "items.give", "items.take", "spells.write", "variables.write"),
        *("world.write", "audit.read", "audit.undo"),
    }
)
BUILTIN_ROLES: Mapping[str, RoleDefinition] = {  # as a new database has them; migrations insert the same
    "viewer": RoleDefinition(
        "Reads players, accounts and the audit log; changes nothing.",
        frozenset({"players.read", "users.query", "audit.read", "logs.read"}),
        read_only=True,
    ),
    "moderator": RoleDefinition("Bans, mutes and kicks.", _MODERATOR),
    "game master": RoleDefinition(
        "Moderates, and changes players and their items.", _MODERATOR | _CHANGES | {"boards.write", "signals.write"}
    ),
    ADMIN: RoleDefinition("Has every permission, also those of later versions.", ALL),
    "game server": RoleDefinition(
        "Reports players over the game link.", frozenset({"game.link", "players.read", "users.query"})
    ),
    "shop": RoleDefinition("Looks players up and gives them items.", frozenset({"players.read", "items.give"})),
    API: RoleDefinition(
        "What every token of the API could do before there were roles.",
        _CHANGES
        | {"players.read", "players.delete", "bulk.run", "chat.send", "players.command", "logs.read", "addresses.read"},
    ),
}


@lru_cache(maxsize=1024)
def find_effective(powers: Powers, grants: Grants, *, guarded: bool = True) -> frozenset[str]:
    """Return all permissions of an account: granted directly, by roles, and included in others.

    `guarded`: also those in GUARDED.
    """
    held = ALL if ADMIN in grants.roles else include(list_granted(powers, grants) | grants.by_roles)
    return held if guarded else held - GUARDED


def list_granted(powers: Powers, grants: Grants) -> frozenset[str]:
    """Return the directly granted permissions of an account, without those that they include."""
    return grants.direct | {permission for flag, permission in COLUMNS.items() if getattr(powers, flag)}


def include(held: Iterable[str]) -> frozenset[str]:
    """Add the permissions that others include."""
    found = frozenset(held)
    return found.union(*(included for each, included in INCLUDED.items() if each in found))


def list_held(user: User) -> frozenset[str]:
    return find_effective(user.powers, user.grants)


def list_direct(user: User) -> frozenset[str]:
    """Return the directly granted permissions of an account, with those that they include."""
    return include(list_granted(user.powers, user.grants))


def list_roles(user: User) -> tuple[str, ...]:
    """Return the names of an account's roles, with `api`."""
    return (*((API,) if user.powers.api else ()), *user.grants.roles)


def can_log_in(user: User) -> bool:
    return user.powers.api or bool(user.grants.roles)


def can_manage_staff(user: User) -> bool:
    """Tell whether an account can manage staff at present."""
    return STAFF in list_held(user) and can_log_in(user) and user.ban_reason is None and not user.suspended


def find_powers(user: User) -> Powers:
    """Return an account's permissions as the flags of `Powers`, whether granted directly or by roles."""
    if user.grants == NO_GRANTS:
        return user.powers
    return make_powers(list_held(user), can_log_in=can_log_in(user))


def make_powers(held: frozenset[str], *, can_log_in: bool) -> Powers:
    """Return permissions as the flags of `Powers`."""
    return Powers(**{flag: each in held for flag, each in COLUMNS.items()}, api=can_log_in)


NO_PERMISSION = "You do not have the permission to do this."


def make_outranked(user: User) -> Outranked:
    """Return the refusal of a change of an account that outranks the caller."""
    problem = f"{user.name} has permissions that you do not have, so you cannot change this account."
    return Outranked(problem=problem)


async def read_permissions(tx: Reading, actor: Actor) -> frozenset[str]:
    """Return which permissions of the credential the account has now. Refuse an account that was deleted since."""
    user = await users.find_by_id(tx, actor.id)
    if user is None:
        raise Outranked(problem=NO_PERMISSION)
    return list_held(user) & actor.permissions


MAX_STAFF = 4000  # accounts with permissions that a list of staff reads at most


class StaffMember(NamedTuple):
    user: User
    activity: roles.StaffActivity


class StaffPage(NamedTuple):
    members: list[StaffMember]
    next: int | None  # offset of the next page; None: this is the last page


def list_permissions(role: Role) -> frozenset[str]:
    """Return the permissions of a role, with those that they include."""
    return ALL if role.name == ADMIN else include(role.permissions)


def compute_grants(user: User, held: Iterable[str], direct: Iterable[str], table: Mapping[str, Role]) -> User:
    """Return an account with these roles and directly granted permissions, and with what they give."""
    names = tuple(sorted(held))
    of_roles = (table[each].permissions for each in (*names, *((API,) if user.powers.api else ())) if each in table)
    return user._replace(grants=Grants(names, frozenset(direct), frozenset[str]().union(*of_roles)))


async def add_roles(tx: Reading, user: User, held: Iterable[str]) -> User:
    """Return a new account with these roles, which must exist."""
    table, names = await roles.read_all(tx), {*held}
    require_roles(names, table)
    powers = user.powers._replace(api=user.powers.api or API in names)
    return compute_grants(user._replace(powers=powers), names - {API}, (), table)


def require_roles(names: Iterable[str], table: Mapping[str, Role]) -> None:
    """Refuse names of roles that do not exist."""
    for each in sorted(names):
        if each not in table:
            raise UnknownRole(role=each, known=", ".join(table))


async def apply_powers(tx: Reading, user: User, powers: Powers) -> User:
    """Return an account with new flags, and with the permissions of the role `api` if it has that now."""
    table = await roles.read_all(tx)
    return compute_grants(user._replace(powers=powers), user.grants.roles, user.grants.direct, table)


async def require_manager_left(tx: Reading, user: User, after: User | None) -> None:
    """Refuse a change after which no account can manage staff.

    `after`: the account then; None: deleted, banned or suspended. The caller has locked the account and the staff.
    A database without such an account has nothing to protect.
    """
    if not can_manage_staff(user) or (after is not None and can_manage_staff(after)):
        return
    if not await roles.has_another_manager(tx, user.id):
        raise LastManager


async def lock_if_staff(tx: Reading, user: User) -> User:
    """Take the staff lock if an account has roles, and return it as it is now.

    Other accounts need no lock: no edit of a role can make them managers of staff. The account is locked before.
    """
    if not can_log_in(user):
        return user
    await roles.lock_staff(tx)
    return await users.find_by_id(tx, user.id) or user


async def load_staff_page(tx: Reading, offset: int, limit: int) -> StaffPage:
    """Load accounts that have a role or a directly granted permission, in order of name."""
    found = await search.find_with_powers(tx, MAX_STAFF)
    ids = [each.id for each in found[offset : offset + limit]]
    accounts = {each.id: each for each in await users.read_by_ids(tx, ids)} if ids else {}
    activity = await roles.read_staff_activity(tx, ids) if ids else {}
    members = [StaffMember(accounts[each], activity[each]) for each in ids if each in accounts]
    return StaffPage(members, offset + limit if len(found) > offset + limit else None)


def parse_role_mapping(text: str) -> list[tuple[str, str]]:
    """Parse the setting `oidc_roles`, such as `ops=admin,support=moderator`, to pairs of group and role."""
    found: list[tuple[str, str]] = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        group, _, role = (part.strip() for part in each.rpartition("="))
        if not group or not role:
            raise BadSetting(f"{variable('oidc_roles')} has '{each}' in it; it must be group=role, such as ops=admin.")
        found.append((group, role.lower()))
    return found


def is_mapped_to_role(groups: frozenset[str], settings: Settings) -> bool:
    """Return whether the setting `oidc_roles` names one of these groups."""
    return any(group in groups for group, _ in parse_role_mapping(settings.oidc_roles))


def is_removable_identity(identity: Identity, settings: Settings) -> bool:
    """Return whether an account may remove an identity.

    With a mapping of roles, the removed identity would make a second account at its next sign-in. One person could then
    approve their own changes.
    """
    return identity.issuer != settings.oidc_issuer or not parse_role_mapping(settings.oidc_roles)


def can_act_on(own: frozenset[str], user: User) -> bool:
    """Tell whether a caller with these permissions may ban, mute or kick an account.

    The caller's powers must weigh as much as those of the account, and it must manage no less.

    A ban revokes tokens: so those of game servers and of account and staff managers are protected.
    """
    if not list_held(user) & PROTECTED <= own:
        return False
    weight = _weigh_powers(make_powers(own, can_log_in=True))
    return weight >= _weigh_powers(find_powers(user))


def _weigh_powers(powers: Powers) -> int:
    """Weigh an account's permissions as the game engine does: `ban` weighs more than all others together."""
    return powers.editor + 2 * powers.mute + 4 * powers.kick + 8 * powers.ban


def find_role(name: str) -> str | None:
    """Return the canonical name of a role; None: there is no such role."""
    found = SYNONYMS.get(name.lower(), name.lower())
    return found if found in POWER_ROLES else None


def grant(powers: Powers, right: str) -> Powers:
    """Add a role or permission to an account. `users.manage` includes `users.query`."""
    wider = powers._replace(**{POWER_FLAGS[right]: True})
    return wider._replace(users_query=wider.users_query or wider.users_manage)


def revoke(powers: Powers, right: str) -> Powers:
    narrower = powers._replace(**{POWER_FLAGS[right]: False})
    return narrower._replace(users_manage=narrower.users_manage and narrower.users_query)


def is_decider(user: User) -> bool:
    """Tell whether an account may decide on approvals once it can log in."""
    return DECIDE in list_held(user)


async def gives_decision(tx: Reading, names: Sequence[str]) -> bool:
    """Tell whether one of these roles gives `approvals.decide`."""
    table = await roles.read_all(tx)
    return any(DECIDE in list_permissions(table[each]) for each in names if each in table)
