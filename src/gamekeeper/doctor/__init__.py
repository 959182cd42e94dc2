"""Check the whole database for contradictions, such as item totals or columns that differ from the ledger.

The doctor reads in pages within one snapshot, so it can run while a server runs. It writes nothing, except that
`--fix` repairs what follows from other rows: indexes, counts of lists and guilds, blocks, and totals of past days.
"""

from gamekeeper.doctor.accounts import check_oidc_roles, check_required_roles
from gamekeeper.doctor.examination import IMPORTS, examine, find_unfinished_imports
from gamekeeper.doctor.findings import ERROR, MAX_SHOWN, NOTE, DoctorFinding
from gamekeeper.doctor.settings import TLS_ADVICE, check_secret_files, check_standbys, is_exposed, lacks_tls

__all__ = [
    "ERROR",
    "IMPORTS",
    "MAX_SHOWN",
    "NOTE",
    "TLS_ADVICE",
    "DoctorFinding",
    "check_oidc_roles",
    "check_required_roles",
    "check_secret_files",
    "check_standbys",
    "examine",
    "find_unfinished_imports",
    "is_exposed",
    "lacks_tls",
]
