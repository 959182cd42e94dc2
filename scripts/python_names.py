"""Names of the Python client that differ from those of the API, and what its methods do not take from declarations.

Programs use these names. A new operation needs no entry: its names are those of the API in Python's spelling.
"""

from collections.abc import Mapping

# title of a group → module, if it is not the title
MODULES: Mapping[str, str] = {
    "Account filters": "users",
    "Bulk jobs": "bulk",
    "Chat": "commands",
    "Deliveries": "link",
    "Filters": "players",
    "Finder": "history",
    "Health": "info",
    "Pages": "info",
    "People": "users",
    "Powers": "users",
}
# shape → module, if it is not that of the first operation that uses it
SHAPE_MODULES: Mapping[str, str] = {
    "Config": "config",
    "Bag": "items",
    "ItemSlot": "items",
    "KnownSpell": "spells",
    "NamedEntry": "link",
    "PreviewedChange": "approvals",
    "WeakenedKey": "roles",
    "UserRecord": "users",
    "Message": "credentials",
}
SHAPES: Mapping[str, str] = {
    "Approvals": "ApprovalsPage",
    "BulkJobs": "BulkJobsPage",
    "BulkTargets": "BulkTargetsPage",
    "FeedChange": "Change",
    "History": "HistoryPage",
    "Legacy": "LegacyPage",
    "Mails": "MailsPage",
    "Paged": "Page",
    "PlayerRecord": "Player",
    "PlaySessions": "PlaySessionsPage",
    "SecurityEvents": "SecurityPage",
    "UserRecord": "User",
}
# shapes whose fields are spelt as in the API, with the defaults of the client
UNSPELT: Mapping[str, Mapping[str, str]] = {
    "ChatColor": {"A": "255", "R": "255", "G": "255", "B": "255"},
    "EchoedChat": {},
}
# fields that older servers do not send: shape → field → default
LATER_FIELDS: Mapping[str, Mapping[str, str]] = {
    "Approval": {"Email": "None"},
    "BankConfig": {"MaxSlots": "100"},
    "BulkJob": {"Minutes": "None", "Until": "None"},
    "BulkTarget": {"UndoneBy": "None"},
    "Config": {
        "SmtpValid": "False",
        "ValidPasswordResetTimeMinutes": "30",
        "Bank": "field(default_factory=BankConfig)",
    },
    "ToldChange": {"KeyId": "None", "Key": "None", "Deliveries": "[]"},
}
# names of choices, which parameters have as types: operation or shape, and its field → name
CHOICES: Mapping[tuple[str, str], str] = {
    ("create_board", "Ranks"): "Ranks",
    ("create_bulk_job", "Act"): "BulkAct",
    ("filter_players", "sortBy"): "FilterSort",
    ("filter_users", "sortBy"): "FilteredUserSort",
    ("filter_users", "state"): "UserState",
    ("get_activity", "step"): "ActivityStep",
    ("list_catalogue", "kind"): "Kind",
    ("list_guild_members", "sortBy"): "MemberSort",
    ("list_guilds", "sortBy"): "GuildSort",
    ("list_players", "sortBy"): "PlayerSort",
    ("list_players", "sortDirection"): "Direction",
    ("list_users", "sortBy"): "UserSort",
    ("ReportedActivity", "Action"): "ActionName",
    ("ReportedActivity", "Peer"): "PeerName",
}
# names that the API writes as one word, with their words separated
JOINED_WORDS = {
    "bankoverflow": "bank_overflow",
    "classid": "class_id",
    "gamelink": "game_link",
    "itemid": "item_id",
    "mapid": "map_id",
    "readonly": "read_only",
    "spellid": "spell_id",
    "UPnP": "upnp",
    "usersmanage": "users_manage",
    "usersquery": "users_query",
}
# and names that would say too little in Python
WORDS: Mapping[str, str] = JOINED_WORDS | {
    "from": "from_",
    "guildVariableId": "variable_id",
    "import": "import_",
    "lookupKey1": "user",
    "lookupKey2": "player",
    "serverVariableId": "variable_id",
    "ZDimensionVisible": "z_dimension_visible",
}
# parameters in paths: part of the path and the parameter's name in the API → its name in Python
PATH_WORDS: Mapping[tuple[str, str], str] = {
    ("/gameobjects/", "type"): "object_type",
    ("/players/", "id"): "player_id",
    ("/players/", "lookupKey"): "player",
    ("/users/", "lookupKey"): "user",
    ("/chat/", "lookupKey"): "player",
}
ITERATORS: Mapping[str, str] = {"filter_players": "iterate_filtered_players"}
# operations whose methods are written by hand, because the answer's type depends on an argument, or for the log-in
BY_HAND = frozenset(
    {
        "get_game_object",
        "issue_token",
        "list_catalogue",
        "list_game_objects",
        "list_game_objects_legacy",
        "put_catalogue",
    }
)
# other paths of operations that have a method
SYNONYMS = frozenset({"list_version_names", "revoke_token_alias", "revoke_tokens_alias"})
# shapes of which a method returns only one field
ONLY_FIELDS: Mapping[str, str] = {
    "AnyValueOnly": "value",
    "Authorized": "authorized",
    "ChatSent": "chatMessage",
    "Count": "Count",
    "DirectChatSent": "chatMessage",
    "Finds": "Found",
    "HeadValueOnly": "Value",
    "Online": "Online",
    "OnlineCount": "onlineCount",
    "ProximityChatSent": "chatMessage",
    "StandingAcks": "Acks",
    "Value": "value",
    "Versions": "versions",
}
RAW = frozenset({"ServerMetrics"})  # shapes that a method returns as a dict
WHOLE_BODIES: Mapping[str, str] = {"PutPlayer": "fields"}  # shapes of bodies that a method takes as one argument
# parameters of queries that methods do not have: the client reads JSON only, and one page has a size
NO_PARAMETERS = frozenset({"format", "tolerant"})
LEFT_OUT_FIELDS = frozenset((name, field) for name in ("warpto_player", "warpto_user") for field in ("x", "y"))
_CHATS = ("send_chat", "send_direct_chat", "send_global_chat", "send_proximity_chat")
_WARPS = ("warpto_player", "warpto_user", "warptoloc_player", "warptoloc_user")
_PENALTIES = ("ban_player", "ban_user", "mute_player", "mute_user")
_ACTS = tuple(f"{act}_{of}" for act in ("ban", "unban", "mute", "unmute", "kick", "kill") for of in ("player", "user"))
_PAST = ("get_past_items", "get_past_spells", "get_past_variables")
_ROLES = ("create_role", "save_role")
# The tables below have an operation, and the name of a parameter in the API.
# optional for the server, but not for a method
REQUIRED = frozenset(
    {("search", "q"), *((name, "Message") for name in _CHATS), *((name, "mapid") for name in _WARPS)},
)
# parameters that may be given by position, after those that are required
POSITIONAL: Mapping[str, tuple[str, ...]] = {
    "acknowledge_signal": ("Note",),
    "create_bulk_job": ("Players",),
    "create_key": ("Permissions",),
    "create_role": ("permissions",),
    "equip_slot": ("Place",),
    "get_activity": ("step",),
    "get_past_items": ("at",),
    "get_past_spells": ("at",),
    "get_past_variables": ("at",),
    "give_item": ("quantity",),
    "list_changes": ("after",),
    "list_keys": ("owner",),
    "move_slot": ("Quantity",),
    "put_guild": ("BankSlotsCount", "InstanceId", "Variables"),
    "save_role": ("permissions",),
    "take_from_slot": ("Quantity",),
    "take_item": ("quantity",),
}
# Defaults of methods that are not those of the server. Some are sent although the server does the same without them,
# here and in the tables below: a call that is repeated with its idempotency key has to be the same for all versions.
DEFAULTS: Mapping[tuple[str, str], str] = {
    **{(name, "duration"): "None" for name in _PENALTIES},
    **{(name, "moderator"): '""' for name in _ACTS},
    **{(name, "Target"): '""' for name in _CHATS},
    **{("change_user_roles", name): "()" for name in ("give", "take", "grant", "revoke")},
    ("create_bulk_job", "Players"): "()",
    ("create_key", "Permissions"): "()",
    ("create_role", "permissions"): "()",
    ("filter_users", "page"): "None",
    ("give_item", "quantity"): "1",
    ("hide_user", "Hidden"): "True",
    ("save_season", "EndNow"): "None",
    ("take_from_slot", "Quantity"): "1",
    ("take_item", "quantity"): "1",
}
ALWAYS_SENT = frozenset({("create_bulk_job", "Players"), ("create_role", "permissions")})  # lists, also if empty
# types of parameters that are not those of the API
TYPES: Mapping[tuple[str, str], str] = {
    **{(name, "at"): "int | str" for name in _PAST},
    **{(name, "quotas"): "Mapping[str, int]" for name in _ROLES},
    ("create_bulk_job", "Filter"): "Mapping[str, object]",
    ("get_user_player", "lookupKey2"): "str | int",
    ("put_item_picture", "Picture"): "bytes",
    ("save_season", "season"): "int",
}
# how an argument of such a type becomes the value that is sent
SENT: Mapping[tuple[str, str], str] = {
    **{
        (name, "quotas"): "None if {0} is None else [RoleQuota(item_id, most) for item_id, most in {0}.items()]"
        for name in _ROLES
    },
    **{(name, "moderator"): "{0} or None" for name in ("kill_player", "kill_user")},
    **{(name, "Target"): "{0} or None" for name in _CHATS},
    ("put_item_picture", "Picture"): "b64encode({0}).decode()",
}
# what such an argument is
ABOUTS: Mapping[tuple[str, str], str] = {
    **{
        (name, "quotas"): "The most that an account may give per UTC day, by id of the item; zeros: every other item."
        for name in _ROLES
    },
    ("create_bulk_job", "Filter"): 'Conditions of all players that match it now, as in the API: `{"LevelFrom": 40}`.',
    ("put_item_picture", "Picture"): "A PNG or WebP file of at most 64 KiB and 512 x 512 pixels, without animation.",
}
# what a password is, of which the API wants the SHA-256
PASSWORDS: Mapping[str, str] = {
    "authorization": "The account's present password as the person types it; the client sends the SHA-256.",
    "new": "The new password as the person types it; the client sends the SHA-256.",
    "password": "The password as the person types it; the client sends the SHA-256.",
}
NO_BRANCHES = frozenset({"LogInRefusal"})  # errors whose status has another class for unknown codes
# errors that docstrings name although they are neither of the operation's own rules nor about what is missing; others
# are about the request itself, the credential, the idempotency key, approvals and the server's state
NAMED_ERRORS = frozenset(
    {
        *("ApprovalRequired", "BadField", "BadPassword", "NobodyCanDecide"),
        *("PermissionMissing", "PowerMissing", "RoleMissing", "TooManyLongReads"),
    }
)
