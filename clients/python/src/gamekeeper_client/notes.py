"""Notes, warnings and tags of staff about accounts and players."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class NoteRecord(Struct, rename="pascal"):
    id: str
    user_id: str
    user: str
    player_id: str | None
    player: str | None  # None: about the account, or the player is deleted
    author_id: str | None
    author: str | None
    at: str
    warning: bool
    text: str


class NoteList(Struct, rename="pascal"):
    notes: list[NoteRecord]
    tags: list[str] | None  # of the player or account that was asked for
    next: str | None


class TagsOf(Struct, rename="pascal"):
    tags: list[str]


class TaggedRecord(Struct, rename="pascal"):
    user_id: str
    user: str
    player_id: str | None
    player: str | None


class TaggedList(Struct, rename="pascal"):
    tagged: list[TaggedRecord]


def _name(player: str | None, user: str | None) -> dict[str, object]:
    return {name: value for name, value in {"Player": player, "User": user}.items() if value is not None}


class NoteOperations:
    @operation("GET", "/api/keeper/v1/notes")
    def list_notes(
        self,
        *,
        player: str | None = None,
        user: str | None = None,
        text: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Payload[NoteList]:
        """List notes, newest first.

        player: name or id of a player; only notes about it.
        user: name or id of an account; only notes about it and its players.
        text: only notes that contain this text.
        before: `next` of the page before.
        limit: at most this many notes.
        Returns a page of notes, and the tags of the player or account.
        Raises NoSuchPlayer, NoSuchUser, BadField, PermissionMissing.
        """
        query = {"player": player, "user": user, "text": text, "before": before, "limit": limit}
        return Payload(NoteList, query=query)

    @operation("POST", "/api/keeper/v1/notes")
    def add_note(
        self,
        text: str,
        *,
        player: str | None = None,
        user: str | None = None,
        warning: bool = False,
        **options: Unpack[WriteOptions],
    ) -> Payload[NoteRecord]:
        """Write a note about a player or an account.

        text: the note, at most 1000 characters.
        player: name or id of the player that it is about.
        user: name or id of the account that it is about, if it is about no player.
        warning: show it in the header of the page.
        Returns the note.
        Raises NoSuchPlayer, NoSuchUser, BadField, PermissionMissing.
        """
        return Payload(NoteRecord, body={"Text": text, "Warning": warning, **_name(player, user)})

    @operation("DELETE", "/api/keeper/v1/notes/{note_id}")
    def delete_note(self, note_id: str, **options: Unpack[WriteOptions]) -> Payload[NoteRecord]:
        """Delete a note. The audit log keeps it.

        note_id: id of the note.
        Returns the deleted note.
        Raises NoSuchNote, BadField, PermissionMissing.
        """
        return Payload(NoteRecord)

    @operation("POST", "/api/keeper/v1/tags")
    def set_tags(
        self,
        tags: list[str],
        *,
        player: str | None = None,
        user: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[TagsOf]:
        """Replace the tags of a player or an account.

        tags: the tags; each has at most 30 characters, and no comma.
        player: name or id of the player.
        user: name or id of the account, if it is about no player.
        Returns the tags as they are stored.
        Raises NoSuchPlayer, NoSuchUser, BadField, PermissionMissing.
        """
        return Payload(TagsOf, body={"Tags": tags, **_name(player, user)})

    @operation("GET", "/api/keeper/v1/tags/{tag}")
    def list_tagged(self, tag: str, *, limit: int | None = None) -> Payload[TaggedList]:
        """List the accounts and players that have a tag.

        tag: the tag.
        limit: at most this many.
        Returns the accounts and players.
        Raises BadField, PermissionMissing.
        """
        return Payload(TaggedList, query={"limit": limit})
