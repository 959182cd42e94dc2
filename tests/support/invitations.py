"""An open invitation for tests."""

from gamekeeper.http.contract import samples
from world import World

FAR = 4_000_000_000_000  # time in the far future, in milliseconds since 1970


def insert(world: World, inviter_id: str) -> None:
    """Insert the invitation of the documented examples, unless it is there."""
    values = f"'{samples.MAIL_ID}', 'old@example.test', 'old@example.test', 'shop', '{inviter_id}', 1, {FAR}, 0"
    names = "id, email, email_fold, roles, inviter_id, invited_at, expires_at, tries"
    world.sql(f"INSERT INTO invitations ({names}) VALUES ({values}) ON CONFLICT DO NOTHING")  # noqa: S608 - ours
