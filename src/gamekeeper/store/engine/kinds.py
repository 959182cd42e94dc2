"""Kinds of changes that the change feed and the audit log treat differently, each list in one place.

SQL statements name the lists by placeholders, such as `{told_once}`.
"""

# changes of signals: the change feed has them for bots, and game servers have nothing to do with them
SIGNALS = ("signal_raised", "signal_acknowledged")
# kinds of changes without a player that the change feed has too
WITHOUT_PLAYER = ("chat_sent", "server_variables_set", "guild_variables_set", *SIGNALS)
# commands to the game that it carries out at most once; they change no data of a player
TOLD_ONCE = ("player_killed", "player_warped", "chat_sent")
# commands to the game that may be carried out again: they tell the game of a state
STATE_COMMANDS = ("user_kicked", "user_banned", "user_muted", "user_unmuted")
COMMANDS = (*TOLD_ONCE, *STATE_COMMANDS)
# changes with the name of a moderator or of the target of a chat message; the indexes of the ledger repeat both lists
NAMING = ("user_banned", "user_unbanned", "user_muted", "user_unmuted", "user_kicked", "player_killed", "chat_sent")
LIFTING = ("user_unbanned", "user_unmuted")


def _quote(kinds: tuple[str, ...]) -> str:
    return ", ".join(f"'{each}'" for each in kinds)


KIND_LISTS = {
    "without_player": _quote(WITHOUT_PLAYER),
    "told_once": _quote(TOLD_ONCE),
    "commands": _quote(COMMANDS),
    "naming": _quote(NAMING),
    "lifting": _quote(LIFTING),
}
