"""The doctor's checks of settings that are wrong or unsafe, of the database file, and of unfinished imports."""

import ipaddress
import os
import shutil
from pathlib import Path

from gamekeeper.doctor.accounts import check_oidc_roles, check_required_roles
from gamekeeper.doctor.findings import ERROR, NOTE, DoctorFinding, LateCheck
from gamekeeper.game.keeper import Keeper
from gamekeeper.ground.settings import BadSetting, Settings, describe_unknown
from gamekeeper.http.access import oidc_settings
from gamekeeper.http.accounts import mails
from gamekeeper.http.server.proxies import Proxies
from gamekeeper.http.server.response_headers import Cors
from gamekeeper.store.engine.database_checks import find_standby_shortage
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import imports

OTHERS_CAN_READ = 0o004
GIB = 1 << 30
MIN_FREE_SHARE = 0.05  # the doctor warns if less than this share of the disk is free; on large disks 1 GiB is enough
IMPORTS = "imports"
RESUME_ADVICE = "data is missing. To continue it, run the same command again: gamekeeper import intersect … --report"
TLS_ADVICE = "give --tls-cert and --tls-key to serve, or put a proxy that speaks TLS in front and listen on 127.0.0.1."


def is_exposed(host: str) -> bool:
    """Return whether other machines can reach this host; assumed for every name except localhost."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() != "localhost"


def lacks_tls(settings: Settings) -> bool:
    """Return whether passwords and tokens would cross a network unencrypted."""
    return is_exposed(settings.host) and not settings.tls_cert


async def check_standbys(keeper: Keeper) -> list[DoctorFinding]:
    shortage = await find_standby_shortage(keeper.store, keeper.settings.synchronous_standbys)
    return [DoctorFinding(ERROR, "standbys", shortage)] if shortage else []


def check(keeper: Keeper) -> list[DoctorFinding]:
    settings, found = keeper.settings, list[DoctorFinding]()
    for check in (mails.check, Proxies, Cors, oidc_settings.check):
        try:
            check(settings)
        except BadSetting as problem:
            found.append(DoctorFinding(ERROR, "settings", str(problem)))
    found += [DoctorFinding(NOTE, "settings", each) for each in describe_unknown()]
    if lacks_tls(settings):
        message = f"{settings.host} can be reached from outside without TLS: {TLS_ADVICE}"
        found.append(DoctorFinding(NOTE, "settings", message))
    found += check_secret_files(keeper)
    return found + (_check_file(keeper.store.path) if keeper.store.path else [])


def check_secret_files(keeper: Keeper) -> list[DoctorFinding]:
    """Report secret files that others can read. With the key file and the database, second factors are known."""
    key, given = keeper.key_file.path, keeper.settings.oidc_client_secret_file
    client = Path(given) if given else None
    return [
        *_check_access("second factors", key, f"the key file {key} of the second factors"),
        *_check_access("openid connect", client, f"the secret {client} of the OpenID Connect client"),
    ]


def _check_access(check: str, file: Path | None, what: str) -> list[DoctorFinding]:
    """Report a file that others can read."""
    if os.name != "posix" or file is None or not file.exists() or not file.stat().st_mode & OTHERS_CAN_READ:
        return []
    return [DoctorFinding(NOTE, check, f"All users of this machine can read {what}. Run: chmod 600 {file}")]


def _check_file(file: Path) -> list[DoctorFinding]:
    found, disk = list[DoctorFinding](), shutil.disk_usage(file.parent)
    if disk.free < min(disk.total * MIN_FREE_SHARE, GIB):
        left = f"The disk of {file} has {disk.free / GIB:.2f} GiB left."
        found.append(DoctorFinding(NOTE, "disk", f"{left} When it is full, changes fail: free some space."))
    return found + _check_access("settings", file, str(file))


async def find_unfinished_imports(tx: Reading) -> list[DoctorFinding]:
    """Find imports that were interrupted or are still running: the database does not show which of the two."""
    found: list[DoctorFinding] = []
    for stage, report, followed in await tx.rows(imports.UnfinishedImport, imports.SQL.unfinished):
        what = f"The import with the report {report} was interrupted in the stage {stage}"
        later = f"{what}. A later import finished; if it was of the same game, nothing is missing."
        message = f"{what}, or is still running: {RESUME_ADVICE} {report}"
        found.append(DoctorFinding(NOTE, IMPORTS, later) if followed else DoctorFinding(ERROR, IMPORTS, message))
    return found


async def find_start_warnings(keeper: Keeper) -> list[str]:
    """Return the warnings that a server prints when it starts. It looks only at what is quick to check."""
    store, settings = keeper.store, keeper.settings
    found = [*await find_unfinished_imports(store), *await check_standbys(keeper)]
    found += [*await check_required_roles(store, settings), *await check_oidc_roles(store, settings)]
    errors = [each.message for each in found if each.level == ERROR]
    return [*errors, *await store.find_cautions(), *(each.message for each in check_secret_files(keeper))]


LATE_CHECKS = (LateCheck(30, ("standbys",), check_standbys),)
