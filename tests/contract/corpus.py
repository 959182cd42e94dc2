"""The corpus: all hostile requests, made by crossing tables of bad values with the places they can stand in.

What is odd but fine is in odd.py, with the same care: it is answered, and, being a read or a dry run, changes nothing
either.
"""

from hostile import Hostile
from hostile_bodies import bodies, sizes
from hostile_fields import booleans, catalogue, guids, numbers, passwords, texts
from hostile_heads import addresses, headers, keys, methods, queries
from hostile_rules import log_ins, rules

TABLES = (
    numbers,
    booleans,
    guids,
    texts,
    passwords,
    catalogue,
    keys,
    bodies,
    sizes,
    queries,
    headers,
    methods,
    addresses,
    log_ins,
    rules,
)
CORPUS: list[Hostile] = [case for table in TABLES for case in table()]
GROUPS = sorted({case.group for case in CORPUS})
