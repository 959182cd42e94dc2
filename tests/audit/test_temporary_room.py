"""A feature is in the files of one room: here one with a change, an operation, a page, a job and a check.

A process of its own runs this file. It appends folders to the packages of the room `lists`; no list names the files.
"""

import asyncio
import importlib
import subprocess
import sys
from pathlib import Path

from jinja2 import FileSystemLoader

FILES = {
    "store/lists/mottos.sql": """
-- name: of_person
SELECT motto FROM mottos WHERE user_id = $1;
-- name: save
INSERT INTO mottos (user_id, motto) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET motto = excluded.motto;
-- name: delete_empty
DELETE FROM mottos WHERE motto = '';
-- name: logged
SELECT motto, (SELECT after->>'Motto' FROM ledger WHERE kind = 'motto_set' ORDER BY seq DESC LIMIT 1) FROM mottos;
""",
    "store/lists/mottos.py": """
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.statements import Statements
SQL = Statements(__file__)
PERSON = (PersonRows(800, "mottos", SQL.of_person),)
""",
    "game/lists/changes.py": """
from dataclasses import dataclass
import msgspec
from gamekeeper.game.core import lookup
from gamekeeper.game.core.change import ACCOUNTS, Change, ChangeSide, Kind
from gamekeeper.game.core.background_jobs import Job
from gamekeeper.game.core.undo import undoes
from gamekeeper.game.core.writes import CoreKeeper, Decision
from gamekeeper.store.lists.mottos import SQL
@dataclass
class MottoSet(Change):
    user_id: str; before: str; after: str
    kind = Kind("motto_set", "Motto set", ACCOUNTS, needs={"notes.write"}, fields={"Motto"}, by_undo=True).name
    def whose(self): return None, self.user_id
    def sides(self): return ChangeSide(command={"Motto": self.before}), ChangeSide(command={"Motto": self.after})
    def carry_out(self, tx, _): tx.defer(SQL.save, self.user_id, self.after)
async def set_motto(tx, key, motto):
    user = await lookup.lock_user(tx, key)
    row = await tx.one(SQL.of_person, user.id)
    return Decision([MottoSet(user.id, row[0] if row else "", motto)], user.name, subject=(None, user.id))
@undoes("motto_set")
async def undo(_, context):
    sides = [msgspec.json.decode(side)["Motto"] for side in (context.change.after, context.change.before)]
    return [MottoSet(context.user_id, *sides)]
async def tidy(tx): tx.defer(SQL.delete_empty)
JOBS = (Job[CoreKeeper]("mottos", 4242.0, lambda keeper: lambda: keeper.store.write(tidy)),)
""",
    "http/lists/motto_shapes.py": """
from msgspec import Struct
from gamekeeper.http.contract.shapes import SIDES, Sides, Text as AnyText
class Motto(Struct): Text: AnyText
class MottoSide(Struct): Motto: str
SIDES["motto_set"] = Sides(MottoSide, MottoSide)
""",
    "http/lists/mottos.py": """
from functools import partial
from gamekeeper.game.core import refusals as no
from gamekeeper.game.lists import changes
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import Group, needs
from gamekeeper.http.lists.motto_shapes import Motto
from gamekeeper.http.server.request import Request
GROUPS = (Group("Mottos", "Mottos of accounts.", place=9_999),)
@GROUPS[0].operation(
    "PUT /api/keeper/v1/users/[lookupKey]/motto", permissions=needs("notes.write"), answer=Motto,
    refusals=(no.NoSuchUser,), example_body=Motto("Onward"), example_answer=Motto("Onward"))
async def set_motto(request: Request, body: Motto) -> bytes:
    "Set the motto of an account."
    decide = partial(changes.set_motto, key=request.params[0], motto=body.Text)
    return await request.change(decide, lambda _: shapes.encode(body))
""",
    "console/lists/mottos.html": "{% extends base %}{% block content %}<h1>Mottos of accounts</h1>{% endblock %}",
    "console/lists/mottos.py": """
from gamekeeper.console.frame import pages
from gamekeeper.console.frame.menu import NOTES, SUPPORT
from gamekeeper.console.frame.routes import page_route
async def show(request): return pages.render(request, "lists/mottos.html")
PAGES = (page_route("/mottos", show, NOTES).in_menu("Mottos", SUPPORT, 999).with_help("The mottos of accounts."),)
""",
    "doctor/mottos.py": """
from gamekeeper.doctor.findings import ERROR, Check
from gamekeeper.store.lists.mottos import SQL
async def check(it):
    for motto, logged in await it.tx.all(SQL.logged):
        if motto != logged: it.found.add(ERROR, "mottos", f"{motto} is {logged} in the audit log.")
CHECKS = (Check(999, ("mottos",), check),)
""",
}


def test_feature_is_in_the_files_of_one_room(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, __file__, tmp_path, *sys.path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "complete\n"), done.stderr


def add_files(folder: Path) -> None:
    for name, content in FILES.items():
        (file := folder / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
        package = importlib.import_module(f"gamekeeper.{'.'.join(Path(name).parts[:-1])}")
        package.__path__.append(str(file.parent))


def use_feature(folder: Path) -> None:
    import world as worlds  # noqa: PLC0415 - it and the modules below collect what the rooms register
    from findings import findings  # noqa: PLC0415 - as above
    from gamekeeper import app  # noqa: PLC0415 - as above
    from gamekeeper.console.frame import templates  # noqa: PLC0415 - as above
    from gamekeeper.http import openapi, routes  # noqa: PLC0415 - as above
    from keepers import open_session  # noqa: PLC0415 - as above

    for each in templates.ENVIRONMENTS.values():
        each.loader = FileSystemLoader([Path(templates.__file__).parents[1], folder / "console"])
    with worlds.open_world(url := f"sqlite:///{folder}/game.db", asyncio.run(worlds.prepare(url))) as world:
        world.sql("CREATE TABLE mottos (user_id TEXT PRIMARY KEY, motto TEXT NOT NULL)")
        (folder / "store/lists/mottos.py").unlink()  # an upgrade replaces files beside a running server
        users, changes = "/api/keeper/v1/users", "/api/keeper/v1/changes"
        assert world.call("PUT", f"{users}/Ann/motto", body={"Text": "Onward"}).json == {"Text": "Onward"}
        assert b"/users/{lookupKey}/motto" in openapi.make_document(routes.ROUTES, world.keeper.settings)
        assert "Set the motto of an account." in [each["summary"] for each in routes.list_operations()]
        change = world.get(f"{changes}?limit=1").json["Changes"][0]
        assert (change["Kind"], change["After"]) == ("motto_set", {"Motto": "Onward"})
        assert world.get(f"{users}/Ann/export").json["mottos"] == [{"motto": "Onward"}]
        session = open_session(world, "Root")
        assert session.page("/console").links["Mottos"] == "/console/mottos"
        for page, text in (("mottos", "Mottos of accounts"), ("changes", "Motto set")):
            assert text in session.page(f"/console/{page}").text
        world.sql("UPDATE mottos SET motto = 'Backward'")
        assert [each.message for each in findings(world, "mottos")] == ["Backward is Onward in the audit log."]
        assert world.post(f"{changes}/{change['Seq']}/undo").json["Changes"][0]["After"] == {"Motto": ""}
        assert findings(world, "mottos") == []
        [run] = [run for seconds, run in app.BackgroundJobs(world.asgi.services).jobs if seconds == 4242]
        world.run(asyncio.wait_for(run(), 10))
        assert world.sql("SELECT motto FROM mottos") == []


if __name__ == "__main__":
    sys.path[:] = sys.argv[2:]
    add_files(Path(sys.argv[1]))
    use_feature(Path(sys.argv[1]))
    print("complete")  # noqa: T201 - the test reads it
