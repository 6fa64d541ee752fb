#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page, in one folder from top to bottom; exit 1 where one fails or says
something else than the page.

usage: tutorial_check.py PAGE MAPSIM CONFIGS

Blocks of ```sh are commands; of ```yaml whose first line is "# FILE" become that file; of ```text
are lines that the commands above must print, in this order, perhaps with others between them.
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


def check(page, program, configs):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "configs").symlink_to(configs.resolve())
        environment = {**os.environ, "PATH": f"{program.resolve().parent}:{os.environ['PATH']}"}
        output = ""
        for kind, text in blocks:
            if kind == "yaml":
                name = re.match(r"# (\S+)\n", text)
                (Path(folder) / name[1]).write_text(text)
            elif kind == "sh":
                ran = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, text=True,
                                     env=environment, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, check=False)
                output = ran.stdout
                if ran.returncode:
                    yield f"exit code {ran.returncode}:\n{text}{output}"
                    return
            elif kind == "text":
                for line in missing(text, output):
                    yield f"the page has\n{line}\nbut the commands said\n{output}"
    if not any(kind == "sh" for kind, _ in blocks):
        yield "no commands"


if __name__ == "__main__":
    found = list(check(*map(Path, sys.argv[1:])))
    print("\n".join(found) or "every command does what the page says")
    sys.exit(bool(found))
