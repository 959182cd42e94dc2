"""Checks of accounts: names, permissions, imported passwords, waiting mail, and tags compared with the audit log."""

from collections.abc import Iterable

import msgspec

from gamekeeper.doctor import findings
from gamekeeper.doctor.findings import ERROR, NOTE, Check, DoctorFinding, Examination, Findings, LateCheck
from gamekeeper.game.access import credentials, identities, permissions, second_factors
from gamekeeper.game.access.refusals import KeyFileUnusable
from gamekeeper.game.accounts import erasures
from gamekeeper.game.audit.retention import DAY_MS
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.lookup import ZERO_GUID, fold, make_clashing_fold
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import BadSetting, Settings
from gamekeeper.http.audit.change_shapes import TagsSide
from gamekeeper.store.access import credentials as upgrade_rows
from gamekeeper.store.access import roles
from gamekeeper.store.access import second_factors as factor_rows
from gamekeeper.store.accounts import mails, notes, users
from gamekeeper.store.core import ledger
from gamekeeper.store.core.ledger import read_state
from gamekeeper.store.engine.interface import Reading, Row
from gamekeeper.store.players import presence

KEY_FILE_ADVICE = "Put the right key file back, or run: gamekeeper users reset-second-factor NAME"
COMPARED = frozenset({*roles.Powers._fields, "roles", "permissions"})  # fields that the audit log must have too


async def check(it: Examination) -> None:
    tx, found, settings = it.tx, it.found, it.keeper.settings
    await _check_columns(it)
    await _check_roles(tx, found)
    if not await users.has_api_account(tx):
        found.add(NOTE, "accounts", "No account has API access. Give it to one with: gamekeeper users api NAME on")
    await _check_mail(tx, found, settings)
    for each in (*await check_required_roles(tx, settings), *await check_oidc_roles(tx, settings)):
        found.add(each.level, each.check, each.message)
    for message in await erasures.describe_backlog(tx):
        found.add(NOTE, "erasing", message)


async def _check_columns(it: Examination) -> None:
    """Compare folded names and emails of accounts with the unfolded ones, and permissions with the audit log."""
    tx = it.tx
    total, done, last = await users.count(tx), 0, ZERO_GUID
    trimmed = (await read_state(tx)).trimmed
    while page := await tx.rows(users.UserCheckRow, users.SQL.checked_after, last, findings.PAGE_ROWS):
        told = await _read_powers(tx, it.codec, page[0].id, page[-1].id, trimmed)
        for user in page:
            _check_folds(user, it.found)
            held = user.powers._asdict() | _list_grants(user.grants)
            differing = [name for name, value in told.get(user.id, {}).items() if held[name] != value]
            if differing:
                differ = f"{', '.join(differing)} differ from the audit log."
                it.found.error("powers", f"Account {user.name} ({user.id}): {differ}")
        last, done = page[-1].id, done + len(page)
        it.progress("accounts", done, total)


def _list_grants(grants: roles.Grants) -> dict[str, object]:
    """Return an account's roles and directly granted permissions as the audit log has them."""
    return {"roles": grants.roles, "permissions": tuple(sorted(grants.direct))}


async def _check_roles(tx: Reading, found: Findings) -> None:
    """Report permissions of roles that this version does not know: they have no effect."""
    for role in (await roles.read_all(tx)).values():
        for unknown in sorted(role.permissions - permissions.ALL):
            found.add(NOTE, "roles", f"The role {role.name} has the permission {unknown}, which does not exist.")


async def check_required_roles(tx: Reading, settings: Settings) -> list[DoctorFinding]:
    """Report roles that should require a second factor, but do not exist."""
    required = second_factors.read_policy(settings).required_roles
    unknown = sorted(required - (await roles.read_all(tx)).keys()) if required else []
    return [_report_role("second factors", "GAMEKEEPER_SECOND_FACTOR_ROLES", each) for each in unknown]


async def check_oidc_roles(tx: Reading, settings: Settings) -> list[DoctorFinding]:
    """Report roles that a sign-in with OpenID Connect should give, but that do not exist."""
    try:
        unknown = await identities.find_unknown_roles(tx, settings)
    except BadSetting:
        return []  # the check of the settings reports it
    return [_report_role("openid connect", "GAMEKEEPER_OIDC_ROLES", each) for each in unknown]


def _report_role(check: str, setting: str, role: str) -> DoctorFinding:
    advice = "Correct the setting, or create the role. List the roles with: gamekeeper roles list"
    return DoctorFinding(ERROR, check, f"{setting} names the role {role}, which does not exist. {advice}")


async def check_secrets(keeper: Keeper) -> list[DoctorFinding]:
    """Report TOTP secrets that the key file cannot decrypt: their owners cannot sign in with a code."""
    found, last = Findings(), ZERO_GUID
    try:
        while page := await keeper.store.rows(
            factor_rows.StoredSecret, factor_rows.SQL.totp_after, last, findings.PAGE_ROWS
        ):
            for each in page:
                if second_factors.unseal_secret(keeper.key_file, each.user_id, each.secret) is None:
                    message = f"The key file {keeper.key_file.path} cannot decrypt a second factor of {each.user}."
                    found.error("second factors", message, KEY_FILE_ADVICE)
            last = page[-1].id
    except KeyFileUnusable as unusable:
        found.add(ERROR, "second factors", unusable.message)
    return found.all()


def _check_folds(user: users.UserCheckRow, found: Findings) -> None:
    """Check an account's folded name and email. Those of a taken name and of a taken or invalid email end in the id."""
    wrong = ["name"] if user.fold not in {fold(user.name), make_clashing_fold(user.name, user.id)} else []
    wrong += ["email"] if user.email_fold not in {fold(user.email), make_clashing_fold("", user.id)} else []
    if wrong:
        message = f"Account {user.name} ({user.id}): the folded {' and '.join(wrong)} differs from the unfolded one"
        found.error("names", f"{message}, so look-ups and log-ins miss it.")


async def _read_powers(
    tx: Reading, spelling: Codec, first: str, last: str, trimmed: int
) -> dict[str, dict[str, object]]:
    """Read the permissions of these accounts from the audit log; the newest change of each account counts."""
    told: dict[str, dict[str, object]] = {}
    mark: Row = (first, 0)
    while page := await tx.all(ledger.SQL.powers_between, *mark, last, trimmed, findings.PAGE_ROWS):
        for user_id, _, after in page:
            try:
                said = spelling.decode_side(after).user
            # skip unreadable changes: the check of the audit log reports them
            except (msgspec.DecodeError, ValueError):
                continue
            powers = {name: value for name, value in said.items() if name in COMPARED}
            told.setdefault(user_id, {}).update(powers)
        mark = (page[-1][0], page[-1][1])
    return told


async def check_passwords(keeper: Keeper) -> list[DoctorFinding]:
    count = await keeper.store.value(upgrade_rows.SQL.count_imported_hashes) or 0
    if not count:
        return []
    per_minute = await credentials.measure_wraps_per_minute(keeper)
    pace = f"`gamekeeper serve` does it while it runs, about {per_minute} a minute in each process"
    message = f"{count} imported passwords are still to be wrapped in argon2id; {pace}."
    return [DoctorFinding(NOTE, "passwords", message)]


async def _check_mail(tx: Reading, found: Findings, settings: Settings) -> None:
    waiting = {row[0]: row[1] for row in await tx.all(mails.SQL.waiting)}
    if not settings.smtp_url:
        count = sum(waiting.values())
        message = f"Mail is not set up, so it waits in the outbox ({count} there now)."
        found.note("mail", message, "Set GAMEKEEPER_SMTP_URL.")
        return
    for said, count in waiting.items():
        why = f"the last try failed with: {said}" if said else "not tried yet"
        found.note("mail", f"{count} mails wait to be sent; {why}.", "See: gamekeeper mail list")
    failed = await tx.value(mails.SQL.count_failed, settings.mail_days * DAY_MS) or 0
    if failed:
        found.note("mail", f"{failed} mails failed permanently.", "See: gamekeeper mail list")


Tags = dict[tuple[str, str], list[str]]  # account and player, or the zero guid → tags in order
_decode_side = msgspec.json.Decoder(TagsSide).decode


async def check_tags(it: Examination) -> None:
    """Check that each account and player has the tags of its newest audit log entry."""
    tx, found = it.tx, it.found
    told, held = await _read_told(tx, found), await _read_held(tx)
    trimmed = (await ledger.read_state(tx)).trimmed
    # the audit log entry of a tag may be trimmed
    wrong = [each for each, _, _ in findings.compare(told, held, []) if each in told or not trimmed]
    # tags of a player are erased with its last account, and the audit log entry belongs to the account of that time
    erased = await _find_missing(tx, {player for user, player in wrong if (user, player) not in held})
    for user_id, player_id in wrong:
        if (user_id, player_id) in held or player_id not in erased:
            whose = f"account {user_id}" if player_id == ZERO_GUID else f"player {player_id} of account {user_id}"
            found.error("tags", f"The tags of {whose} differ from the audit log.")


async def _read_told(tx: Reading, found: Findings) -> Tags:
    told: Tags = {}
    seq = 0
    while page := await tx.all(notes.SQL.tag_changes_after, seq, findings.PAGE_ROWS):
        for seq, user_id, after in page:
            try:
                side = _decode_side(after)
            except msgspec.DecodeError as error:
                found.error("tags", f"Change {seq} of the audit log cannot be read: {error}.")
                continue
            told[user_id, side.PlayerId or ZERO_GUID] = side.Tags or []
    return told


async def _read_held(tx: Reading) -> Tags:
    held: Tags = {}
    last = (ZERO_GUID, ZERO_GUID, "")
    while page := await tx.all(notes.SQL.all_tags_after, *last, findings.PAGE_ROWS):
        for user_id, player_id, tag in page:
            held.setdefault((user_id, player_id), []).append(tag)
        last = page[-1]
    return {whose: sorted(tags) for whose, tags in held.items()}


async def _find_missing(tx: Reading, player_ids: Iterable[str]) -> set[str]:
    """Return which of these players do not exist."""
    wanted = {*player_ids} - {ZERO_GUID}
    return wanted - await presence.find_known_players(tx, wanted) if wanted else set()


WORDS = ("accounts", "powers", "names", "roles", "mail", "erasing", "second factors", "openid connect")
CHECKS = (
    Check(110, ("tags",), check_tags),
    Check(120, WORDS, check),
)
LATE_CHECKS = (LateCheck(10, ("passwords",), check_passwords), LateCheck(20, ("second factors",), check_secrets))
