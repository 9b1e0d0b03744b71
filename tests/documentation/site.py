"""Build the documentation site into build/site.

    python -m tests.documentation.site

Zensical runs no hooks, so it builds a prepared copy of docs/ (build/docs). Three kinds of problems fail the build:
outdated output of executed blocks, missing targets of links, and files that a page loads from another server.
"""

import os
import re
import shutil
import subprocess
import sys

from tests.documentation.execution import ROOT
from tests.documentation.pages import ABOVE, DOCS, EXECUTED, difference

PREPARED = ROOT / "build" / "docs"
SITE = ROOT / "build" / "site"
WORDS_JOINED = re.compile(r"(parser:(\w+)=>\w+\(\2,)\"and\"")  # in the script of Zensical's search
LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=\"?((?:https?:)?//[^\" >]+)")


def prepare_pages():
    """Copy docs/ to build/docs, add the pages from the root of the repository, and adapt all pages to the site."""
    shutil.rmtree(PREPARED, ignore_errors=True)
    shutil.copytree(DOCS, PREPARED)
    for name, uri in ABOVE.items():
        text = (ROOT / name).read_text()
        (PREPARED / uri).write_text(text.replace("](docs/", "]("))
    for path in PREPARED.rglob("*.md"):
        depth = len(path.relative_to(PREPARED).parts) - 1
        path.write_text(adapt_page(path.read_text(), depth))


def adapt_page(markdown, depth):
    """Return a page as the site needs it; `depth` is the number of folders between the page and docs/."""
    for name, uri in ABOVE.items():
        markdown = re.sub(rf"\]\((?:\.\./)+{re.escape(name)}", f"]({'../' * depth}{uri}", markdown)
    markdown = markdown.replace("\n<BLANKLINE>\n", "\n\n")  # only doctest needs this marker
    return markdown.replace("```mermaid", "```text")  # GitHub draws the diagram; the site would load a script for it


def list_differences():
    """List the pages that do not show what their blocks print, each as a diff."""
    return [f"{path.relative_to(ROOT)}: its blocks print something else; run `make docs`:\n{lines}"
            for path in EXECUTED if path.is_relative_to(DOCS) and (lines := difference(path))]


def find_partial_matches(site):
    """Edit the search script so that a section with only some words of the query is a result too.

    Zensical has no setting for this. Without the edit, "multiple testing correction" has no results, because no
    section contains all three words.
    """
    [script] = (site / "assets/javascripts/workers").glob("search.*.js")
    text, count = WORDS_JOINED.subn(r'\1"or"', script.read_text())
    if count != 1:
        sys.exit(f"{script.name}: found {count} places where the words of a query are joined, expected 1; install the "
                 "version of zensical that pyproject.toml names, or adapt WORDS_JOINED")
    script.write_text(text)


def list_foreign_files(site):
    """List the files on other servers that pages of the site load."""
    return [f"{path.relative_to(site)}: the page loads {address}; copy the file into docs/assets"
            for path in sorted(site.rglob("*.html")) for address in LOADED.findall(path.read_text())]


def run_zensical(root):
    """Build the site of the folder that has a mkdocs.yml; return False if there are errors or warnings."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    return not subprocess.run(command, cwd=root, check=False, env=os.environ | {"PYTHONPATH": str(ROOT)}).returncode


def build():
    """Build the site; return the problems."""
    problems = list_differences()
    prepare_pages()
    shutil.rmtree(SITE, ignore_errors=True)
    if not run_zensical(ROOT):
        return [*problems, "zensical: the build failed; see its messages"]
    find_partial_matches(SITE)
    return [*problems, *list_foreign_files(SITE)]


if __name__ == "__main__":
    if found_problems := build():
        sys.exit("\n".join(found_problems))
    print(SITE.relative_to(ROOT) / "index.html")
