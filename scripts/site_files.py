"""MkDocs hook: take the documents from their places in the project, so that their links work in a checkout too."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
ICON = "src/gamekeeper/console/frame/static/icon.svg"
# Start of a path → factor of its rank in the search. The first match counts. Writes explains the API's dry run.
BOOSTS = {"docs/guides/": 4, "docs/decisions/writes.md": 20, "docs/decisions": 0.1, "CHANGELOG.md": 0.1}
WIDE = ("docs/operations.md", "docs/settings.md")  # pages that are one wide table
SHOWN = ("*.md", "docs/*", "docs/*/*", "examples/*", "deploy/*", ICON)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    for each in [each for each in files if each.src_dir == config.docs_dir]:
        files.remove(each)
    for path in sorted(path for pattern in SHOWN for path in ROOT.glob(pattern) if path.is_file()):
        files.append(File(path.relative_to(ROOT).as_posix(), str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - the names are those of MkDocs
    """Rank guides first and decisions last in the search, and give wide tables the place of the table of contents."""
    path = page.file.src_uri
    page.meta["search"] = {"boost": next((boost for start, boost in BOOSTS.items() if path.startswith(start)), 1)}
    if path in WIDE:
        page.meta["hide"] = ["toc"]
    return markdown
