"""The test data: accounts, players and catalogue with which every test starts."""

from gamekeeper.game.core.player import BANK, INVENTORY, Player, Stack
from gamekeeper.game.players.changes import PlayerState as Belongings
from gamekeeper.store.access.roles import Powers
from gamekeeper.store.world.catalogue import CatalogueItem, CatalogueServerVariable, CatalogueVariable, NamedEntry

PASSWORD = "correct horse battery staple"  # password of all test accounts


def guid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


# The catalogue of the test world: items, spells, variables.
COIN = CatalogueItem(guid(1), "Gold Coin", stackable=True, max_stack=None, bag_slots=0, icon="coin.png")
ARROW = CatalogueItem(guid(2), "Arrow", stackable=True, max_stack=100, bag_slots=0, icon=None)
SWORD = CatalogueItem(guid(3), "Sword", stackable=False, max_stack=None, bag_slots=0, icon="sword.png")
POUCH = CatalogueItem(guid(4), "Pouch", stackable=False, max_stack=None, bag_slots=8, icon="pouch.png")
FIREBALL = NamedEntry(guid(11), "Fireball")
HEAL = NamedEntry(guid(12), "Heal")
KILLS = CatalogueVariable(guid(21), "Kills", "Integer")
TUTORIAL = CatalogueVariable(guid(22), "Tutorial done", "Boolean")
UNSET = CatalogueVariable(guid(23), "Never set", "Integer")
UNSET_FLAG = CatalogueVariable(guid(24), "Never raised", "Boolean")
WARRIOR = NamedEntry(guid(31), "Warrior")
MEADOW = NamedEntry(guid(41), "Meadow")
CATALOGUE = {
    "items": [COIN, ARROW, SWORD, POUCH],
    "spells": [FIREBALL, HEAL],
    "variables": [KILLS, TUTORIAL, UNSET, UNSET_FLAG],
    "classes": [WARRIOR],
    "maps": [MEADOW],
}
# Variables of the server, by id. The last one was never set.
DOUBLE_XP = CatalogueServerVariable(guid(0x81), "Double XP", "Integer", "dxp", "Events", -8586599203473051578, "10")
HARBOUR = CatalogueServerVariable(guid(0x82), "Harbour open", "Boolean", "harbour", "", 1, "true")
TAX = CatalogueServerVariable(guid(0x83), "Tax", "Number", "tax", "", 2, "0.5")
MOTD = CatalogueServerVariable(guid(0x84), "Message of the day", "String", "motd", "", 3, None)
SERVER_VARIABLES = [DOUBLE_XP, HARBOUR, TAX, MOTD]

# Accounts and their permissions. All have PASSWORD and the address name@example.test.
ACCOUNTS = {
    "Root": Powers(*[True] * 8),  # Root has all permissions
    "Clerk": Powers(api=True, users_query=True),  # Clerk may read accounts
    "Shop": Powers(api=True),  # Shop has API access without a role
    "Server": Powers(api=True, game_link=True),  # Server is the account of a game server
    "Ann": Powers(),
    "Bob": Powers(),
    "Mona": Powers(),  # Mona is muted for spamming
}
MUTED = {"Mona": "spamming"}

USER_IDS = {name: guid(0x100 + number) for number, name in enumerate(ACCOUNTS)}

ANNS_POUCH = guid(51)
NOBODY_ID = guid(0xDEAD)

# Players. Ann has items, spells and variables; Bob has nothing; Zoe is the second player of Ann's account.
ANN = Player(
    id=guid(61),
    user_id=USER_IDS["Ann"],
    name="Ann",
    level=12,
    exp=345,
    experience_to_next_level=655,
    class_id=WARRIOR.id,
    gender=1,
    max_vitals=(120, 40),
    vitals=(100, 40),
    base_stats=(5, 6, 7, 8, 9),
    stat_points=3,
    equipment=(-1, -1, 2, -1, -1),
    map_id=MEADOW.id,
    x=3,
    y=4,
    sprite="ann.png",
    face="ann-face.png",
    created_at=1_700_000_000_000,
    play_time_seconds=3600,
)
ANNS_BELONGINGS = Belongings(
    slots={
        (INVENTORY, 0): Stack(COIN.id, 250),
        (INVENTORY, 1): Stack(ARROW.id, 60),
        (INVENTORY, 2): Stack(SWORD.id, 1, None, (1, 2, 3, 4, 5)),
        (INVENTORY, 3): Stack(POUCH.id, 1, ANNS_POUCH),
        (BANK, 0): Stack(COIN.id, 1000),
        (ANNS_POUCH, 1): Stack(ARROW.id, 7),
    },
    bags={ANNS_POUCH: POUCH.bag_slots},
    spells={0: FIREBALL.id},
    variables={KILLS.id: 7, TUTORIAL.id: True},
)
BOB = Player(id=guid(62), user_id=USER_IDS["Bob"], name="Bob", level=3, exp=10, created_at=1_700_000_001_000)
ZOE = Player(id=guid(63), user_id=USER_IDS["Ann"], name="Zoe", level=12, exp=345, created_at=1_700_000_002_000)
CHARACTERS = [(ANN, ANNS_BELONGINGS), (BOB, Belongings()), (ZOE, Belongings())]
