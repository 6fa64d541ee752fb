#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of every --help, in the order of the commands, in one folder; exit 1 where one fails, and
where the program, a command or a format that a command takes has fewer than two. An example about a file of the user's, or about a GPU, must fail for the want of that and nothing else.

usage: examples_check.py MAPSIM CONFIGS
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NOT_HERE = re.compile(r"(arch|design|problem|mapping)\.yaml|array\.cfg|model\.onnx|(measurements|timings)\.csv|microbench|validate")
WANTING = re.compile(r"cannot be opened|cannot be read|no CUDA driver|no GPU|No such file")


def examples(help_text):
    block = help_text.partition("Examples:\n")[2]
    return re.findall(r"^  (mapsim .*)\n      \S", block, re.M)


def formats(help_text):
    """The formats that a command takes; most take none."""
    listed = re.search(r"^  FORMAT +Format of the files: ([\w-]+(?:,\s+[\w-]+)*)$", help_text, re.M)
    return re.split(r",\s+", listed[1]) if listed else []


def problems(program, configs):
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        (Path(folder) / "configs").symlink_to(configs.resolve())
        environment = {**os.environ, "PATH": f"{program.resolve().parent}:{os.environ['PATH']}"}

        def run(line):
            return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, text=True,
                                  capture_output=True, check=False)

        def listed(command):
            found = examples(run(f"{command} --help").stdout)
            return found, [] if len(found) >= 2 else [f"{command} --help has {len(found)} examples"]

        overview = run("mapsim --help").stdout
        commands = re.findall(r"^  (\w+) {2,}", overview.split("Subcommands:")[1], re.M)
        for command in ["", *commands]:
            lines, few = listed(f"mapsim {command}".strip())
            yield from few
            for line in lines:
                ran = run(line)
                wants = NOT_HERE.search(line) is not None
                if command and line.split()[1] != command:
                    yield f"an example of another command under {command}: {line}"
                elif ran.returncode and not (wants and WANTING.search(ran.stderr)):
                    yield f"exit code {ran.returncode}: {line}\n{ran.stdout[-500:]}{ran.stderr}"
            for name in formats(run(f"mapsim {command} --help").stdout) if command else ():
                yield from listed(f"mapsim {command} {name}")[1]


if __name__ == "__main__":
    found = list(problems(*map(Path, sys.argv[1:])))
    print("\n".join(found) or "every example does what it should")
    sys.exit(bool(found))
