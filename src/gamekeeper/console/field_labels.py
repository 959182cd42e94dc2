"""Names of form fields in error messages: the label on the screen instead of the name in the API."""

import re
from collections.abc import Mapping

from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game.refusals import BadField, MissingField, Refusal

FIELD = re.compile(r"(?<=')[A-Za-z]+(?=')", re.ASCII)  # the first quoted word of the messages below
LABELS = PerLanguage[Mapping[str, str]](
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
        refusal.message = FIELD.sub(lambda found: LABELS().get(found[0].lower(), found[0]), refusal.message, count=1)
    return refusal
