#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is every command and option of mapsim that the documents mention one that --help has? Exit 1 if not. Commands that
are mentioned only, or that need a GPU or a reader's file, do not run in a test (page_check.py): this one sees when they
are renamed.

usage: mentions_check.py ROOT MAPSIM
"""
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

FORMATS = {"import", "export", "compare"}  # their first word chooses which options they have
PROGRAM = re.compile(r"(?:^|[\s(;|&])(?:\S+/)?mapsim ((?:[a-z]+)\b.*)")
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


@cache
def options_of(program, *words):
    """Options of a command by its help; None where there is no such command."""
    ran = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
    if ran.returncode:
        return None
    lines = [line for line in ran.stdout.splitlines() if re.match(r"\s*-", line)]
    return {name for line in lines for name in OPTION.findall(re.split(r"\s{2,}", line.strip())[0])}


def code_of(text):
    """(line, code) of every block and every span of code; a line that ends in a backslash goes on."""
    text = re.sub(r"\\\n", "  ", text)
    for match in re.finditer(r"^```(?:sh|bash)\n(.*?)^```$", text, re.M | re.S):
        first = text.count("\n", 0, match.start()) + 2
        for i, line in enumerate(match[1].splitlines()):
            yield first + i, line
    for match in re.finditer(r"(?<!`)`([^`]+)`(?!`)", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
        yield 0, " ".join(match[1].split())


def problems_of(program, code):
    if code.startswith("#"):  # the first line of a file
        return
    match = PROGRAM.search(re.sub(r"\s#.*|'[^']*'|\"[^\"]*\"", " ", code))
    if not match:
        return
    words = re.split(r"[|;&>]", match[1])[0].split()
    command = words[:2] if words[0] in FORMATS and len(words) > 1 and words[1].islower() else words[:1]
    known = options_of(program, *command)
    if known is None:
        yield f"no command '{' '.join(command)}'"
        return
    for option in OPTION.findall(" ".join(words[1:])):
        if option not in known | {"--help"}:
            yield f"mapsim {' '.join(command)} has no {option}"


def problems(root, program):
    pages = [root / "README.md", root / "configs/README.md", *sorted((root / "docs").rglob("*.md"))]
    seen = 0
    for page in pages:
        for line, code in code_of(page.read_text()):
            seen += "mapsim" in code
            for problem in problems_of(program, code):
                yield f"{page.relative_to(root)}{f':{line}' if line else ''}: {problem}: {code}"
    if seen < 100:
        yield f"only {seen} commands were found: has the form of the documents changed?"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]).resolve(), sys.argv[2]))
    print("\n".join(found) or "every command and option is one of --help")
    sys.exit(bool(found))
