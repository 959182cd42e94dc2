"""Find the browser Chromium; without it the browser tests are skipped with a message, and fail in CI."""

import os
import shutil

import pytest

# The first is Chromium without windows, which needs a third of the CPU time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Chromium's sandbox does not work for the root user, and the tests run as root in a container.
ARGUMENTS = [
    # Chromium resolves no host name but localhost, which passkeys need: no request may leave this machine
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    # There is no GPU; drawing in the browser's own process saves the work of handing everything to another process.
    *("--disable-gpu", "--in-process-gpu"),
    *(["--no-sandbox"] if os.geteuid() == 0 else []),
]
MISSING = (
    "There is no Chromium to try the console in. Install one (Debian: apt-get install chromium-headless-shell, or make "
    "chromium), or say where it is with GAMEKEEPER_CHROMIUM."
)


def find() -> str | None:
    given = os.environ.get("GAMEKEEPER_CHROMIUM")
    return given or next((found for name in NAMES if (found := shutil.which(name))), None)


def require() -> str:
    found = find()
    if found is None and os.environ.get("CI"):
        pytest.fail(MISSING)
    if found is None:
        pytest.skip(MISSING)
    return found
