#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says where the manual page and --help differ in commands and options; exit 1 if they do.

usage: manual_check.py MAPSIM
"""
import re
import shutil
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sections(page):
    """Options, short and long, and positionals by command; "" has those of the program."""
    found = {}
    command = ""
    for line in page.replace("\\-", "-").splitlines():
        if line.startswith(".SS mapsim "):
            command = line.removeprefix(".SS mapsim ")
        found.setdefault(command, set()).update(re.findall(r"\\fB(--?[\w-]+)\\fR", line))
    return found


def helped(text):
    """Options of a help text: of its lines that begin with one."""
    names = set()
    for line in text.splitlines():
        if re.match(r"  -", line):
            names.update(re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.split(r"  +", line.strip())[0]))
    return names


def problems(program):
    page = said(program, "--man")
    manual = sections(page)
    commands = re.findall(r"^  (\w+) {2,}", said(program, "--help").split("Subcommands:")[1], re.M)
    if sorted(commands) != sorted(set(manual) - {""}):
        yield f"commands: --help has {sorted(commands)}, the manual {sorted(set(manual) - {''})}"
    for command in ["", *commands]:
        options = helped(said(program, *command.split(), "--help"))
        if not options:
            yield f"{command}: no options in --help: has its layout changed?"
        for name in sorted(options ^ manual.get(command, set())):
            yield f"mapsim {command}: {name} is in one of --help and the manual only"
    if shutil.which("groff"):
        errors = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=page, text=True,
                                capture_output=True, check=False).stderr
        if errors:
            yield errors


if __name__ == "__main__":
    found = list(problems(sys.argv[1]))
    print("\n".join(found) or "the manual and --help agree")
    sys.exit(bool(found))
