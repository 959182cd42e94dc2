"""The corpus of hostile requests: every invalid value in every place where it can be sent.

odd.py has unusual but valid requests: these are answered, and as reads or dry runs they change nothing either.
"""

from hostile import Hostile
from hostile_bodies import bodies, sizes
from hostile_fields import booleans, catalogue, guids, numbers, passwords, texts
from hostile_heads import addresses, headers, keys, methods, queries
from hostile_rules import log_ins, rules

TABLES = (
    *(numbers, booleans, guids, texts, passwords, catalogue, keys, bodies, sizes, queries, headers, methods, addresses),
    *(log_ins, rules),
)
CORPUS: list[Hostile] = [case for table in TABLES for case in table()]
GROUPS = sorted({case.group for case in CORPUS})
