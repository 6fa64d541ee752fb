#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the documentation a site, with mkdocs. Notebooks become pages with their outputs, the README the first
page. Links to files that are no pages become their names. A link that leads nowhere is an error.

usage: make_site.py FOLDER [ROOT]
"""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def output_html(output):
    if output["output_type"] == "stream":
        return f"<pre>{html.escape(''.join(output['text']))}</pre>"
    data = output.get("data", {})
    for kind in ("text/html", "image/svg+xml"):
        if kind in data:
            return "".join(data[kind])
    return f"<pre>{html.escape(''.join(data.get('text/plain', '')))}</pre>"


def page_of_notebook(path):
    """Markdown. Outputs are blocks of HTML, which have no empty lines: those would end them."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            block = re.sub(r"\n\s*\n", "\n", output_html(output))
            parts.append(f'<div class="output" style="overflow-x: auto">{block}</div>')
    return "\n\n".join(parts) + "\n"


def relinked(text, page, place, places):
    """The text of a page that stands at `place` of the site: links to other pages lead to their places, links to
    files that are no pages become their words."""
    def link(match):
        words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, fragment = target.partition("#")
        goal = places.get(Path(os.path.normpath(page.parent / path)))
        if goal is None:
            return words
        return f"[{words}]({os.path.relpath(goal, Path(place).parent)}{'#' + fragment if fragment else ''})"
    return LINK.sub(link, text)


def copied(root, site):
    """The pages as mkdocs reads them."""
    docs = root / "docs"
    places = {root / "README.md": "index.md", root / "CHANGELOG.md": "changelog.md",
              root / "CONTRIBUTING.md": "contributing.md", root / "configs/README.md": "configs.md"}
    for page in docs.rglob("*"):
        if page.suffix in (".md", ".ipynb"):
            places[page] = page.relative_to(docs).with_suffix(".md").as_posix()
    for page, place in places.items():
        text = page_of_notebook(page) if page.suffix == ".ipynb" else page.read_text()
        (site / place).parent.mkdir(parents=True, exist_ok=True)
        (site / place).write_text(relinked(text, page, place, {**places, docs / "decisions": "decisions.md"}))
    titles = [f"- [{page.read_text().splitlines()[0].lstrip('# ')}](decisions/{page.name})"
              for page in sorted((docs / "decisions").glob("*.md"))]
    (site / "decisions.md").write_text("# Decisions\n\n" + "\n".join(titles) + "\n")


def make(folder, root):
    with tempfile.TemporaryDirectory(prefix="mapsim_") as made:
        site = Path(made) / "docs"
        copied(root, site)
        config = (root / "mkdocs.yml").read_text().replace(".ipynb", ".md")
        config += (
            "  - About:\n      - Changes: changelog.md\n      - Shipped files: configs.md\n"
            "      - Contributing: contributing.md\n")
        (Path(made) / "mkdocs.yml").write_text(config)
        ran = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--config-file", Path(made) / "mkdocs.yml",
                              "--site-dir", folder.resolve()], check=False)
    return ran.returncode


if __name__ == "__main__":
    sys.exit(make(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()))
