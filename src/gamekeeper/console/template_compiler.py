"""Compile the templates of all pages in the background, so that the first view of a page does not block the event loop.

A large template takes up to 0.1 s to compile, and on a busy machine more. All of them take 3 s, which a start should
not wait for, and a process that soon ends should not spend.
"""

import asyncio
import time

from gamekeeper.console.pages import ENVIRONMENTS

BEGIN_SECONDS = 5.0  # time after the start until the first template is compiled
# pause after a template, as a multiple of the time that it took: uses at most a quarter of a core
REST_FACTOR = 3


async def compile_all() -> None:
    """Compile each template in each language, in a thread, with pauses."""
    await asyncio.sleep(BEGIN_SECONDS)
    for environment in ENVIRONMENTS.values():
        for name in environment.list_templates():
            began = time.monotonic()
            await asyncio.to_thread(environment.get_template, name)  # compiles it unless a page has already done so
            await asyncio.sleep(REST_FACTOR * (time.monotonic() - began))
