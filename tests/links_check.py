#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does every link of the documents lead somewhere: to a file of the tree, to a heading of a page? Is every page
of docs/ in the site's navigation? Exit 1 if not.

usage: links_check.py ROOT
"""
import re
import sys
from pathlib import Path

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def anchor(heading):
    """What GitHub and mkdocs make of a heading."""
    text = re.sub(r"[`*]|\$[^$]*\$|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def anchors(text):
    return {anchor(match) for match in re.findall(r"^#+ +(.*)$", text, re.M)}


def pages(root):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "configs/README.md"))
    yield from sorted((root / "docs").rglob("*.md"))


def problems(root):
    texts = {page.resolve(): FENCE.sub("", page.read_text()) for page in pages(root)}
    for page, text in texts.items():
        for target in LINK.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, fragment = target.partition("#")
            goal = (page.parent / path).resolve() if path else page
            if not goal.exists():
                yield f"{page.relative_to(root)}: {target}: there is no such file"
            elif fragment and goal in texts and fragment not in anchors(texts[goal]):
                yield f"{page.relative_to(root)}: {target}: there is no such heading"
    navigation = (root / "mkdocs.yml").read_text()
    for page in [*(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.ipynb")]:
        name = page.relative_to(root / "docs").as_posix()
        if not name.startswith("decisions/") and name not in navigation:
            yield f"mkdocs.yml: docs/{name} is in no navigation"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "every link leads somewhere")
    sys.exit(bool(found))
