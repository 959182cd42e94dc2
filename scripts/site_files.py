"""MkDocs hook: take the documents from their places in the project, so that their links work in a checkout too."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
ICON = "src/gamekeeper/console/static/icon.svg"
SHOWN = ("*.md", "docs/*", "docs/*/*", "examples/*", "deploy/*", ICON)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    for each in [each for each in files if each.src_dir == config.docs_dir]:
        files.remove(each)
    for path in sorted(path for pattern in SHOWN for path in ROOT.glob(pattern) if path.is_file()):
        files.append(File(path.relative_to(ROOT).as_posix(), str(ROOT), config.site_dir, config.use_directory_urls))
    return files
