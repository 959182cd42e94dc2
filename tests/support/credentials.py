"""Operations that need a password or a reset code."""

from world import NEW, SENT, USERS, Answer, World

VALIDATE, EMAIL, PASSWORD, RESET = "password/validate", "email/change", "password/change", "password/reset"
MANAGE_EMAIL, MANAGE_PASSWORD = "manage/email/change", "manage/password/change"
BODIES: dict[str, dict[str, object]] = {
    VALIDATE: {"password": SENT},
    EMAIL: {"new": "ann@new.test", "authorization": SENT},
    PASSWORD: {"new": NEW, "authorization": SENT},
    MANAGE_EMAIL: {"new": "ann@new.test"},
    MANAGE_PASSWORD: {"new": NEW},
    RESET: {"code": "never issued", "new": NEW},
}


def post(world: World, operation: str, body: object = None, *, user: str = "Ann", **more: str) -> Answer:
    return world.post(f"{USERS}/{user}/{operation}", BODIES[operation] if body is None else body, **more)


def redeem(world: World, code: str, new: str = NEW, **more: str) -> Answer:
    return post(world, RESET, {"code": code, "new": new}, **more)


def opens(world: World, password: str, user: str = "Ann") -> bool:
    answer = post(world, VALIDATE, {"password": password}, user=user)
    assert answer.status in {200, 400}
    return answer.status == 200
