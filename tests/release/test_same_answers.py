"""Every operation of the API and the game link gives the same answers and rows on both engines, over real servers."""

import same_answers
from databases import Postgres, Sqlite


def test_both_engines_give_the_same_answers_and_rows(sqlite_databases: Sqlite, postgres_databases: Postgres) -> None:
    sqlite, postgres = sqlite_databases.empty(), postgres_databases.empty()
    try:
        assert same_answers.differences(sqlite, postgres) == []
    finally:
        sqlite_databases.drop(sqlite)
        postgres_databases.drop(postgres)
