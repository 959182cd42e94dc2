"""Declaration of the acts on an account or a player: each is one handler at two paths."""

from collections.abc import Callable, Sequence

from gamekeeper.game.refusals import Refusal
from gamekeeper.http import wire
from gamekeeper.http.operation import QUERY, WRITE, Group, H


def declare_act(
    group: Group,
    act: str,
    permissions: frozenset[str],
    example: wire.moderation.Penalty | wire.moderation.Pardon | wire.commands.Warp,
    message: str,
    *,
    refusals: Sequence[type[Refusal]],
    account: str,
    player: str,
) -> Callable[[H], H]:
    """Declare an act at `/api/v1/users/[lookupKey]/admin/…` and at `/api/v1/players/[lookupKey]/admin/…`.

    `account` and `player` are names of the demo data, and `message` is the answer, for the examples.
    """

    def declare(handler: H) -> H:
        for noun, needed, key in (("user", QUERY | permissions, account), ("player", permissions, player)):
            group.operation(
                f"POST /api/v1/{noun}s/[lookupKey]/admin/{act}",
                name=f"{act}_{noun}",
                permissions=needed,
                access=WRITE,
                body=type(example),
                answer=wire.users.Message,
                refusals=refusals,
                example_path={"lookupKey": key},
                example_body=example,
                example_answer=wire.users.Message(message),
            )(handler)
        return handler

    return declare
