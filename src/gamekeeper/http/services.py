"""Objects that all requests of a process share. The app makes one `Services` at start."""

from dataclasses import dataclass

from gamekeeper.game.keeper import Keeper
from gamekeeper.http.admission import Admission
from gamekeeper.http.caller import Callers
from gamekeeper.http.chat_guard import ChatGuard
from gamekeeper.http.docs_files import DocsFiles
from gamekeeper.http.gate import Gate
from gamekeeper.http.prometheus import Metrics
from gamekeeper.http.proxies import Proxies
from gamekeeper.http.public_guard import PublicGuard
from gamekeeper.http.router import Router
from gamekeeper.http.shared_query import SharedQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    keeper: Keeper
    router: Router
    callers: Callers
    proxies: Proxies
    files: DocsFiles  # files of the API explorer at /api/docs
    admission: Admission
    gate: Gate  # limits the long reads of all requests
    readiness: SharedQuery[None]
    metrics: Metrics
    chat_guard: ChatGuard
    public_guard: PublicGuard
    live: object  # state that the console's pages share; its type is in `console/state.py`
