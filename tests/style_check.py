#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which files and functions are too long, which lack a licence line, which folders clang-tidy
leaves out, where a library reads the environment, which catch is not on the list of those that
may catch everything, and which types of two files have the same name; exit 1 if any.

usage: style_check.py ROOT
"""
import re
import sys
from pathlib import Path

FILE_LINES = {".hpp": 150, ".cpp": 500}
FUNCTION_LINES = 60
LICENCE = "// SPDX-License-Identifier: Apache-2.0"
# A block that opens on a line which begins in column 0 and closes with a brace there.
FUNCTION = re.compile(r"^(?!namespace|struct|class|enum|TEST)\w[^\n;]*(?:\n {4}[^\n]*)*\{\n"
                      r"(?:(?: .*|#.*)?\n)*?\}\n", re.MULTILINE)
NOT_OURS = {"build", "docs"}  # build trees have sources of compilers and of tests of packages
NOT_TIDIED = {"bench", "tests"}  # clang-tidy looks at what users run
READS_ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\(|\benviron\b")
CATCHES_ALL = re.compile(r"catch \((?:\.\.\.|(?:const )?std::exception\b)")
# main() turns every exception into an exit code. The others pass it on: to another thread, or into
# the row of a campaign's point, so that the other points are still solved.
MAY_CATCH_ALL = {"app/main.cpp", "campaign/sweep.cpp", "core/caught.hpp"}

NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) \{$")
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (\w+)(?= [:{]| final\b|$)")


def folders(root):
    """The folders of sources: all that have any, so that a new one is not left out."""
    for folder in sorted(root.iterdir()):
        if folder.is_dir() and not folder.name.startswith(".") and folder.name not in NOT_OURS:
            if any(folder.rglob("*.[ch]pp")):
                yield folder


def file_problems(name, text):
    lines = text.count("\n")
    most = FILE_LINES[Path(name).suffix]
    if lines > most:
        yield f"{name}: {lines} lines, at most {most}"
    if not text.startswith(LICENCE):
        yield f"{name}:1: the first line is not '{LICENCE}'"
    for function in FUNCTION.finditer(text):
        length = function[0].count("\n")
        if length > FUNCTION_LINES:
            line = text.count("\n", 0, function.start()) + 1
            yield f"{name}:{line}: a function of {length} lines, at most {FUNCTION_LINES}"
    if name.startswith("tests/"):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if READS_ENVIRONMENT.search(line) and not name.startswith("app/"):
            yield f"{name}:{number}: only app/ reads the environment"
        if CATCHES_ALL.search(line) and name not in MAY_CATCH_ALL:
            yield f"{name}:{number}: a catch of every exception; catch the one that is meant"


def shared_types(text):
    """The full names of the types that other files see: those outside unnamed namespaces."""
    spaces = []
    for line in text.splitlines():
        if space := NAMESPACE.match(line):
            spaces.append(space[1])
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif (named := TYPE.match(line)) and "" not in spaces:
            yield "::".join([*spaces, named[1]])


def type_problems(texts):
    """Two types of one name are an error that neither the compiler nor the linker reports: of what
    both instantiate, as std::vector of them, one type's code serves both."""
    places = {}
    for name, text in texts.items():
        for type_name in shared_types(text):
            if type_name in places:
                yield f"{name}: {type_name} is the name of a type in {places[type_name]}, too"
            places[type_name] = name


def tidy_problems(root):
    settings = root / ".clang-tidy"
    tidied = re.search(r"^HeaderFilterRegex: '\((.*)\)/'$",
                       settings.read_text() if settings.exists() else "", re.MULTILINE)
    names = tidied[1].split("|") if tidied else []
    for folder in folders(root):
        if folder.name not in NOT_TIDIED and folder.name not in names:
            yield f".clang-tidy: HeaderFilterRegex leaves out {folder.name}/"


def problems(root):
    yield from tidy_problems(root)
    texts = {}
    for folder in folders(root):
        for path in sorted(folder.rglob("*.[ch]pp")):
            name = path.relative_to(root).as_posix()
            if not name.startswith("tests/data/"):
                texts[name] = path.read_text()
    for name, text in texts.items():
        yield from file_problems(name, text)
    yield from type_problems(texts)


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "all files and functions are short enough")
    sys.exit(bool(found))
