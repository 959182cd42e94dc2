"""The script of docs/openapi.md keeps numbers beyond 2^53 exact in JavaScript; no server is needed."""

import re
from pathlib import Path

from playwright.sync_api import Browser

SNIPPET = re.findall(r"```js\n(.*?)```", (Path(__file__).parents[2] / "docs/openapi.md").read_text("utf-8"), re.DOTALL)[
    0
]
SENT = '{"Exp":9007199254740993,"Level":48,"Dead":false,"Values":[1,-9223372036854775808],"LastOnline":null}'


def test_documented_script_reads_and_writes_large_numbers_exactly(browser: Browser) -> None:
    page = browser.new_page()
    assert page.evaluate("text => JSON.stringify(JSON.parse(text))", SENT) != SENT
    assert page.evaluate(f"text => {{ {SNIPPET}; return writeExactly(parseExactly(text)) }}", SENT) == SENT
    assert page.evaluate(f"text => {{ {SNIPPET}; return typeof parseExactly(text).Level }}", SENT) == "number"
    page.close()
