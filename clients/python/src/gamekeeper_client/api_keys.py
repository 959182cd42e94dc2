"""API keys for programs: create, list, look up, change, rotate and revoke them."""

from collections.abc import Sequence
from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class KeyRecord(Struct, rename="pascal"):
    """An API key without its secret; `effective` has the permissions that it has now, limited by its owner's."""

    id: str
    name: str
    owner_id: str
    owner: str
    role: str | None
    permissions: list[str]
    effective: list[str]
    expires_at: str | None
    addresses: list[str] | None
    per_minute: int | None
    items: list[str] | None
    most_per_request: int | None
    most_per_day: int | None
    servers: list[str] | None
    created_at: str
    created_by: str | None
    rotated_by: str | None
    last_used_at: str | None
    last_used_from: str | None
    old_text_ends_at: str | None
    suspended_at: str | None
    revoked_at: str | None
    active: bool


class IssuedKey(KeyRecord, rename="pascal"):
    """A new or rotated API key; `key` is its secret, or None in the answer to a retry: then `note` says what to do."""

    key: str | None
    note: str | None


class FoundKey(KeyRecord, rename="pascal"):
    """The API key that a text belongs to; `text_active` says whether the text still works."""

    text_active: bool


class KeyList(Struct, rename="pascal"):
    keys: list[KeyRecord]


class ApiKeys:
    @operation("GET", "/api/keeper/v1/keys")
    def list_keys(self, owner: str | None = None) -> Payload[KeyList]:
        """List API keys, newest first, also revoked ones. Needs the permission keys.manage.

        owner: only keys of the account with this name or id.
        Returns the keys.
        Raises PermissionMissing, NoSuchUser, TooManyLongReads.
        """
        return Payload(KeyList, query={"owner": owner})

    @operation("POST", "/api/keeper/v1/keys")
    def create_key(
        self,
        name: str,
        permissions: Sequence[str] = (),
        *,
        role: str | None = None,
        expires_at: str | None = None,
        addresses: Sequence[str] | None = None,
        per_minute: int | None = None,
        items: Sequence[str] | None = None,
        most_per_request: int | None = None,
        most_per_day: int | None = None,
        servers: Sequence[str] | None = None,
        replaces: str | None = None,
        owner: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[IssuedKey]:
        """Create an API key. Needs the permission keys.manage, and those that the key gets. None is no limit.

        name: what the key is for.
        permissions: names of its permissions, instead of a role.
        role: name of its role, instead of permissions.
        expires_at: time at which it stops working.
        addresses: addresses and networks from which it may be used.
        per_minute: requests per minute that each server process accepts.
        items: ids of the items that it may give.
        most_per_request: most of an item in one gift.
        most_per_day: most of an item on one UTC day.
        servers: names of the game servers that it may speak for.
        replaces: id of a key, or name or id of an account, whose idempotency keys it takes over.
        owner: name or id of the account that owns it, instead of yours.
        Returns the key with its secret, which is shown once.
        Raises BadField, UnknownPermission, UnknownRole, BadAddressRange, NoSuchUser, KeyOutOfReach, KeyBeyondQuota,
        KeyManagesNoKeys, Outranked, PermissionMissing.
        """
        body = {
            "Name": name,
            "Permissions": list(permissions) or None,
            "Role": role,
            "ExpiresAt": expires_at,
            "Addresses": None if addresses is None else list(addresses),
            "PerMinute": per_minute,
            "Items": None if items is None else list(items),
            "MostPerRequest": most_per_request,
            "MostPerDay": most_per_day,
            "Servers": None if servers is None else list(servers),
            "Replaces": replaces,
            "Owner": owner,
        }
        return Payload(IssuedKey, body={field: value for field, value in body.items() if value is not None})

    @operation("PUT", "/api/keeper/v1/keys/{key_id}")
    def change_key(
        self,
        key_id: str,
        *,
        name: str | None = None,
        owner: str | None = None,
        suspended: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> Payload[KeyRecord]:
        """Rename an API key, give it another owner, or suspend it. What is None does not change. Needs keys.manage.

        key_id: id of the key.
        name: what the key is for.
        owner: name or id of its new owner.
        suspended: True: it stops working; False: it works again.
        Returns the key.
        Raises NoSuchKey, NoSuchUser, BadField, KeyRevoked, KeyOutOfReach, KeyBeyondQuota, KeyManagesNoKeys, Outranked,
        PermissionMissing.
        """
        given = {"Name": name, "Owner": owner, "Suspended": suspended}
        return Payload(KeyRecord, body={field: value for field, value in given.items() if value is not None})

    @operation("POST", "/api/keeper/v1/keys/{key_id}/rotate")
    def rotate_key(self, key_id: str, *, grace_minutes: int = 0, **options: Unpack[WriteOptions]) -> Payload[IssuedKey]:
        """Give an API key a new secret. Needs the permission keys.manage, and those of the key.

        key_id: id of the key, which stays.
        grace_minutes: minutes for which the old secret still works.
        Returns the key with its new secret, which is shown once.
        Raises NoSuchKey, KeyRevoked, KeyOutOfReach, KeyBeyondQuota, KeyManagesNoKeys, Outranked, PermissionMissing.
        """
        return Payload(IssuedKey, body={"GraceMinutes": grace_minutes})

    @operation("DELETE", "/api/keeper/v1/keys/{key_id}")
    def revoke_key(self, key_id: str, **options: Unpack[WriteOptions]) -> Payload[KeyRecord]:
        """Revoke an API key for good. Needs the permission keys.manage.

        key_id: id of the key.
        Returns the revoked key.
        Raises NoSuchKey, PermissionMissing.
        """
        return Payload(KeyRecord)

    @operation("POST", "/api/keeper/v1/keys/lookup")
    def look_up_key(self, key: str) -> Payload[FoundKey]:
        """Find the API key that a secret belongs to, such as a leaked one. Needs the permission keys.manage.

        key: secret of the key.
        Returns the key.
        Raises NoSuchKey, PermissionMissing.
        """
        return Payload(FoundKey, body={"Key": key})
