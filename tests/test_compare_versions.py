"""The comparison of two versions notices differences, and its requests reach every operation."""

from collections import Counter
from typing import Any

from answer_differences import Answer, Comparison
from valid_requests import NOBODY, Values, list_operations
from varied_requests import make_requests
from world import World

COUNT = 10_000
HEAD = 'HTTP/1.1 200 OK\r\nx-request-id: {id}\r\netag: "{tag}"\r\ncontent-length: {length}\r\ndate: {date}\r\n'
OLD_ID, NEW_ID, OTHER_ID = "a" * 24, "b" * 24, "c" * 24
DATE, LATER, MUCH_LATER = (f"Mon, 16 Nov 2026 {hour}:00:0{second} GMT" for hour, second in ((19, 1), (19, 3), (20, 1)))
TAG, OTHER_TAG = "1" * 32, "2" * 32
BODY = '{"Id":"4d167c48-b312-4696-99c7-2c15dae9726c","At":"2026-11-16T19:00:01.000Z"}'
OTHER_BODY = '{"Id":"19c694f2-50f6-44b2-84d8-97fe6f9064fb","At":"2026-11-16T19:00:02.000Z"}'
ENTRIES = [{"Id": NOBODY, "Name": "Thing"}]


def answer(request_id: str = OLD_ID, tag: str = TAG, date: str = DATE, body: str = BODY, head: str = HEAD) -> Answer:
    return Answer(200, head.format(id=request_id, tag=tag, length=len(body), date=date), body.encode())


def test_only_ids_and_times_of_answers_may_differ() -> None:
    for new in (answer(NEW_ID, date=LATER), answer(NEW_ID, OTHER_TAG, body=OTHER_BODY)):
        assert Comparison().find_difference_of_answers(answer(), new) == ""
    for new in (
        answer(NEW_ID, date=MUCH_LATER),
        answer(NEW_ID, OTHER_TAG),
        answer(NEW_ID, body=BODY.replace('"At"', '"at"')),
        answer(NEW_ID, head=HEAD.replace("x-request-id", "X-Request-Id")),
        answer(NEW_ID, head=HEAD + "vary: origin\r\n"),
        answer(NEW_ID, head=HEAD.replace("200 OK", "201 Created")),
    ):
        assert Comparison().find_difference_of_answers(answer(), new) != ""
    comparison = Comparison()
    assert comparison.find_difference_of_answers(answer(OLD_ID), answer(NEW_ID)) == ""
    assert comparison.find_difference_of_answers(answer(OLD_ID), answer(OTHER_ID)) != ""


def test_requests_reach_every_operation_at_least_thirty_times(world: World) -> None:
    document: dict[str, Any] = world.get("/api/openapi.json", by=None).json
    pairs = [(NOBODY, f"Name{number}") for number in range(40)]
    kinds = ("items", "spells", "variables", "classes", "maps")
    values = Values(pairs, pairs, pairs, [NOBODY], dict.fromkeys(kinds, ENTRIES), "token", "read", "none", "keeper", "")
    asks = make_requests(document, values, COUNT, "1")
    counted = Counter(ask.operation for ask in asks)
    assert len(asks) >= COUNT
    assert {each.name for each in list_operations(document)} == counted.keys()
    assert min(counted.values()) >= 30
    assert asks == make_requests(document, values, COUNT, "1")
