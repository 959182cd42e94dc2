"""Titles of the kinds of changes."""

from gamekeeper.console.texts import PerLanguage, gettext

KIND_TITLES = PerLanguage(
    lambda: {
        "items_given": gettext("Items given"),
        "items_taken": gettext("Items taken"),
        "items_set": gettext("Items changed"),
        "spell_taught": gettext("Spell taught"),
        "spell_forgotten": gettext("Spell removed"),
        "spells_set": gettext("Spells changed"),
        "variables_set": gettext("Variables set"),
        "player_created": gettext("Player created"),
        "player_changed": gettext("Player changed"),
        "player_deleted": gettext("Player deleted"),
        "user_registered": gettext("Account registered"),
        "user_renamed": gettext("Account renamed"),
        "user_deleted": gettext("Account erased"),
        "email_changed": gettext("Email changed"),
        "password_changed": gettext("Password changed"),
        "reset_requested": gettext("Password reset requested"),
        "mail_retried": gettext("Mail queued again"),
        "powers_changed": gettext("Permissions changed"),
        "roles_changed": gettext("Roles changed"),
        "second_factors_changed": gettext("Second factor changed"),
        "second_factors_reset": gettext("Second factor reset"),
        "identities_changed": gettext("Linked sign-in changed"),
        "role_saved": gettext("Role edited"),
        "role_deleted": gettext("Role deleted"),
        "invitation_sent": gettext("Invitation sent"),
        "invitation_withdrawn": gettext("Invitation withdrawn"),
        "user_banned": gettext("Account banned"),
        "user_unbanned": gettext("Ban ended"),
        "user_muted": gettext("Account muted"),
        "user_unmuted": gettext("Mute ended"),
        "user_suspended": gettext("Account suspended"),
        "user_resumed": gettext("Suspension ended"),
        "change_approved": gettext("Change approved"),
        "bulk_job_changed": gettext("Bulk job changed"),
        "user_kicked": gettext("Player kicked"),
        "player_killed": gettext("Player killed"),
        "player_warped": gettext("Player warped"),
        "signal_raised": gettext("Signal raised"),
        "signal_acknowledged": gettext("Signal acknowledged"),
        "chat_sent": gettext("Chat message sent"),
        "server_variables_set": gettext("Server variables set"),
        "guild_variables_set": gettext("Guild variables set"),
        "catalogue_put": gettext("Catalogue published"),
        "item_picture_put": gettext("Item picture published"),
        "note_added": gettext("Note added"),
        "note_deleted": gettext("Note deleted"),
        "tags_set": gettext("Tags set"),
        "board_saved": gettext("Board saved"),
        "board_deleted": gettext("Board deleted"),
        "season_saved": gettext("Season saved"),
        "account_hidden": gettext("Account hidden from boards, or shown"),
        "guild_saved": gettext("Guild changed"),
        "guild_deleted": gettext("Guild deleted"),
        "players_loaded": gettext("Players imported"),
        "users_loaded": gettext("Accounts imported"),
        "ledger_trimmed": gettext("Old changes deleted"),
    }
)


def name_kind(kind: str) -> str:
    """Return the title of a kind of change. A kind of a newer version of Gamekeeper has none: its name is used."""
    return KIND_TITLES().get(kind) or kind.replace("_", " ").capitalize()
