"""Encryption with the key file: for stored secrets, and for state that a browser keeps between two steps.

Encryption is authenticated (AES-256-GCM): a changed text, or one that was made for another purpose, is not decrypted.
"""

import base64
import contextlib
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from gamekeeper.game.access.refusals import KeyFileUnusable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES, NONCE_BYTES = 32, 12
HOW_TO_MAKE = "Make one with: (umask 077; openssl rand -base64 32 > gamekeeper.key)"
NOT_SET = (
    f"second factors, and approvals of new passwords, need a key file on PostgreSQL. {HOW_TO_MAKE}. "
    "Then set GAMEKEEPER_SECRET_KEY_FILE to it"
)


class KeyFile:
    """The secret key of this installation. It is read when it is first needed.

    For a SQLite database without the setting it is made beside the database.
    """

    def __init__(self, given: str, database: Path | None) -> None:
        self.path = Path(given) if given else database and database.with_name(database.name + ".key")
        self._makes_it = not given
        self._cipher: AESGCM | None = None

    def seal(self, content: bytes, purpose: str) -> str:
        """Encrypt a text for one purpose, such as the secret of one account."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return base64.urlsafe_b64encode(nonce + self._open().encrypt(nonce, content, purpose.encode())).decode()

    def unseal(self, sealed: str, purpose: str) -> bytes | None:
        """Decrypt a text. None: it was changed, or made for another purpose or with another key."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - imported with the first secret, so that the server starts fast

        try:
            raw = base64.urlsafe_b64decode(sealed.encode())
            return self._open().decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], purpose.encode())
        except (InvalidTag, ValueError):
            return None

    def _open(self) -> "AESGCM":
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as above

            self._cipher = AESGCM(self._read())
        return self._cipher

    def _read(self) -> bytes:
        if self.path is None:
            raise KeyFileUnusable(problem=NOT_SET)
        try:
            if self._makes_it and not self.path.exists():
                _make(self.path)
            key = base64.b64decode(self.path.read_bytes(), validate=False)
        except (OSError, ValueError) as error:
            raise KeyFileUnusable(problem=f"the key file {self.path} cannot be read: {error}. {HOW_TO_MAKE}") from None
        if len(key) != KEY_BYTES:
            problem = f"the key file {self.path} does not have 32 bytes in base64. {HOW_TO_MAKE}"
            raise KeyFileUnusable(problem=problem)
        return key


def _make(path: Path) -> None:
    """Make a key file that only its owner can read. If another process makes it at the same time, one of them wins."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    written = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(written, base64.b64encode(secrets.token_bytes(KEY_BYTES)) + b"\n")
        os.fsync(written)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        os.close(written)
        draft.unlink()
