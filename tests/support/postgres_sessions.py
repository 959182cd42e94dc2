"""Sessions at PostgreSQL beside those of Gamekeeper."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[Any]:
    """Open a session at PostgreSQL for tests."""
    driver: Any = asyncpg
    db = await driver.connect(url)
    try:
        yield db
    finally:
        await db.close()
