"""Everything a client can do, in one list for both: an attribute here is a method of `Client` and of `AsyncClient`."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from gamekeeper_client import gameobjects, keeper, link, moderation, server, tokens
from gamekeeper_client import info as facts
from gamekeeper_client import mails as outbox
from gamekeeper_client import players as characters
from gamekeeper_client import users as accounts
from gamekeeper_client.call import Batch, Call
from gamekeeper_client.keywords import check_keywords

P = ParamSpec("P")
T = TypeVar("T")


class Blocking(Protocol):
    def send(self, call: Call[T], /) -> T: ...

    def walk(self, first: Call[Batch[T]], /) -> Iterator[T]: ...


class Awaiting(Protocol):
    def send(self, call: Call[T], /) -> Coroutine[Any, Any, T]: ...

    def walk(self, first: Call[Batch[T]], /) -> AsyncIterator[T]: ...


class One(Generic[P, T]):
    """A method with one answer."""

    def __init__(self, build: Callable[P, Call[T]]) -> None:
        self.build = check_keywords(build)
        update_wrapper(self, build)  # pyright: ignore[reportArgumentType] - help() then shows the function's own words

    @overload
    def __get__(self, client: None, owner: object = None) -> "One[P, T]": ...
    @overload
    def __get__(self, client: Awaiting, owner: object = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: Blocking, owner: object = None) -> Callable[P, T]: ...
    def __get__(self, client: Any, owner: object = None) -> Any:
        return self if client is None else _bound(self.build, client.send)


class Many(Generic[P, T]):
    """A method that iterates over answers."""

    def __init__(self, build: Callable[P, Call[Batch[T]]]) -> None:
        self.build = check_keywords(build)
        update_wrapper(self, build)  # pyright: ignore[reportArgumentType] - help() then shows the function's own words

    @overload
    def __get__(self, client: None, owner: object = None) -> "Many[P, T]": ...
    @overload
    def __get__(self, client: Awaiting, owner: object = None) -> Callable[P, AsyncIterator[T]]: ...
    @overload
    def __get__(self, client: Blocking, owner: object = None) -> Callable[P, Iterator[T]]: ...
    def __get__(self, client: Any, owner: object = None) -> Any:
        return self if client is None else _bound(self.build, client.walk)


def _bound(build: Callable[..., Call[Any]], carry_out: Callable[[Call[Any]], Any]) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the call takes and answers
        return carry_out(build(*args, **kwargs))

    return update_wrapper(method, build)


class Operations:
    players = Many(characters.players)
    players_page = One(characters.players_page)
    rank = Many(characters.rank)
    rank_page = One(characters.rank_page)
    online = Many(characters.online)
    online_page = One(characters.online_page)
    online_count = One(characters.online_count)
    legacy_players = One(characters.legacy_players)
    legacy_online = One(characters.legacy_online)
    player = One(characters.player)
    rank_of = One(characters.rank_of)
    variables = One(characters.variables)
    variable = One(characters.variable)
    variable_value = One(characters.variable_value)
    set_variable = One(characters.set_variable)
    items = One(characters.items)
    inventory = One(characters.inventory)
    bank = One(characters.bank)
    bag = One(characters.bag)
    give_item = One(characters.give_item)
    take_item = One(characters.take_item)
    spells = One(characters.spells)
    teach_spell = One(characters.teach_spell)
    forget_spell = One(characters.forget_spell)
    rename_character = One(characters.rename_character)
    set_level = One(characters.set_level)
    set_class = One(characters.set_class)
    delete_character = One(characters.delete_character)

    users = Many(accounts.users)
    users_page = One(accounts.users_page)
    legacy_users = One(accounts.legacy_users)
    user = One(accounts.user)
    register = One(accounts.register)
    validate_password = One(accounts.validate_password)
    change_email = One(accounts.change_email)
    change_password = One(accounts.change_password)
    manage_email = One(accounts.manage_email)
    manage_password = One(accounts.manage_password)
    request_password_reset = One(accounts.request_password_reset)
    redeem_reset_code = One(accounts.redeem_reset_code)
    rename_user = One(accounts.rename_user)
    delete_user = One(accounts.delete_user)
    change_powers = One(accounts.change_powers)
    players_of = One(accounts.players_of)
    player_of = One(accounts.player_of)

    ban_user = One(moderation.ban_user)
    unban_user = One(moderation.unban_user)
    mute_user = One(moderation.mute_user)
    unmute_user = One(moderation.unmute_user)
    kick_user = One(moderation.kick_user)
    ban_player = One(moderation.ban_player)
    unban_player = One(moderation.unban_player)
    mute_player = One(moderation.mute_player)
    unmute_player = One(moderation.unmute_player)
    kick_player = One(moderation.kick_player)

    issue_token = One(tokens.issue_token)
    refresh_token = One(tokens.refresh_token)
    revoke_tokens = One(tokens.revoke_tokens)
    revoke_token = One(tokens.revoke_token)

    put_catalogue = One(link.put_catalogue)
    catalogue = Many(link.catalogue)
    catalogue_page = One(link.catalogue_page)
    put_player = One(link.put_player)
    delete_player = One(link.delete_player)
    heartbeat = One(link.heartbeat)
    joined = One(link.joined)
    left = One(link.left)
    shut = One(link.shut)
    changes = One(link.changes)
    follow = Many(link.follow)

    history = Many(keeper.history)
    history_page = One(keeper.history_page)
    undo = One(keeper.undo)
    items_at = One(keeper.items_at)
    spells_at = One(keeper.spells_at)
    variables_at = One(keeper.variables_at)
    search = One(keeper.search)
    mails = Many(outbox.mails)
    mails_page = One(outbox.mails_page)
    retry_mail = One(outbox.retry_mail)

    objects = Many(gameobjects.objects)
    objects_page = One(gameobjects.objects_page)
    legacy_objects = One(gameobjects.legacy_objects)
    object_names = Many(gameobjects.object_names)
    object_names_page = One(gameobjects.object_names_page)
    legacy_object_names = One(gameobjects.legacy_object_names)
    game_object = One(gameobjects.game_object)

    versions = One(facts.versions)
    info = One(facts.about)
    authorized = One(facts.authorized)
    stats = One(facts.stats)
    config = One(facts.config)
    stat_names = One(facts.stat_names)
    openapi = One(server.openapi)
    live = One(server.live)
    ready = One(server.ready)
