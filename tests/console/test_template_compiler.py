"""A serving process compiles the templates of all pages in the background, outside of the event loop."""

import asyncio
import threading
import time
from typing import Any

import pytest

from gamekeeper import app, settings
from gamekeeper.console import pages, template_compiler
from gamekeeper.console.template_output import ConsoleEnvironment


def test_started_server_compiles_all_templates_in_a_thread(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_compiler, "BEGIN_SECONDS", 0.01)
    monkeypatch.setattr(template_compiler, "REST_FACTOR", 0)
    threads, compiled = set[int](), set[tuple[str, str]]()
    compile_one: Any = ConsoleEnvironment.compile

    def compile_and_note(self: ConsoleEnvironment, source: Any, name: str, *given: Any, **more: Any) -> object:
        threads.add(threading.get_ident())
        found: object = compile_one(self, source, name, *given, **more)
        compiled.add((self.language, name))
        return found

    monkeypatch.setattr(ConsoleEnvironment, "compile", compile_and_note)
    wanted = {(language, name) for language, each in pages.ENVIRONMENTS.items() for name in each.list_templates()}
    for each in pages.ENVIRONMENTS.values():  # other tests may have filled the caches
        if each.cache is not None:
            each.cache.clear()
    served = app.build(app.build_keeper(settings.load({}, database=f"sqlite:///{tmp_path}/x.db")))

    async def live() -> None:
        states: asyncio.Queue[str] = asyncio.Queue()
        await states.put("lifespan.startup")

        async def receive() -> Any:
            return {"type": await states.get()}

        async def send(_: Any) -> None:
            pass

        running = asyncio.create_task(served({"type": "lifespan"}, receive, send))
        deadline = time.monotonic() + 60
        while compiled != wanted and time.monotonic() < deadline:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.05)
        await states.put("lifespan.shutdown")
        await running

    asyncio.run(live())
    assert compiled == wanted
    assert threading.get_ident() not in threads
