"""Check the whole database for contradictions: a ledger that does not add up, columns that differ from documents.

It reads a page at a time within one snapshot, so it can run beside a serving Gamekeeper. It writes nothing, except
that `--fix` creates missing indexes and counts the ordered lists again.
"""

from gamekeeper.doctor.examination import examine
from gamekeeper.doctor.findings import ERROR, MAX_SHOWN, NOTE, Finding
from gamekeeper.doctor.imports import IMPORTS, find_unfinished_imports
from gamekeeper.doctor.settings import TLS_ADVICE, check_standbys, is_exposed, lacks_tls

__all__ = [
    "ERROR",
    "IMPORTS",
    "MAX_SHOWN",
    "NOTE",
    "TLS_ADVICE",
    "Finding",
    "check_standbys",
    "examine",
    "find_unfinished_imports",
    "is_exposed",
    "lacks_tls",
]
