"""Ids of items on the command line."""

import click

from gamekeeper.game import lookup

ITEM_ADVICE = "The page Catalogue of the console shows the ids of items, as does GET /api/v1/gameobjects/item."


class ItemType(click.ParamType[str]):
    """The id of an item."""

    name = "id"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        found = lookup.parse_guid(value)
        if found is None:
            self.fail(f"'{value}' is not the id of an item. {ITEM_ADVICE}", param, ctx)
        return found
