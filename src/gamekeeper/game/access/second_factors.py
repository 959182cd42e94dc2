"""Second factors: TOTP codes, passkeys (WebAuthn) and recovery codes. A code works once, over all instances.

So does an answer of a passkey: the time of its challenge is stored, and challenges up to that time are refused.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from gamekeeper.game.access import guess_limits, permissions, security_log
from gamekeeper.game.access.changes import IdentitiesChanged, SecondFactorsChanged, SecondFactorsReset
from gamekeeper.game.access.console_refusals import (
    FactorExists,
    FactorRequired,
    NoSuchFactor,
    TooManyFactors,
    WrongSecondFactor,
)
from gamekeeper.game.access.credentials import AccessKeeper, Ticket
from gamekeeper.game.access.key_file import KeyFile
from gamekeeper.game.access.permissions import is_removable_identity
from gamekeeper.game.access.refusals import OwnFactors
from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Actor
from gamekeeper.game.core.refusals import TooManyGuesses
from gamekeeper.game.core.request import Origin, SecurityEvent
from gamekeeper.game.core.writes import Decision
from gamekeeper.ground.settings import Settings
from gamekeeper.store.access import credentials
from gamekeeper.store.access import second_factors as rows
from gamekeeper.store.access.second_factors import PASSKEY, TOTP, SecondFactor
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading, Writing

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor

T = TypeVar("T")
Check = Callable[[Writing], Coroutine[Any, Any, T | None]]
# uses up a code or a passkey's answer in a transaction; False: it was wrong, or used already
UseFactor = Callable[[Writing], Coroutine[Any, Any, bool]]
STEP_SECONDS = 30  # lifetime of a TOTP code (RFC 6238)
SKEW_STEPS = 1  # codes of this many time steps before and after the present one are accepted
MAX_FACTORS = 10  # per account
MAX_NAME = 40  # characters of a factor's name
RECOVERY_CODES = 10
RECOVERY_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters and digits that look alike
RECOVERY_LENGTH, RECOVERY_GROUP = 16, 4  # characters of a recovery code (79 bits), and of each group of it


class Policy(NamedTuple):
    """The settings for second factors."""

    required_roles: frozenset[str] = frozenset()  # accounts with such a role need a second factor
    staff_without_factor: bool = True  # tokens of accounts without a factor manage staff and keys by users.manage

    def find_required_role(self, user_roles: Sequence[str]) -> str:
        """Return a role of the account that requires a second factor; empty: none does."""
        return min(self.required_roles & {*user_roles}, default="")


DEFAULT_POLICY = Policy()


@lru_cache(maxsize=8)
def read_policy(settings: Settings) -> Policy:
    named = (each.strip().lower() for each in settings.second_factor_roles.split(","))
    return Policy(frozenset(filter(None, named)), settings.staff_without_second_factor)


async def find_missing_role(tx: Reading, settings: Settings, user: User) -> str:
    """Return a role for which the account still needs a second factor; empty: none, or it has a factor."""
    role = read_policy(settings).find_required_role(permissions.list_roles(user))
    return "" if not role or await rows.has_any(tx, user.id) else role


def make_secret() -> str:
    import pyotp  # noqa: PLC0415 - imported with the first factor, so that the server starts fast

    return pyotp.random_base32()


def describe_secret(settings: Settings, user: str, secret: str) -> str:
    """Return the otpauth:// address of a secret, for a QR code."""
    import pyotp  # noqa: PLC0415 - imported at its first use, so that the server starts fast

    totp = pyotp.TOTP(secret)
    return totp.provisioning_uri(user, issuer_name=settings.game_name)  # pyright: ignore[reportUnknownMemberType] - its **kwargs have no type


def find_step(secret: str, sent: str, at: float | None = None) -> int | None:
    """Return the time step of a TOTP code; None: it is wrong, too old or too new.

    The time is that of this machine, which phones agree with. The database's clock may be ahead: see SteadyClock.
    """
    import pyotp  # noqa: PLC0415 - imported at its first use, so that the server starts fast

    totp, now = pyotp.TOTP(secret), int(time.time() if at is None else at) // STEP_SECONDS
    steps = range(now - SKEW_STEPS, now + SKEW_STEPS + 1)
    return next((each for each in steps if hmac.compare_digest(totp.generate_otp(each).encode(), sent.encode())), None)


def seal_secret(keys: KeyFile, user_id: str, secret: str) -> str:
    return keys.seal(secret.encode(), f"totp {user_id}")


def unseal_secret(keys: KeyFile, user_id: str, sealed: str) -> str | None:
    """Decrypt a stored TOTP secret. None: the key file is not the one that it was encrypted with."""
    found = keys.unseal(sealed, f"totp {user_id}")
    return None if found is None else found.decode()


async def use_code(tx: Writing, keeper: AccessKeeper, user_id: str, sent: str, origin: Origin) -> bool:
    """Use up a TOTP code or a recovery code. False: it is wrong, or was used already."""
    code = "".join(sent.split()).replace("-", "").lower()
    if not code.isdigit() or len(code) == RECOVERY_LENGTH:
        used = bool(await tx.returning(rows.SQL.use_recovery_code, user_id, hash_recovery_code(user_id, code)))
        if used:
            security_log.record(tx, SecurityEvent("recovery_code_used", user_id, user_id, origin))
        return used
    for factor in await rows.read_of_user(tx, user_id):
        secret = unseal_secret(keeper.key_file, user_id, factor.secret) if factor.kind == TOTP else None
        step = find_step(secret, code) if secret else None
        if step is not None and await rows.use(tx, factor.id, step, 0):
            return True
    return False


async def run_as_guess(keeper: AccessKeeper, user_id: str, origin: Origin, check: Check[T]) -> T | None:
    """Run a check of a second factor in a transaction. It counts as a guess at the account, like a wrong password.

    None: the check failed, and the guess stays counted.
    """
    guess = guess_limits.make_address_guess(user_id, "", origin.address or "")

    async def check_and_release(tx: Writing) -> T | None:
        found = await check(tx)
        if found is not None:
            guess_limits.release_right_guess(tx, guess, second_factor=True)
        return found

    try:
        async with guess_limits.reserve_guess(keeper.store, keeper.settings, guess):
            found = await keeper.store.write(check_and_release)
    except TooManyGuesses:
        keeper.failed_guesses.add("guess_refused", guess.user_id, guess.actor_id, guess.client)
        raise
    if found is None:
        keeper.failed_guesses.add("guess_failed", guess.user_id, guess.actor_id, guess.client)
    return found


async def require_factor(keeper: AccessKeeper, user_id: str, origin: Origin, use_factor: UseFactor) -> None:
    """Require a right code or passkey from somebody who is signed in already."""

    async def check(tx: Writing) -> bool | None:
        return await use_factor(tx) or None

    if not await run_as_guess(keeper, user_id, origin, check):
        raise WrongSecondFactor


def make_recovery_codes() -> list[str]:
    def make() -> str:
        text = "".join(secrets.choice(RECOVERY_ALPHABET) for _ in range(RECOVERY_LENGTH))
        return "-".join(text[at : at + RECOVERY_GROUP] for at in range(0, RECOVERY_LENGTH, RECOVERY_GROUP))

    return [make() for _ in range(RECOVERY_CODES)]


def hash_recovery_code(user_id: str, code: str) -> str:
    """Hash a recovery code. It is random and long, so a fast hash is enough."""
    return hashlib.sha256(f"{user_id}\n{code.replace('-', '')}".encode()).hexdigest()


def make_totp(keeper: AccessKeeper, ticket: Ticket, name: str, sent: str) -> SecondFactor:
    """Make a TOTP factor, if the code that was sent proves that the owner's app has the secret of the ticket."""
    step = find_step(ticket.value, "".join(sent.split()))
    if step is None:
        raise WrongSecondFactor
    sealed = seal_secret(keeper.key_file, ticket.user_id, ticket.value)
    return SecondFactor(ticket.id, ticket.user_id, TOTP, name, sealed, used_step=step)


async def add(tx: Reading, factor: SecondFactor, session_id: str | None = None) -> Decision[list[str]]:
    """Add a second factor. The result is the account's new recovery codes if it is the first one, else empty.

    The first one ends all sessions of the account but `session_id`.
    """
    values.require_text(factor.name, "name", MAX_NAME)
    user = await lookup.lock_user(tx, factor.user_id)
    held = await rows.read_of_user(tx, user.id)
    if any(each.id == factor.id for each in held):
        raise FactorExists
    if len(held) >= MAX_FACTORS:
        raise TooManyFactors(most=MAX_FACTORS)
    codes = [] if held else make_recovery_codes()
    hashes = [hash_recovery_code(user.id, each) for each in codes]
    return Decision([SecondFactorsChanged(user, held, factor, code_hashes=hashes, session_id=session_id)], codes)


async def remove(tx: Reading, settings: Settings, user_id: str, factor_id: str) -> Decision[None]:
    """Remove a second factor of the caller. With the last one the recovery codes go too."""
    user = await lookup.lock_user(tx, user_id)
    held = await rows.read_of_user(tx, user.id)
    found = next((each for each in held if each.id == factor_id), None)
    if found is None:
        raise NoSuchFactor
    role = read_policy(settings).find_required_role(permissions.list_roles(user))
    if role and len(held) == 1:
        raise FactorRequired(role=role)
    return Decision([SecondFactorsChanged(user, held, removed=found)], None)


async def renew_recovery_codes(tx: Reading, user_id: str) -> Decision[list[str]]:
    """Replace the recovery codes of the caller, used and unused ones."""
    user = await lookup.lock_user(tx, user_id)
    held = await rows.read_of_user(tx, user.id)
    if not held:
        raise NoSuchFactor
    codes = make_recovery_codes()
    hashes = [hash_recovery_code(user.id, each) for each in codes]
    return Decision([SecondFactorsChanged(user, held, code_hashes=hashes)], codes)


async def reset(tx: Reading, key: str, actor: Actor | None, settings: Settings) -> Decision[User]:
    """Remove all second factors and recovery codes of an account, and revoke its tokens and sessions.

    It also removes linked sign-ins, except those that would make a second account: a stolen password can link one.

    `actor`: the caller, who must not be outranked by the account; None: the command line.
    """
    user = await lookup.find_user(tx, await lookup.lock_user_id(tx, key, actor.id if actor else None))
    if actor is not None:
        if user.id == actor.id:
            raise OwnFactors
        await permissions.require_reach(tx, user, actor)
    held = await rows.read_of_user(tx, user.id)
    unlinked = await _unlink(tx, user, settings)
    changes = [SecondFactorsReset(user, held), *unlinked] if held or unlinked else []
    return Decision(changes, user, subject=(None, user.id))


async def _unlink(tx: Reading, user: User, settings: Settings) -> list[IdentitiesChanged]:
    held, changes = await credentials.read_identities(tx, user.id), list[IdentitiesChanged]()
    for each in [each for each in held if is_removable_identity(each, settings)]:
        changes.append(IdentitiesChanged(user, held, removed=each))
        held = [other for other in held if other is not each]
    return changes


class Site(NamedTuple):
    """The site of the console, as browsers know it. A passkey belongs to one site."""

    origin: str  # such as https://keeper.example:8443
    rp_id: str  # such as keeper.example
    name: str


class _Answer(msgspec.Struct):
    """The part of a passkey's answer that tells which passkey it is."""

    id: str


def list_passkeys(factors: Sequence[SecondFactor]) -> list[SecondFactor]:
    return [each for each in factors if each.kind == PASSKEY]


def make_set_up_options(site: Site, ticket: Ticket, user: str, factors: Sequence[SecondFactor]) -> str:
    """Return the options with which the browser makes a passkey, as JSON."""
    import webauthn  # noqa: PLC0415 - imported with the first passkey, so that the server starts fast
    from webauthn.helpers.structs import (  # noqa: PLC0415 - as above
        AuthenticatorSelectionCriteria,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    preferred = AuthenticatorSelectionCriteria(
        resident_key=ResidentKeyRequirement.DISCOURAGED, user_verification=UserVerificationRequirement.PREFERRED
    )
    options = webauthn.generate_registration_options(
        rp_id=site.rp_id,
        rp_name=site.name,
        user_name=user,
        user_id=ticket.user_id.encode(),
        challenge=ticket.challenge.encode(),
        authenticator_selection=preferred,
        exclude_credentials=_describe(factors),
    )
    return webauthn.options_to_json(options)


def make_check_options(site: Site, ticket: Ticket, factors: Sequence[SecondFactor]) -> str:
    """Return the options with which the browser asks for one of the account's passkeys, as JSON."""
    import webauthn  # noqa: PLC0415 - as above

    options = webauthn.generate_authentication_options(
        rp_id=site.rp_id, challenge=ticket.challenge.encode(), allow_credentials=_describe(factors)
    )
    return webauthn.options_to_json(options)


def make_passkey(site: Site, ticket: Ticket, name: str, answer: str) -> SecondFactor:
    """Make a factor from the browser's answer to the options for a new passkey."""
    import webauthn  # noqa: PLC0415 - as above
    from webauthn.helpers import bytes_to_base64url  # noqa: PLC0415 - as above
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415 - as above

    try:
        made = webauthn.verify_registration_response(
            credential=answer,
            expected_challenge=ticket.challenge.encode(),
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
        )
    except (WebAuthnException, ValueError):
        raise WrongSecondFactor from None
    return SecondFactor(
        ticket.id,
        ticket.user_id,
        PASSKEY,
        name,
        bytes_to_base64url(made.credential_public_key),
        bytes_to_base64url(made.credential_id),
        made.sign_count,
        ticket.made_at,
    )


async def use_passkey(tx: Writing, site: Site, ticket: Ticket, answer: str) -> bool:
    """Use up a passkey's answer. False: it is wrong, or its challenge or a later one was answered already."""
    import webauthn  # noqa: PLC0415 - as above
    from webauthn.helpers import base64url_to_bytes  # noqa: PLC0415 - as above
    from webauthn.helpers.exceptions import WebAuthnException  # noqa: PLC0415 - as above

    try:
        wanted = msgspec.json.decode(answer, type=_Answer).id
        factors = list_passkeys(await rows.read_of_user(tx, ticket.user_id))
        factor = next(each for each in factors if each.credential_id == wanted)
        checked = webauthn.verify_authentication_response(
            credential=answer,
            expected_challenge=ticket.challenge.encode(),
            expected_rp_id=site.rp_id,
            expected_origin=site.origin,
            credential_public_key=base64url_to_bytes(factor.secret),
            credential_current_sign_count=factor.sign_count,
        )
    except (StopIteration, WebAuthnException, ValueError):
        return False
    return await rows.use(tx, factor.id, ticket.made_at, checked.new_sign_count)


def _describe(factors: Sequence[SecondFactor]) -> "list[PublicKeyCredentialDescriptor]":
    from webauthn.helpers import base64url_to_bytes  # noqa: PLC0415 - as above
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor  # noqa: PLC0415 - as above

    return [
        PublicKeyCredentialDescriptor(id=base64url_to_bytes(each.credential_id or ""))
        for each in list_passkeys(factors)
    ]
