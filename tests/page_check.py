#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs what a page shows, in one folder from top to bottom; exit 1 where a command fails or says something else than
the page.

usage: page_check.py PAGE MAPSIM CONFIGS

The first word of a block decides:
  sh      commands, which run
  text    lines that the commands above print, in this order, perhaps with others between them. A line that ends in
          " ..." stands for any line that begins so
  yaml    if the first line is "# FILE": the content of that file
  python  code, which runs where the Python module is there
  bash    commands that cannot run in a test (they need a GPU, or a file that only the reader has). mentions_check.py
          looks at their words
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path



def plain(line):
    return " ".join(line.split())


def missing(expected, output):
    lines = iter([plain(line) for line in output.splitlines()])
    for line in expected.splitlines():
        start = plain(line).removesuffix(" ...")  # what follows differs from run to run
        if start and start != "..." and not any(
                said == start or (start != plain(line) and said.startswith(start)) for said in lines):
            yield line


def blocks(page):
    """(line, first word, text) of every block."""
    text = page.read_text()
    for match in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2]


class Reader:
    """Somebody who follows a page, in a folder of their own."""

    def __init__(self, folder, program):
        self._folder = folder
        path = f"{program.resolve().parent}:{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self._output = ""
        self.ran = 0

    def _run(self, *words):
        ran = subprocess.run(words, cwd=self._folder, text=True, env=self._environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False)
        self._output = ran.stdout
        self.ran += 1
        return ran.returncode

    def _has_module(self):
        return self._run("python3", "-c", "import mapsim") == 0

    def meets(self, kind, text):
        """What is wrong with one block."""
        if kind == "yaml" and (name := re.match(r"# (\S+\.\w+)\n", text)):
            (Path(self._folder) / name[1]).write_text(text)
        elif kind == "sh" or (kind == "python" and self._has_module()):
            words = ["bash", "-euo", "pipefail", "-c"] if kind == "sh" else ["python3", "-c"]
            if code := self._run(*words, text):
                yield f"exit code {code}:\n{text}{self._output}"
        elif kind == "text":
            for line in missing(text, self._output):
                yield f"the page has\n{line}\nbut the commands said\n{self._output}"


def check(page, program, configs):
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        (Path(folder) / "configs").symlink_to(configs.resolve())
        reader = Reader(folder, program)
        for line, kind, text in blocks(page):
            for problem in reader.meets(kind, text):
                yield f"{page}:{line}: {problem}"
    if not reader.ran:
        yield f"{page}: no commands"


if __name__ == "__main__":
    found = list(check(*map(Path, sys.argv[1:])))
    print("\n".join(found) or "every command does what the page says")
    sys.exit(bool(found))
