"""Short explanations of the console's pages, each with the document that says more, for the help menu."""

from typing import NamedTuple

from gamekeeper.console.document_files import DOCUMENTS
from gamekeeper.console.texts import PerLanguage, gettext


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
