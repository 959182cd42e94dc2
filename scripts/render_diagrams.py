"""Render the Mermaid sources of docs/diagrams as SVG files, in the Chromium of the browser tests; `make diagrams`.

Each SVG file has the SHA-256 of its source, so that a test notices a source that was changed and not rendered.
The files have a white background, because pages in dark mode show them too, and load nothing.
"""

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "diagrams"
MERMAID = ROOT / ".venv" / "diagrams" / "node_modules" / "mermaid" / "dist" / "mermaid.min.js"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# The letters of Liberation Sans and Arimo are as wide as those of Arial. So a text that was measured with one of these
# fonts fits its box in a browser that has another.
FONTS = "Arial, 'Liberation Sans', Arimo, Helvetica, sans-serif"
INK, LINE, FILL, NOTE, GROUP = "#1b2b2a", "#00695c", "#e0f2f1", "#fff8e1", "#f7faf9"
CONFIGURATION = {
    "startOnLoad": False,
    "securityLevel": "strict",
    "deterministicIds": True,
    "deterministicIDSeed": "gamekeeper",
    "htmlLabels": False,  # text elements, which every viewer of SVG files shows
    "theme": "base",
    "themeVariables": {
        "fontFamily": FONTS,
        "fontSize": "16px",
        "primaryColor": FILL,
        "primaryTextColor": INK,
        "primaryBorderColor": LINE,
        "lineColor": LINE,
        "textColor": INK,
        "noteBkgColor": NOTE,
        "noteBorderColor": "#c9a227",
        "clusterBkg": GROUP,
        "clusterBorder": "#90a4a0",
        "edgeLabelBackground": "#ffffff",
    },
    "themeCSS": ".flowchart-link, .node rect, .node path, .node polygon, .messageLine0 {stroke-width: 1.5px}"
    " .edgeLabel rect.background {opacity: 1}",
    "flowchart": {"htmlLabels": False, "wrappingWidth": 170, "nodeSpacing": 30, "rankSpacing": 36, "padding": 12},
    "sequence": {"mirrorActors": False, "width": 110, "actorMargin": 40, "diagramMarginX": 4, "messageFontSize": 16},
}
PADDING = 8  # pixels of white around each diagram


def hash_source(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


def render(page: Page, source: Path) -> str:
    """Return the SVG of a source, with a white background, its own size and the hash of its source."""
    draw = "async ([id, text]) => (await mermaid.render(id, text)).svg"
    svg: str = page.evaluate(draw, [source.stem, source.read_text("utf-8")])
    (size,) = re.findall(r'^<svg[^>]* viewBox="([^"]+)"', svg)
    left, top, width, height = map(float, str(size).split())
    left, top, width, height = left - PADDING, top - PADDING, width + 2 * PADDING, height + 2 * PADDING
    box = f"{left:g} {top:g} {width:g} {height:g}"
    head, body = svg.split(">", 1)
    head = re.sub(r' (?:width|height|style|viewBox|preserveAspectRatio)="[^"]*"', "", head)
    head += f' viewBox="{box}" width="{width:.0f}" height="{height:.0f}" data-source-sha256="{hash_source(source)}">'
    white = f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="6" fill="#ffffff"/>'
    # title and description stay the first elements, which assistive technology reads
    titles = re.match(r"(?:<(title|desc)\b.*?</\1>)*", body, re.DOTALL)
    end = titles.end() if titles else 0
    return f"{head}{body[:end]}{white}{body[end:]}\n"


def find_chromium() -> str:
    found = os.environ.get("GAMEKEEPER_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or sys.exit("There is no Chromium: run `make chromium`, or set GAMEKEEPER_CHROMIUM.")


def main() -> None:
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        page = browser.new_page()
        page.add_script_tag(path=MERMAID)
        page.evaluate("settings => mermaid.initialize(settings)", CONFIGURATION)
        for source in sorted(FOLDER.glob("*.mmd")):
            source.with_suffix(".svg").write_text(render(page, source), "utf-8")
        browser.close()


if __name__ == "__main__":
    main()
