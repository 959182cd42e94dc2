"""Import from a real MariaDB server, if installed, with copies of the same databases."""

import asyncio
import shutil
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pymysql
import pytest

import make_intersect
from command_line import CommandLine
from intersect_files import IntersectFiles, Make, contents
from server import free_port
from world import World

PASSWORD = "p@ss/word"
SERVER, INSTALL = (shutil.which(name) or "" for name in ("mariadbd", "mariadb-install-db"))
pytestmark = [
    pytest.mark.long_only,
    pytest.mark.skipif(not (SERVER and INSTALL), reason="there is no mariadbd here; Debian has it in mariadb-server"),
]
DRIVER: Any = pymysql


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[int]:
    """Start a MariaDB server for the tests and return its port."""
    folder = tmp_path_factory.mktemp("mariadb")
    data, account = folder / "data", ["--user=root"]
    install = ["--auth-root-authentication-method=normal", "--skip-test-db", f"--datadir={data}", *account]
    subprocess.run([INSTALL, *install], check=True, capture_output=True, timeout=120)
    port = free_port()
    own = [f"--datadir={data}", f"--socket={folder / 's'}", f"--pid-file={folder / 'pid'}", f"--port={port}"]
    small = ["--bind-address=127.0.0.1", "--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0"]
    process = subprocess.Popen([SERVER, "--no-defaults", *own, *small, *account], stderr=subprocess.DEVNULL)
    try:
        prepare(port)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)


def prepare(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            db = DRIVER.connect(host="127.0.0.1", port=port, user="root")
            break
        except DRIVER.MySQLError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    with db, db.cursor() as cursor:
        cursor.execute(f"CREATE USER reader@127.0.0.1 IDENTIFIED BY '{PASSWORD}'")
        cursor.execute("GRANT SELECT ON *.* TO reader@127.0.0.1")


def copied(port: int, name: str, path: Path, tables: Mapping[str, str]) -> str:
    """Copy a database to MariaDB; return its URL. As in Intersect, guids are char(36) and times datetime(6)."""
    with (
        closing(apsw.Connection(str(path))) as source,
        DRIVER.connect(host="127.0.0.1", port=port, user="root", autocommit=True) as db,
        db.cursor() as cursor,
    ):
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        cursor.execute(f"USE {name}")
        for table, columns in tables.items():
            typed = columns.replace("Id TEXT", "Id CHAR(36)").replace("TEXT", "LONGTEXT").replace("INTEGER", "BIGINT")
            for moment in ("LastOnline", "CreationDate", "RegistrationDate", "StartTime", "EndTime"):
                typed = typed.replace(f"{moment} LONGTEXT", f"{moment} DATETIME(6)")
            cursor.execute(f"CREATE TABLE {table} ({typed})")
            rows = source.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 - names from here
            if rows:
                marks = ", ".join(["%s"] * len(rows[0]))
                cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", [_cut(row) for row in rows])  # noqa: S608 - names from here
    return f"mysql://reader:{PASSWORD.replace('@', '%40').replace('/', '%2F')}@127.0.0.1:{port}/{name}"


def _cut(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cut the times in rows to six decimal places, as MySQL stores them."""
    return tuple(each[:26] if isinstance(each, str) and each.startswith(("20", "9999-")) else each for each in row)


def both(port: int, name: str, made: IntersectFiles) -> tuple[str, str]:
    era = make_intersect.BY_NAME["0.8"]
    players = copied(port, f"{name}_players", made.players, make_intersect.player_tables(era))
    return players, copied(port, f"{name}_game", made.game, make_intersect.game_tables(era))


def test_mysql_import_equals_sqlite_import(
    server: int, files: Make, command: CommandLine, databases: Any, engine: str, loop: asyncio.AbstractEventLoop
) -> None:
    made = files("0.8", 6)
    players, game = both(server, f"good_{engine}", made)
    told = command.json("import", "intersect", "--players", players, "--game", game, "--report", str(made.report))
    other = databases.empty()
    try:
        expected = CommandLine(other).json("import", "intersect", *made.options)
        with closing(World(command.database, {}, loop)) as one, closing(World(other, {}, loop)) as two:
            assert contents(one) == contents(two)
    finally:
        databases.drop(other)
    assert told["tables"] == expected["tables"]
    again = command.json("import", "intersect", "--players", players, "--game", game, "--report", str(made.report))
    assert (told["changed"], again["changed"]) == (True, False)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_refused_mysql_connection_is_reported(server: int, files: Make, unmigrated: CommandLine) -> None:
    made = files()
    for url in (f"mysql://reader:wrong@127.0.0.1:{server}/x", "mysql://reader@127.0.0.1:1/x", "mysql://u:p[x@h/db"):
        told = unmigrated.refuses("import", "intersect", "--players", url, "--game", str(made.game))
        assert "cannot be reached" in told
        assert "wrong@" not in told
    assert not Path(unmigrated.database.removeprefix("sqlite:///")).exists()
