"""The limit of chat messages per account and minute. Each process counts its own."""

import time

from gamekeeper.game.delivery_refusals import TooManyMessages

MINUTE = 60.0  # seconds


class ChatGuard:
    def __init__(self) -> None:
        self._minutes: dict[str, tuple[float, int]] = {}  # account → end of its current minute, messages in it

    def count(self, account_id: str, most: int, *, dry_run: bool) -> None:
        """Refuse a message if the account has sent too many in this minute. Count it unless it is a dry run."""
        now = time.monotonic()
        self._minutes = {each: kept for each, kept in self._minutes.items() if kept[0] > now}
        ends, count = self._minutes.get(account_id, (now + MINUTE, 0))
        if count >= most:
            raise TooManyMessages(max(1, round(ends - now + 0.5)))
        if not dry_run:
            self._minutes[account_id] = ends, count + 1
