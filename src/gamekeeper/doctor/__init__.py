"""Check the whole database for contradictions: a ledger that does not add up, columns that differ from documents.

It reads a page at a time within one snapshot, so it can run beside a serving Gamekeeper. It writes nothing, except
that `--fix` creates missing indexes and counts the ordered lists again.
"""

from gamekeeper.doctor.examination import examine
from gamekeeper.doctor.findings import ERROR, NOTE, SHOWN, Finding
from gamekeeper.doctor.imports import IMPORTS, unfinished
from gamekeeper.doctor.settings import TLS, check_standbys, exposed, overheard

__all__ = [
    "ERROR",
    "IMPORTS",
    "NOTE",
    "SHOWN",
    "TLS",
    "Finding",
    "check_standbys",
    "examine",
    "exposed",
    "overheard",
    "unfinished",
]
