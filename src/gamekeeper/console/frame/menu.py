"""The menu of the console: its pages in groups with the permissions that each needs, and the help menu.

The help menu has a short explanation of each page, and links to the documents that are shipped with the server.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from gamekeeper.console.frame.texts import PerLanguage, gettext

IN_WHEEL = Path(__file__).parents[2] / "docs"
IN_CHECKOUT = Path(__file__).parents[4] / "docs"
FOLDERS = ("", "guides", "decisions")


class Document(NamedTuple):
    title: str
    file: Path


def _read_documents() -> dict[str, Document]:
    """List the documents by name, with their first heading. A requested name is only looked up here."""
    root = IN_WHEEL if IN_WHEEL.is_dir() else IN_CHECKOUT
    return {
        make_name(folder, each.stem): Document(_make_title(folder, each), each)
        for folder in FOLDERS
        for each in sorted((root / folder).glob("*.md"))
    }


def make_name(folder: str, stem: str) -> str:
    """Make the name of a document, which is one segment of an address: `settings`, or `guides-run`."""
    return f"{folder}-{stem}" if folder else stem


def _make_title(folder: str, file: Path) -> str:
    """Return a document's first heading, after the name of its folder: some are also titles in docs itself."""
    with file.open(encoding="utf-8") as lines:
        heading = lines.readline().removeprefix("# ").strip()
    return f"{folder.capitalize()}: {heading}" if folder else heading


DOCUMENTS: Mapping[str, Document] = _read_documents()


NO_PERMISSIONS: frozenset[str] = frozenset()
PLAYERS = frozenset({"players.read"})
CHANGES = frozenset({"audit.read"})
SECURITY = frozenset({"audit.read", "users.query"})
BULK = frozenset({"bulk.run", "players.read"})
NOTES = frozenset({"notes.write"})
QUERY = frozenset({"users.query"})
STAFF = frozenset({"users.query", "staff.manage"})
KEYS = frozenset({"keys.manage"})
APPROVALS = frozenset({"approvals.decide"})
MANAGE = frozenset({"users.query", "users.manage"})

GAME, SUPPORT, ADMINISTRATION = "game", "support", "administration"
GROUP_TITLES = PerLanguage[Mapping[str, str]](
    lambda: {GAME: gettext("Game"), SUPPORT: gettext("Support"), ADMINISTRATION: gettext("Administration")}
)


class MenuEntry(NamedTuple):
    path: str
    title: str
    needs: frozenset[str] = NO_PERMISSIONS
    group: str = GAME
    icon: str = "dot"  # name of a symbol in frame/icons.html
    parts: tuple[str, ...] = ()  # starts of the paths of other pages that belong to this entry

    def holds(self, path: str) -> bool:
        """Tell whether a page, by its route's path, is this entry or belongs to it."""
        return path == self.path or path.startswith((f"{self.path}/", *self.parts))


HOME = "/console"  # path of the home page, the first entry
# entries of a group stand together
MENU = PerLanguage[tuple[MenuEntry, ...]](
    lambda: (
        MenuEntry(HOME, gettext("Home"), icon="home"),
        MenuEntry("/console/characters", gettext("Players"), PLAYERS, GAME, "player", ("/console/players/",)),
        MenuEntry("/console/bulk", gettext("Bulk jobs"), BULK, GAME, "bulk"),
        MenuEntry("/console/online", gettext("Online"), PLAYERS, GAME, "online"),
        MenuEntry("/console/ranking", gettext("Ranking"), PLAYERS, GAME, "ranking"),
        MenuEntry("/console/boards", gettext("Boards"), PLAYERS, GAME, "boards"),
        MenuEntry("/console/guilds", gettext("Guilds"), PLAYERS, GAME, "guild"),
        MenuEntry("/console/activity", gettext("Activity"), PLAYERS, GAME, "activity"),
        MenuEntry("/console/economy", gettext("Economy"), PLAYERS, GAME, "economy", ("/console/items/",)),
        MenuEntry("/console/catalogue", gettext("Catalogue"), PLAYERS, GAME, "catalogue"),
        MenuEntry("/console/variables", gettext("Server variables"), PLAYERS, GAME, "variables"),
        MenuEntry("/console/accounts", gettext("Accounts"), QUERY, SUPPORT, "account"),
        MenuEntry("/console/notes", gettext("Notes"), NOTES, SUPPORT, "notes"),
        MenuEntry("/console/changes", gettext("Changes"), CHANGES, SUPPORT, "changes", ("/console/done/",)),
        MenuEntry("/console/signals", gettext("Signals"), CHANGES, SUPPORT, "signal"),
        MenuEntry("/console/approvals", gettext("Approvals"), APPROVALS, SUPPORT, "approvals"),
        MenuEntry("/console/mail", gettext("Mail"), MANAGE, SUPPORT, "mail"),
        MenuEntry("/console/staff", gettext("Staff"), STAFF, ADMINISTRATION, "staff"),
        MenuEntry("/console/roles", gettext("Roles"), STAFF, ADMINISTRATION, "role"),
        MenuEntry("/console/keys", gettext("API keys"), KEYS, ADMINISTRATION, "key"),
        MenuEntry("/console/tokens", gettext("Tokens"), MANAGE, ADMINISTRATION, "token"),
        MenuEntry("/console/security", gettext("Security log"), SECURITY, ADMINISTRATION, "security"),
        MenuEntry(
            "/console/health", gettext("Health"), NO_PERMISSIONS, ADMINISTRATION, "health", ("/console/deliveries",)
        ),
        MenuEntry("/console/explorer", gettext("API explorer"), NO_PERMISSIONS, ADMINISTRATION, "explorer"),
    )
)


class MenuGroup(NamedTuple):
    title: str
    entries: Sequence[MenuEntry]


def list_groups(rights: frozenset[str]) -> list[MenuGroup]:
    """List the groups of the menu with the entries that a viewer with these permissions can open."""
    shown = [each for each in MENU() if each.needs <= rights]
    groups, titles = groupby(shown, key=lambda each: each.group), GROUP_TITLES()
    return [MenuGroup(titles[group], list(entries)) for group, entries in groups]


def find_current(path: str) -> MenuEntry | None:
    """Find the entry to which a page belongs, by its route's path. Every path starts with that of the home page."""
    home, *others = MENU()
    return home if path == home.path else next((each for each in others if each.holds(path)), None)


class PageHelp(NamedTuple):
    text: str
    document: str = "console"  # name of a document in the folder docs

    @property
    def title(self) -> str:
        """Return the title of the document; empty if the installation has no documents."""
        return DOCUMENTS[self.document].title if self.document in DOCUMENTS else ""


ANY_PAGE = PerLanguage(
    lambda: PageHelp(gettext("Every change shows a preview, needs a reason, and can be undone from the audit log."))
)
# help by the path of a page's route, without /console
HELP = PerLanguage(
    lambda: {
        "": PageHelp(
            gettext(
                "How the game is doing: who plays, what waits for somebody, and what was changed lately. "
                "The address holds the time range, so you can send it to a colleague."
            ),
        ),
        "/characters": PageHelp(
            gettext("All players by name. Search for a part of a name, or select players to give all of them an item."),
        ),
        "/players/[lookupKey]": PageHelp(
            gettext(
                "One player: what it is, what it holds, and everything that happened to it. Every change "
                "shows a preview first and can be undone."
            ),
        ),
        "/online": PageHelp(
            gettext(
                "Players in the game now, and the game servers that report them. A server whose lease ends "
                "is treated as stopped."
            ),
            "link",
        ),
        "/ranking": PageHelp(gettext("Players by level and experience, from any rank.")),
        "/boards": PageHelp(
            gettext(
                "Rankings of players in seasons, for leaderboards. Final standings stay as they are. Staff, banned and "
                "hidden accounts are left out."
            ),
            "boards",
        ),
        "/boards/[board]": PageHelp(
            gettext("The standings of a season, highest first. A new season ends the one that is open."),
            "boards",
        ),
        "/guilds": PageHelp(gettext("The guilds of the game. They are changed in the game, not here."), "link"),
        "/guilds/[guild]": PageHelp(
            gettext("A guild with its members and ranks. It is changed in the game, not here."),
            "link",
        ),
        "/activity": PageHelp(
            gettext(
                "How many players were active by day, week and month, how often people signed in, and how many new "
                "players came back after 1, 7 and 30 days."
            ),
            "activity",
        ),
        "/economy": PageHelp(
            gettext(
                "How much of each item is in circulation, what was created and destroyed, and which staff "
                "and programs gave most. Choose an item or a variable to see who has the most."
            ),
            "economy",
        ),
        "/economy/gifts": PageHelp(
            gettext("What staff and API keys gave and took. Choose one to see its items."),
            "economy",
        ),
        "/economy/variables/[variableId]": PageHelp(
            gettext("Players by the value of one variable. The setting GAMEKEEPER_RANKED names the variables."),
            "economy",
        ),
        "/items/[itemId]": PageHelp(
            gettext("One item: how much there is, where it comes from, who has the most, and who gave it."),
            "economy",
        ),
        "/catalogue": PageHelp(
            gettext(
                "Items, spells, variables, classes and maps that the game has published. A game server "
                "sends them over the link."
            ),
            "link",
        ),
        "/variables": PageHelp(
            gettext(
                "Variables of the whole game, such as event switches. A change reaches the game servers within seconds."
            ),
            "link",
        ),
        "/accounts": PageHelp(
            gettext("People who can log in. An account owns players, and may have roles of the staff.")
        ),
        "/accounts/[lookupKey]": PageHelp(
            gettext(
                "One account: its players, ban and mute, password, roles and tokens, "
                "and everything that happened to it."
            ),
        ),
        "/notes": PageHelp(
            gettext("What the staff has written about players and accounts. Search it by text, or find who has a tag."),
        ),
        "/changes": PageHelp(
            gettext(
                "The audit log: every change with before, after, author and reason. Filter it, download it, "
                "and undo a change here."
            ),
            "history",
        ),
        "/changes/[seq]": PageHelp(gettext("One entry of the audit log with everything that it changed."), "history"),
        "/signals": PageHelp(
            gettext("What the rules have found: duplicated items, large gifts, silent game servers and more."),
            "signals",
        ),
        "/signals/[signal]": PageHelp(
            gettext("One signal with its evidence. Look into it, then acknowledge it with a note for your colleagues."),
            "signals",
        ),
        "/approvals": PageHelp(
            gettext("Changes that wait for a second person. You cannot approve your own."), "approvals"
        ),
        "/deliveries": PageHelp(
            gettext(
                "Commands that no game server has acknowledged in time. "
                "Check that the game server runs and is connected."
            ),
            "link",
        ),
        "/mail": PageHelp(gettext("Mails that wait, were sent or have failed, with the reason."), "mail"),
        "/bulk": PageHelp(
            gettext(
                "Give or take an item, set a variable, ban or mute many players at once. Select them in a list or "
                "paste "
                "their names, check the preview, start the job, and undo it with one button."
            ),
            "bulk",
        ),
        "/bulk/[job]": PageHelp(
            gettext("A job with its progress and the result for each player. Pause, resume, cancel or undo it."), "bulk"
        ),
        "/staff": PageHelp(
            gettext("Accounts with a role. Invite people, give and take roles, suspend them, and end their sessions."),
            "staff",
        ),
        "/roles": PageHelp(
            gettext("A role is a named set of permissions. Give each person the smallest one that is enough."),
            "permissions",
        ),
        "/roles/[role]": PageHelp(
            gettext("The permissions of one role. A change applies to everybody who has it, at once."),
            "permissions",
        ),
        "/keys": PageHelp(
            gettext(
                "Credentials of programs: websites, bots and game servers. "
                "Each has its own permissions, limits and expiry."
            ),
            "keys",
        ),
        "/tokens": PageHelp(gettext("Log-ins that are open now. Revoke one that has leaked."), "security-log"),
        "/security": PageHelp(
            gettext("Sign-ins, failed guesses, and changes of tokens, keys, roles and second factors."),
            "security-log",
        ),
        "/health": PageHelp(
            gettext("State of the server and its database. The doctor compares all data with the audit log."),
            "operating",
        ),
        "/explorer": PageHelp(
            gettext("Every operation of the API. You run it as yourself; a write shows a preview first."),
            "openapi",
        ),
        "/me/second-factor": PageHelp(
            gettext("Authenticator apps, passkeys and recovery codes that protect your account."),
            "second-factors",
        ),
        "/documents": PageHelp(gettext("All documents of this version: how to run, use and program the server.")),
        "/search": PageHelp(
            gettext("Search for players, accounts, items, changes and pages. Misspelt names are found too."),
        ),
    }
)


def find_help(path: str) -> PageHelp:
    """Find the help of a page by its route's path."""
    return HELP().get(path.removeprefix("/console")) or ANY_PAGE()
