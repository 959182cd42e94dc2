"""Records of accounts as the API sends them."""

import people
from proof import registration_date
from world import USERS, World

REGISTER = f"{USERS}/register"
NO_POWER = {"Editor": False, "Ban": False, "Kick": False, "Mute": False, "Api": False, "PersonalInformation": False}
ROOTS_POWER = dict.fromkeys(NO_POWER, True)


def record(world: World, name: str, **differing: object) -> dict[str, object]:
    known: dict[str, object] = {
        "Id": people.USER_IDS[name],
        "Name": name,
        "Email": f"{name.lower()}@example.test",
        "Power": NO_POWER,
        "PasswordResetCode": None,
        "IsMuted": False,
        "MuteReason": None,
        "IsBanned": False,
        "RegistrationDate": registration_date(world, name),
        "PlayTimeSeconds": 3600 if name == "Ann" else 0,
    }
    return known | differing
