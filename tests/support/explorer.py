"""Calls of the API explorer, sent as its page sends them."""

import json
from typing import Any

from keepers import Keeper

RUN = "/console/explorer/run"
Outcome = dict[str, Any]


def run(keeper: Keeper, method: str, path: str, body: object = None, query: str = "") -> Outcome:
    """Send a read from the API explorer, or the preview of a write."""
    text = "" if body is None else json.dumps(body)
    return _send(keeper, {"method": method, "path": path, "query": query, "body": text})


def confirm(keeper: Keeper, tried: Outcome, reason: str = "a gift", **fields: str) -> Outcome:
    """Confirm a write that the API explorer has previewed."""
    sent = {"confirmed": "yes", "key": f"key-{tried['request']}", "seen": tried["seen"], "reason": reason}
    return _send(keeper, {**tried["sent"], **sent, **fields})


def _send(keeper: Keeper, fields: dict[str, str]) -> Outcome:
    """Send the explorer's form fields; return the console's answer with the operation's decoded answer."""
    answer = keeper.post(RUN, fields, headers={"accept": "application/json"})
    found: Outcome = answer.json if answer.status == 200 else {"status": answer.status, "text": answer.raw.decode()}
    text: str = found["text"]
    return {**found, "answer": json.loads(text) if text.startswith(("{", "[")) else None, "sent": fields}
