"""An open invitation for tests."""

from gamekeeper.http.contract import examples
from world import World

FAR = 4_000_000_000_000  # time in the far future, in milliseconds since 1970


def insert(world: World, inviter_id: str) -> None:
    """Insert the invitation of the documented examples, unless it is there."""
    names = {"email": "old@example.test", "email_fold": "old@example.test", "roles": "shop", "inviter_id": inviter_id}
    world.ensure("invitations", id=examples.MAIL_ID, invited_at=1, expires_at=FAR, tries=0, **names)
