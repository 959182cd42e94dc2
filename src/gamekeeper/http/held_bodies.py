"""Bodies of requests that wait for an approval. Those with a password are stored encrypted with the key file."""

from gamekeeper.game.approval_refusals import RequesterLostAccess
from gamekeeper.game.key_file import KeyFile
from gamekeeper.http import fingerprints
from gamekeeper.http.operation import Route

SEALED = b"sealed:"  # prefix of an encrypted body; no JSON begins so


def seal(keys: KeyFile, route: Route, path: bytes, body: bytes) -> bytes:
    """Encrypt a body whose shape has a secret field; return others as they are."""
    if route.body in {None, bytes} or fingerprints.is_encoded_whole(route.body):
        return body
    return SEALED + keys.seal(body, _name_purpose(path)).encode()


def unseal(keys: KeyFile, path: bytes, body: bytes) -> bytes:
    if not body.startswith(SEALED):
        return body
    found = keys.unseal(body.removeprefix(SEALED).decode(), _name_purpose(path))
    if found is None:
        raise RequesterLostAccess  # encrypted with another key file: it must be asked for again
    return found


def _name_purpose(path: bytes) -> str:
    return f"approval {path.decode('latin-1')}"
