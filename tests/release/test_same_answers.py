"""Every operation of the API and the game link gives the same answers and rows on both engines, over real servers."""

import compare_versions
from databases import Postgres, Sqlite

REQUESTS = 800  # some of each operation


def test_both_engines_give_the_same_answers_and_rows(sqlite_databases: Sqlite, postgres_databases: Postgres) -> None:
    sqlite, postgres = sqlite_databases.empty(), postgres_databases.empty()
    try:
        assert compare_versions.compare_engines(sqlite, postgres, REQUESTS) == []
    finally:
        sqlite_databases.drop(sqlite)
        postgres_databases.drop(postgres)
