"""Get token pairs over HTTP, and check whether they work."""

from world import PLAYERS, SENT, TOKEN, Answer, World

FIELDS = ["access_token", "token_type", "expires_in", "refresh_token", ".issued", ".expires"]
DENIED = "Authorization has been denied for this request."
MINUTE, DAY = 60_000, 86_400_000
BY_PASSWORD = {"grant_type": "password", "username": "Shop", "password": SENT}


def log_in(world: World, user: str = "Shop", **more: str) -> Answer:
    return world.post(TOKEN, BY_PASSWORD | {"username": user} | more, by=None).accepted()


def exchange(world: World, refresh_token: str) -> Answer:
    return world.post(TOKEN, {"grant_type": "refresh_token", "refresh_token": refresh_token}, by=None)


def works(world: World, log_in: Answer) -> bool:
    answer = world.get(PLAYERS, token=log_in.json["access_token"])
    assert answer.status in {200, 401}
    return answer.status == 200


def require_oauth_error(answer: Answer, error: str) -> None:
    """Require an error answer of RFC 6749 with our additional fields."""
    assert (answer.status, answer.json["error"]) == (400, error), answer.raw
    assert list(answer.json) == ["error", "Message", "Code", "RequestId"]
    assert answer.message
