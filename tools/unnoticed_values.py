#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values of another tool's files that `mapsim import` does not notice.

    tools/unnoticed_values.py [--mapsim PROGRAM] TOOL FILE... [-- OPTION...]

Every number of the files is doubled (0 becomes 1) and every word spelt otherwise (true becomes false), one at a time.
A line is printed for each change after which the import writes and says the same as before, unless a note names its
key. Most such values are labels or say what another one says, too; what remains is a silent misreading. Files with
paths to others are read from a copy elsewhere, so that these must not be relative.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"(?<![\w.\-])(\d+\.?\d*(?:e[+-]?\d+)?)(?![\w.])")
WORD = re.compile(r"^(\s*-?\s*[\w\-\"]+\s*[:=]\s*)([A-Za-z_][\w ]*)\s*;?\s*$")
KEY = re.compile(r"^[\s\-]*\"?([\w\-]+)\"?\s*[:=]")
OTHER = {"true": "false", "false": "true", "True": "False", "False": "True"}


def doubled(number):
    if number.isdigit():
        return str(2 * int(number) or 1)
    return repr(2 * float(number) or 1.0)


# The line with one of its values changed, each in turn.
def changes(line):
    code = line.split("#")[0]
    for found in NUMBER.finditer(code):
        yield code[:found.start()] + doubled(found.group(1)) + code[found.end():]
    if found := WORD.match(code):
        word = found.group(2).strip()
        yield found.group(1) + OTHER.get(word, "other_" + word)


class Import:
    def __init__(self, arguments, scratch):
        self.command = [arguments.mapsim, "import", arguments.tool]
        self.options = arguments.options
        self.scratch = pathlib.Path(scratch)

    # All that it writes and says, with the name of a changed copy replaced by that of the file.
    def answer(self, files, copy="", path=""):
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            done = subprocess.run([*self.command, *files, *self.options, "-o", folder], capture_output=True, text=True,
                                  errors="replace", timeout=120)
            said = done.stdout + done.stderr
            text = said + str(done.returncode)
            for written in sorted(pathlib.Path(folder).rglob("*")):
                text += written.name + written.read_text(errors="replace") if written.is_file() else ""
            clean = text.replace(folder, "").replace(copy or folder, path)
            return clean.replace(pathlib.Path(copy).name or folder, pathlib.Path(path).name), said.replace("-", "_")


def main():
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mapsim", default="build/ci/app/mapsim")
    parser.add_argument("tool")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args(words[:split])
    arguments.options = words[split + 1:]
    with tempfile.TemporaryDirectory() as scratch:
        reading = Import(arguments, scratch)
        before, notes = reading.answer(arguments.files)
        for index, path in enumerate(arguments.files):
            lines = pathlib.Path(path).read_text(errors="replace").split("\n")
            copy = pathlib.Path(scratch) / f"changed_{pathlib.Path(path).name}"
            for number, line in enumerate(lines):
                key = KEY.match(line)
                if key and re.search(rf"\b{re.escape(key.group(1).replace('-', '_'))}\b", notes):
                    continue
                for changed in changes(line):
                    copy.write_text("\n".join(lines[:number] + [changed] + lines[number + 1:]))
                    files = arguments.files[:index] + [str(copy)] + arguments.files[index + 1:]
                    if reading.answer(files, str(copy), path)[0] == before:
                        print(f"{path}:{number + 1}: {line.strip()}  ->  {changed.strip()}")


if __name__ == "__main__":
    main()
