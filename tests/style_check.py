#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which files and functions are too long, and which lack a licence line; exit 1 if any.

usage: style_check.py ROOT
"""
import re
import sys
from pathlib import Path

FOLDERS = "app arch bench campaign core costmodel interop mapper report tests validate workloads"
FILE_LINES = {".hpp": 150, ".cpp": 500}
FUNCTION_LINES = 60
LICENCE = "// SPDX-License-Identifier: Apache-2.0"
# A block that opens on a line which begins in column 0 and closes with a brace there.
FUNCTION = re.compile(r"^(?!namespace|struct|class|enum|TEST)\w[^\n;]*(?:\n {4}[^\n]*)*\{\n"
                      r"(?:(?: .*|#.*)?\n)*?\}\n", re.MULTILINE)


def problems(root):
    for folder in FOLDERS.split():
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            name = path.relative_to(root).as_posix()
            if name.startswith("tests/data/"):
                continue
            text = path.read_text()
            lines = text.count("\n")
            if lines > FILE_LINES[path.suffix]:
                yield f"{name}: {lines} lines, at most {FILE_LINES[path.suffix]}"
            if not text.startswith(LICENCE):
                yield f"{name}:1: the first line is not '{LICENCE}'"
            for function in FUNCTION.finditer(text):
                length = function[0].count("\n")
                if length > FUNCTION_LINES:
                    line = text.count("\n", 0, function.start()) + 1
                    yield f"{name}:{line}: a function of {length} lines, at most {FUNCTION_LINES}"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "all files and functions are short enough")
    sys.exit(bool(found))
