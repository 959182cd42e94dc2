"""Encode player records as they are sent: the stored document, with the fields that follow it appended."""

from collections.abc import Iterable

from gamekeeper.game.lists import Ranking
from gamekeeper.http import codec, wire
from gamekeeper.http.instants import DAY_MS, MILLISECONDS, MINUTES, SECONDS, encode_date
from gamekeeper.http.wire.players import encode_player_tail
from gamekeeper.store.players import RecordRow

_FIELDS = wire.players.PlayerDocument.__struct_fields__
_FIRST_FIELD_COUNT = 25  # number of player fields in version 0.1.0, which every stored document has
_HAS_GROWN = len(_FIELDS) > _FIRST_FIELD_COUNT


def encode_record(record: RecordRow) -> bytes:
    return encode_records((record,))[0]


def encode_records(records: Iterable[RecordRow]) -> list[bytes]:
    """Encode each record: its stored document with class, map, online state and last online time appended.

    A page has up to 100 records. So the loop calls no Python function, not even to format a time.
    """
    if _HAS_GROWN:
        records = [(codec.fill_in_defaults(each[0]), *each[1:]) for each in records]
    found: list[bytes] = []
    for document, class_name, map_name, online, last_online in records:
        tail = encode_player_tail(class_name, map_name, online)
        if last_online is None:
            parts = document[:-1], tail, b"null}"
        else:
            rest = last_online % DAY_MS
            parts = (
                document[:-1],
                tail,
                b'"',
                encode_date(last_online // DAY_MS),
                MINUTES[rest // 60_000],
                SECONDS[rest // 1000 % 60],
                MILLISECONDS[rest % 1000],
                b'"}',
            )
        found.append(b"".join(parts))
    return found


def encode_rank(found: Ranking) -> bytes:
    ranks, around = [rank for rank, _ in found.around], encode_records(record for _, record in found.around)
    ranked = [wire.players.encode_ranked_player(*each) for each in zip(ranks, around, strict=True)]
    return wire.players.encode_rank(found.rank, found.total, encode_record(found.player), ranked)
