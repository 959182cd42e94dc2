"""How long bans and mutes last, as the Python client sends it."""

import msgspec

from client_calls import build_call


def test_penalty_sends_minutes_or_end_instead_of_days() -> None:
    for method in ("ban_user", "ban_player", "mute_user", "mute_player"):
        for given, sent in (
            ({}, {"duration": 0}),
            ({"minutes": 90}, {"minutes": 90}),
            ({"minutes": 0}, {"minutes": 0}),
            ({"until": "2030-01-31T18:00:00Z"}, {"until": "2030-01-31T18:00:00Z"}),
            ({"duration": 0, "minutes": 5}, {"minutes": 5, "duration": 0}),  # as given: the server decides
        ):
            call = build_call(method, **given)
            assert msgspec.json.decode(call.body or b"") == {**sent, "reason": "", "moderator": ""}


def test_bulk_job_sends_minutes_or_end() -> None:
    for given, sent in (({"minutes": 90}, {"Minutes": 90}), ({"until": "2030-01-31"}, {"Until": "2030-01-31"})):
        call = build_call("create_bulk_job", **given)
        body = msgspec.json.decode(call.body or b"")
        assert body == {"Act": "ban_player", "Players": [], "Online": False, **sent}
