"""Labels of fields and of kinds of changes, and words for values, as the console shows them.

They are for the differences of a change, and for fields of forms in error messages.
"""

import re
from collections.abc import Mapping

from gamekeeper.console.frame.texts import PerLanguage, gettext, pgettext, translate
from gamekeeper.game.audit.history import KINDS
from gamekeeper.game.core.refusals import BadField, MissingField, Refusal
from gamekeeper.game.insight.changes import SignalRaised
from gamekeeper.game.world.commands import DIRECT, GLOBAL, PROXIMITY
from gamekeeper.http.world.info_shapes import RANKS
from gamekeeper.store.audit.bulk_jobs import CANCELLED, FINISHED, PAUSED, PREVIEWED, RUNNING
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.insight.signals import BAG, CONSERVATION, GAIN, GIFT, REFUSALS, SILENT, SUPPLY

SIGNAL_TITLES = PerLanguage[Mapping[str, str]](
    lambda: {
        SUPPLY: gettext("Supply of an item has grown fast"),
        GAIN: gettext("One player got very much"),
        GIFT: gettext("Large gift"),
        BAG: gettext("One bag in two places"),
        CONSERVATION: gettext("Quantities do not add up"),
        REFUSALS: gettext("More refused requests than usual"),
        SILENT: gettext("Game server is silent"),
    }
)
JOB_STATES = PerLanguage[Mapping[str, str]](  # of bulk jobs
    lambda: {
        PREVIEWED: gettext("Not started"),
        RUNNING: gettext("Running"),
        PAUSED: gettext("Paused"),
        FINISHED: gettext("Finished"),
        CANCELLED: gettext("Cancelled"),
    }
)
LABELS = PerLanguage(
    lambda: {
        "name": gettext("Name"),
        "user_id": gettext("Account"),
        "class_id": gettext("Class"),
        "level": gettext("Level"),
        "dead": gettext("Dead"),
        "sprite": gettext("Sprite"),
        "face": gettext("Face"),
        "equipment": gettext("Equipment"),
        "moderator": gettext("Moderator"),
        "password": gettext("Password"),
        "warning": gettext("Warning"),
        "items": gettext("Items"),
        "spells": gettext("Spells"),
        "variables": gettext("Variables"),
        "classes": gettext("Classes"),
        "maps": gettext("Maps"),
        "animations": gettext("Animations"),
        "crafts": gettext("Crafts"),
        "events": gettext("Events"),
        "npcs": gettext("Npcs"),
        "projectiles": gettext("Projectiles"),
        "quests": gettext("Quests"),
        "resources": gettext("Resources"),
        "shops": gettext("Shops"),
        "tilesets": gettext("Tilesets"),
        "map_id": gettext("Map"),
        "exp": gettext("Experience"),
        "experience_to_next_level": gettext("Experience for the next level"),
        "gender": gettext("Gender"),
        "vitals": gettext("Vitals"),
        "max_vitals": gettext("Maximum vitals"),
        "base_stats": gettext("Base stats"),
        "stat_point_allocations": gettext("Allocated stat points"),
        "stat_points": gettext("Unspent stat points"),
        "x": gettext("X coordinate"),
        "y": gettext("Y coordinate"),
        "z": gettext("Z coordinate"),
        "dir": gettext("Direction"),
        "in_bank": gettext("Bank open"),
        "created_at": gettext("Created"),
        "play_time_seconds": gettext("Time played"),
        "email": gettext("Email"),
        "reset_code": gettext("Password reset code"),
        "ban_reason": gettext("Ban reason"),
        "mute_reason": gettext("Mute reason"),
        "ends_at": gettext("Until"),
        "mail_state": gettext("Mail state"),
        "next_try_at": gettext("Next attempt"),
        "api": gettext("Permission: API access"),
        "users_query": gettext("Permission: users.query"),
        "users_manage": gettext("Permission: users.manage"),
        "game_link": gettext("Permission: game.link"),
        "editor": gettext("Permission: editor"),
        "ban": gettext("Permission: ban"),
        "kick": gettext("Permission: kick"),
        "mute": gettext("Permission: mute"),
        "roles": gettext("Roles"),
        "permissions": gettext("Permissions"),
        "role": gettext("Role"),
        "second_factors": gettext("Second factors"),
        "recovery_codes": gettext("Recovery codes"),
        "identities": gettext("Linked sign-ins"),
        "about": gettext("Description"),
        "read_only": gettext("Read only"),
        "suspended": gettext("Suspended"),
        "foundingdate": gettext("Founded"),
        "bankslotscount": gettext("Bank slots"),
        "members": gettext("Changed members"),
        "rule": gettext("Rule"),
        "itemid": gettext("Item"),
        "server": gettext("Game server"),
        "state": gettext("State"),
        "channel": gettext("Recipients"),
        "message": gettext("Message"),
        "upto": gettext("Deleted up to change"),
        "rows": gettext("Number of deleted changes"),
    }
)
PARTS = PerLanguage(
    lambda: {  # fields that hold several values, with a label for each
        "vitals": (pgettext("vital", "Health"), gettext("Mana")),
        "max_vitals": (gettext("Maximum health"), gettext("Maximum mana")),
        "base_stats": (
            gettext("Attack"),
            gettext("Ability power"),
            gettext("Defense"),
            gettext("Magic resist"),
            gettext("Speed"),
        ),
        "stat_point_allocations": (
            gettext("Points in attack"),
            gettext("Points in ability power"),
            gettext("Points in defense"),
            gettext("Points in magic resist"),
            gettext("Points in speed"),
        ),
        "equipment": (gettext("Helmet"), gettext("Armor"), gettext("Weapon"), gettext("Shield"), gettext("Boots")),
    }
)
EQUIPMENT_WORDS = PerLanguage[Mapping[str, str]](  # places of equipment, as words in a sentence
    lambda: {
        "helmet": gettext("helmet"),
        "armor": gettext("armor"),
        "weapon": gettext("weapon"),
        "shield": gettext("shield"),
        "boots": gettext("boots"),
    }
)
# field → field with shorter labels, which suffice where one text lists all parts of the field
SHORT_PARTS = {"max_vitals": "vitals", "stat_point_allocations": "base_stats"}
VALUES = PerLanguage[Mapping[str, Mapping[int | str, str]]](
    lambda: {  # fields whose values stand for words
        "gender": {0: gettext("Male"), 1: gettext("Female")},
        "dir": {0: gettext("Up"), 1: gettext("Down"), 2: gettext("Left"), 3: gettext("Right")},
        "state": {**JOB_STATES()},
        "rule": {**SIGNAL_TITLES()},  # those of approvals are shown as they are written in the setting
        "channel": {
            GLOBAL: gettext("everybody in the game"),
            DIRECT: gettext("this player"),
            PROXIMITY: gettext("players near a map"),
        },
    }
)
TIMES = frozenset({"ends_at", "created_at", "last_online", "next_try_at", "foundingdate"})
# fields that are not shown: ids, and the colour of a chat message, say nothing to people
HIDDEN = frozenset(
    {"id", "mail_id", "invitation_id", "signalid", "playerid", "noteid", "guildid", "instanceid", "color"}
)


QUOTED_FIELD = re.compile(r"(?<=')[A-Za-z]+(?=')", re.ASCII)  # the first quoted word of the messages below
FORM_LABELS = PerLanguage[Mapping[str, str]](
    lambda: {  # field of a body in lower case → its label
        "name": gettext("Name"),
        "username": gettext("Name"),
        "email": gettext("Email"),
        "itemid": gettext("Item"),
        "spellid": gettext("Spell"),
        "classid": gettext("Class"),
        "quantity": gettext("Quantity"),
        "level": gettext("Level"),
        "value": gettext("Value"),
        "duration": gettext("Duration"),
        "minutes": gettext("Duration in minutes"),
        "until": gettext("Until"),
        "reason": gettext("Reason"),
        "slot": gettext("Slot"),
        "toslot": gettext("Slot"),
        "container": gettext("Move to"),
        "tocontainer": gettext("Move to"),
        "at": gettext("Time"),
        "against": gettext("Compare with"),
    }
)


def use_label(refusal: Refusal) -> Refusal:
    """Replace the API's name of the field in the message of a refusal, if the field has a label."""
    if isinstance(refusal, BadField | MissingField):
        refusal.message = QUOTED_FIELD.sub(
            lambda found: FORM_LABELS().get(found[0].lower(), found[0]), refusal.message, count=1
        )
    return refusal


def name_kind(kind: str) -> str:
    """Return the title of a kind of change. A kind of a newer version of Gamekeeper has none: its name is used."""
    return translate(KINDS[kind].title) if kind in KINDS else kind.replace("_", " ").capitalize()


GAMEKEEPER = PerLanguage(lambda: gettext("Gamekeeper"))  # raises signals by itself
COMMAND_LINE = PerLanguage(lambda: gettext("the command line"))
DELETED_ACCOUNT = PerLanguage(lambda: gettext("a deleted account"))
ANOTHER_ACCOUNT = PerLanguage(lambda: gettext("another account"))


def name_actor(told: HistoryChange, hidden: str = "") -> str:
    """Name the account that made a change. `hidden`: text if the viewer may not see its name."""
    if told.actor and told.key:
        return gettext("%(name)s (API key %(key)s)", name=told.actor, key=told.key)
    if told.actor:
        return told.actor
    if not told.actor_id:
        return GAMEKEEPER() if told.kind == SignalRaised.kind else COMMAND_LINE()
    return DELETED_ACCOUNT() if told.actor is None else hidden or ANOTHER_ACCOUNT()


def name_rank(rank: int) -> str:
    """Return the engine's title of a rank; games may have more ranks than the engine's four."""
    return RANKS[rank].Title if rank < len(RANKS) else gettext("Rank %(rank)s", rank=rank)
