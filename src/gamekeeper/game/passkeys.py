"""Passkeys (WebAuthn): the browser's options for adding and using one, and checks of its answers.

An answer works once: the time of its challenge is stored, and challenges up to that time are refused.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gamekeeper.game.own_factor_refusals import WrongSecondFactor
from gamekeeper.game.tickets import Ticket
from gamekeeper.store import second_factors as rows
from gamekeeper.store.engine import Writing
from gamekeeper.store.second_factors import PASSKEY, SecondFactor

if TYPE_CHECKING:
    from webauthn.helpers.structs import PublicKeyCredentialDescriptor


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
