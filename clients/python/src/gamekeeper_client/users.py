"""Accounts: list, read, register, rename and delete them; read their players; change their permissions."""

from typing import Any, Generic, Literal, TypeVar, Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import Direction, LegacyPage, Page, build_page_query, iterate_pages
from gamekeeper_client.players import Player
from gamekeeper_client.roles import WeakenedKey
from gamekeeper_client.tokens import hash_password

R = TypeVar("R")
UserSort = Literal["name", "email"]
UserState = Literal["banned", "muted", "powers"]
FilteredUserSort = Literal["newest", "name", "email"]


class Power(Struct, rename="pascal"):
    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    personal_information: bool


class ChangedPower(Struct, rename="pascal"):
    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    api_personal_information: bool
    api_user_management: bool


class User(Struct, Generic[R], rename="pascal"):
    """An account. Reads return `User[Power]`, changes return `User[ChangedPower]`, as the API does."""

    id: str
    name: str
    email: str
    power: R
    password_reset_code: str | None
    is_muted: bool
    mute_reason: str | None
    is_banned: bool
    registration_date: str
    play_time_seconds: int


class HeldPowers(Struct, rename="pascal"):
    """All permissions of an account; `weakened_keys` are its API keys that lose permissions by a change."""

    id: str
    name: str
    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    users_query: bool
    users_manage: bool
    game_link: bool
    weakened_keys: list[WeakenedKey] = []


class Registered(Struct, rename="pascal"):
    username: str
    email: str


class FilteredUser(Struct, rename="pascal"):
    """An account of a filtered list. `last_sign_in` is None also for callers without audit.read."""

    id: str
    name: str
    email: str
    roles: list[str]
    granted: list[str]
    suspended: bool
    is_banned: bool
    is_muted: bool
    registration_date: str
    last_sign_in: str | None


class FilteredUsers(Struct, rename="pascal"):
    """A page of accounts that match a filter. `complete` is False if there may be more matches than `total`."""

    total: int
    complete: bool
    values: list[FilteredUser]


class Person(Struct):
    """All data of a person. The elements of the lists are JSON objects."""

    account: User[Power]
    characters: list[dict[str, Any]]
    texts: list[dict[str, Any]]
    guilds: list[dict[str, Any]]
    penalties: list[dict[str, Any]]
    roles: list[dict[str, Any]]
    api_keys: list[dict[str, Any]]
    second_factors: list[dict[str, Any]]
    recovery_codes: list[dict[str, Any]]
    identities: list[dict[str, Any]]
    mails: list[dict[str, Any]]
    callers: list[dict[str, Any]]
    approvals: list[dict[str, Any]]
    bulk_jobs: list[dict[str, Any]]
    bulk_targets: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    tags: list[dict[str, Any]]
    saved_views: list[dict[str, Any]]
    standings: list[dict[str, Any]]
    signals: list[dict[str, Any]]
    addresses: list[dict[str, Any]]
    log_addresses: list[dict[str, Any]]
    leftovers: list[dict[str, Any]]
    tokens: list[dict[str, Any]]
    security: list[dict[str, Any]]
    activity: list[dict[str, Any]]
    trades: list[dict[str, Any]]
    play_sessions: list[dict[str, Any]]
    play_time: list[dict[str, Any]]
    changes: list[dict[str, Any]]


class Users:
    @operation("GET", "/api/keeper/v1/users")
    def filter_users(
        self,
        page: int | None = None,
        *,
        state: UserState | None = None,
        role: str | None = None,
        signed_in_from: str | None = None,
        signed_in_to: str | None = None,
        search: str | None = None,
        sort_by: FilteredUserSort | None = None,
        sort_direction: Direction | None = None,
        page_size: int | None = None,
    ) -> Payload[FilteredUsers]:
        """List one page of the accounts that match a filter. Needs the role users.query.

        state: only accounts that are banned, are muted, or have any permission.
        role: only accounts with this role.
        signed_in_from: only accounts whose last sign-in was at this time or later; needs `audit.read`.
        signed_in_to: only accounts whose last sign-in was at this time or before; needs `audit.read`.
        search: only accounts whose name or email contains this text.
        sort_by: newest sorts by the start of the ban or mute, or by the last sign-in.
        Returns the page, with the number of matches.
        Raises BadField, SearchNotReady, TooManyLongReads, RoleMissing, PermissionMissing.
        """
        query = {
            "page": page,
            "state": state,
            "role": role,
            "signedInFrom": signed_in_from,
            "signedInTo": signed_in_to,
            "search": search,
            "sortBy": sort_by,
            "sortDirection": sort_direction,
            "pageSize": page_size,
        }
        return Payload(FilteredUsers, query=query)

    @operation("GET", "/api/v1/users")
    def list_users(
        self,
        page: int = 0,
        *,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: UserSort | None = None,
        sort_direction: Direction | None = None,
    ) -> Payload[Page[User[Power]]]:
        """List one page of all accounts, by name. Needs the role users.query.

        Returns the page, with the total number of accounts.
        Raises RoleMissing, BadField, SearchNotReady, TooManyLongReads.
        """
        return Payload(Page[User[Power]], query=build_page_query(page, page_size, search, sort_by, sort_direction))

    iterate_users = iterate_pages(list_users, "Iterate over all accounts, by name. Needs the role users.query.")

    @operation("POST", "/api/v1/users")
    def list_users_legacy(self, page: int = 0, count: int = 5) -> Payload[LegacyPage[User[Power]]]:
        """List accounts by name in the deprecated form; use `list_users`. Needs the role users.query.

        count: records per page.
        Returns the page, with the total number of accounts.
        Raises RoleMissing, BadField.
        """
        return Payload(LegacyPage[User[Power]], body={"page": page, "count": count})

    @operation("GET", "/api/v1/users/{user}")
    def get_user(self, user: str) -> Payload[User[Power]]:
        """Get one account. Needs the role users.query.

        Returns the account.
        Raises NoSuchUser, RoleMissing.
        """
        return Payload(User[Power])

    @operation("POST", "/api/v1/users/register")
    def register_user(
        self, username: str, password: str, email: str, **options: Unpack[WriteOptions]
    ) -> Payload[Registered]:
        """Register an account. Needs the role users.query.

        username: name of the new account.
        password: its password as the person types it; the client sends the SHA-256.
        email: its email address.
        Returns the name and the email address of the account.
        Raises RoleMissing, BadField, ReservedName, UsernameTaken, EmailTaken, TooManyRegistrations.
        """
        return Payload(Registered, body={"username": username, "password": hash_password(password), "email": email})

    @operation("POST", "/api/v1/users/{user}/name")
    def rename_user(self, user: str, name: str, **options: Unpack[WriteOptions]) -> Payload[User[ChangedPower]]:
        """Rename an account. Needs the role users.manage.

        name: the new name.
        Returns the account after the change.
        Raises NoSuchUser, RoleMissing, BadField, ReservedName, UsernameTaken.
        """
        return Payload(User[ChangedPower], body={"name": name})

    @operation("DELETE", "/api/v1/users/{user}")
    def delete_user(self, user: str, **options: Unpack[WriteOptions]) -> Payload[User[ChangedPower]]:
        """Delete an account with all its players, and erase the personal data. Needs the permission people.erase.

        Returns the account before the change. This response is not stored: a repeated call raises AnswerErased.
        Raises NoSuchUser, RoleMissing, PermissionMissing, PlayerOnline, OwnAccount, Outranked, LastManager,
        AnswerErased.
        """
        return Payload(User[ChangedPower])

    @operation("GET", "/api/keeper/v1/users/{user}/export")
    def export_person(self, user: str) -> Payload[Person]:
        """Export all data of a person. Needs the permission people.export.

        Returns the account and lists of everything else. The security log records the export.
        Raises NoSuchUser, PermissionMissing, ExportTooLarge, TooManyLongReads.
        """
        return Payload(Person)

    @operation("POST", "/api/keeper/v1/users/{user}/powers")
    def change_powers(
        self,
        user: str,
        *,
        editor: bool | None = None,
        ban: bool | None = None,
        kick: bool | None = None,
        mute: bool | None = None,
        api: bool | None = None,
        users_query: bool | None = None,
        users_manage: bool | None = None,
        game_link: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[HeldPowers]:
        """Give an account permissions (True) or remove them (False). Needs the role users.manage.

        You can change only permissions that your own account has. A permission that is None does not change.

        editor: may use the game's editor.
        ban: may ban accounts.
        kick: may kick players.
        mute: may mute accounts.
        api: may log in to the API.
        users_query: has the role users.query.
        users_manage: has the role users.manage.
        game_link: has the role game.link.
        Returns all permissions of the account after the change.
        Raises NoSuchUser, RoleMissing, Outranked, OwnPowers, RoleBeyondQuota, HeldByRole, LastManager.
        """
        powers = {"editor": editor, "ban": ban, "kick": kick, "mute": mute, "api": api}
        powers |= {"usersquery": users_query, "usersmanage": users_manage, "gamelink": game_link}
        return Payload(HeldPowers, body={name: given for name, given in powers.items() if given is not None})

    @operation("GET", "/api/v1/users/{user}/players")
    def list_user_players(self, user: str) -> Payload[list[Player]]:
        """List the players of an account. Needs the role users.query.

        Returns the players, oldest first.
        Raises NoSuchUser, TooManyLongReads, RoleMissing.
        """
        return Payload(list[Player])

    @operation("GET", "/api/v1/users/{user}/players/{player}")
    def get_user_player(self, user: str, player: str | int) -> Payload[Player]:
        """Get one player of an account. Needs the role users.query.

        player: name, id, or index in the result of `list_user_players`.
        Returns the player's record.
        Raises NoSuchUser, NoSuchPlayer, RoleMissing.
        """
        return Payload(Player)
