"""Encode catalogue entries with their further fields (details): for game servers, and in the engine's shapes."""

from typing import cast

from gamekeeper.game.inventory import Capacity, find_stack_limit
from gamekeeper.game.values import decode_value
from gamekeeper.http import wire
from gamekeeper.store import catalogue


def encode_entry(value: catalogue.CatalogueEntry) -> bytes:
    return wire.catalogue.encode_with_details(_make_entry(value), value.details)


def encode_game_object(value: catalogue.CatalogueEntry, room: Capacity) -> bytes:
    """Encode an entry of the catalogue in the engine's shape of a game object."""
    return wire.catalogue.encode_with_details(_make_game_object(value, room), value.details)


def _make_entry(value: catalogue.CatalogueEntry) -> wire.catalogue.Entry:
    match value:
        case catalogue.CatalogueItem():
            return wire.catalogue.ItemEntry(*value[:-1])
        case catalogue.CatalogueVariable(id=each, name=name, type=kind):
            return wire.catalogue.VariableEntry(each, name, cast("wire.variables.TypeName", kind))
        case catalogue.CatalogueServerVariable(id=each, name=name, text_id=text_id, folder=folder):
            known = (each, name, cast("wire.variables.TypeName", value.type), text_id, folder, value.created_at)
            return wire.catalogue.ServerVariableEntry(*known, decode_value(value.value))
        case catalogue.CatalogueGuildVariable(id=each, name=name, text_id=text_id, folder=folder):
            known = (each, name, cast("wire.variables.TypeName", value.type), text_id, folder, value.created_at)
            return wire.catalogue.GuildVariableEntry(*known)
        case catalogue.NamedEntry(id=each, name=name):
            return wire.catalogue.NamedEntry(each, name)


def _make_game_object(value: catalogue.CatalogueEntry, room: Capacity) -> wire.catalogue.GameObject:
    match value:
        case catalogue.CatalogueItem(id=each, name=name, stackable=stackable, bag_slots=slots, icon=icon):
            most = find_stack_limit(value, room)
            return wire.catalogue.ItemObject(each, name, icon, stackable, most, most, slots)
        case catalogue.CatalogueVariable(id=each, name=name, type=kind):
            return wire.catalogue.VariableObject(each, name, wire.variables.TYPE_NUMBERS[kind])
        case catalogue.CatalogueServerVariable(id=each, name=name, type=kind, text_id=text_id, folder=folder):
            known = (name, text_id, wire.variables.TYPE_NUMBERS[kind])
            return wire.variables.ServerVariable(*known, decode_value(value.value), folder, each, value.created_at)
        case catalogue.CatalogueGuildVariable(id=each, name=name, type=kind, text_id=text_id, folder=folder):
            known = (name, text_id, wire.variables.TYPE_NUMBERS[kind])
            return wire.variables.GuildVariableObject(*known, folder, each, value.created_at)
        case catalogue.NamedEntry(id=each, name=name):
            return wire.catalogue.NamedEntry(each, name)
