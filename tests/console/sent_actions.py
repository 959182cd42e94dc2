"""Actions of the console, and what they changed."""

from markup import Page

import people
from world import Answer, World

GIVE = f"/api/v1/players/{people.ANN.id}/items/give"
COINS = {"itemid": people.COIN.id, "quantity": 5}
JSON = {"accept": "application/json"}


def read_text(answer: Answer) -> str:
    return Page(answer.raw.decode()).text


def list_numbers(world: World) -> list[int]:
    return [row.seq for row in world.ledger()]
