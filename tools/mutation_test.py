#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts one small fault after the other into the sources and says which of them no test notices.

usage: mutation_test.py TREE BUILD [--areas check,costmodel] [--mutants N] [--seed N] [--list]

TREE is a checkout that nobody else uses (git worktree add), as its files are changed and put back, BUILD a configured
build of it. A mutant changes one operator, constant or condition, or leaves a statement out; which ones is drawn by the
seed, the same number in each area. A mutant that does not compile is replaced by the next one drawn. Survivors are
printed with their place: each is a test that is wanting, or changes nothing that can be seen. Exit 1 if any survives.
"""
import argparse
import random
import re
import subprocess
import sys
import time
from pathlib import Path

# What is changed, and the tests that must notice it: target, then arguments of its program.
AREAS = {
    "costmodel": (["costmodel/*.cpp", "costmodel/timing/*.cpp"], [("costmodel_test", "costmodel/costmodel_test", [])]),
    "reference": (["costmodel/reference/*.cpp"], [("costmodel_test", "costmodel/costmodel_test", [])]),
    "check": (["check/*.cpp"], [("check_test", "check/check_test", [])]),
    "search": (["mapper/branch/*.cpp", "mapper/bounds/*.cpp", "mapper/graph/*.cpp"],
               [("mapper_test", "mapper/mapper_test", [])]),
    "readers": (["arch/*.cpp", "workloads/*.cpp", "core/*.cpp"],
                [("arch_test", "arch/arch_test", []), ("workloads_test", "workloads/workloads_test", []),
                 ("core_test", "core/core_test", [])]),
}

# (what it is called, what it matches, what takes its place)
CHANGES = [
    ("comparison", r" < ", " <= "), ("comparison", r" <= ", " < "), ("comparison", r" > ", " >= "),
    ("comparison", r" >= ", " > "), ("comparison", r" == ", " != "), ("comparison", r" != ", " == "),
    ("condition", r" && ", " || "), ("condition", r" \|\| ", " && "), ("condition", r"\bif \(", "if (!!0 && "),
    ("condition", r"\breturn !", "return !!"), ("condition", r"\btrue\b", "false"), ("condition", r"\bfalse\b", "true"),
    ("arithmetic", r" \+ ", " - "), ("arithmetic", r" - ", " + "), ("arithmetic", r" \* ", " + "),
    ("arithmetic", r" / ", " * "), ("arithmetic", r" \+= ", " -= "), ("arithmetic", r" \*= ", " += "),
    ("extreme", r"std::max\(", "std::min("), ("extreme", r"std::min\(", "std::max("),
    ("extreme", r"max_element\(", "min_element("), ("extreme", r"min_element\(", "max_element("),
    ("constant", r"(?<![\w.\"'])0(?![\w.'])", "1"), ("constant", r"(?<![\w.\"'])1(?![\w.'])", "2"),
    ("statement", r"^( +)[\w.>\[\]-]+(?: [+*-]?= |\().*;$", r"\1;"),
]
NOT_CODE = re.compile(r"^\s*(//|#|template|using|static_assert|namespace|case |\"|enum|struct|class )|fmt::format|require\(")


def mutants_of(tree, patterns):
    """(file, line, column, kind, new line), in the order of the sources."""
    found = []
    for path in sorted(path for pattern in patterns for path in tree.glob(pattern)):
        for number, line in enumerate(path.read_text().splitlines()):
            if NOT_CODE.search(line):
                continue
            code = line.split("//")[0]
            for kind, pattern, replacement in CHANGES:
                for match in re.finditer(pattern, code):
                    changed = line[:match.start()] + match.expand(replacement) + line[match.end():]
                    found.append((path, number, match.start(), kind, changed))
    return found


def run(command, seconds, folder=None):
    """True: it ended well; False: badly, or not in time."""
    try:
        return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=seconds, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Area:
    def __init__(self, name, tree, build):
        patterns, self.tests = AREAS[name]
        self.name, self.tree, self.build = name, tree, build
        self.mutants = mutants_of(tree, patterns)
        self.seconds = 0

    def compiles(self):
        return run(["ninja", "-C", self.build, "-j2", *(target for target, _, _ in self.tests)], 1800)

    def passes(self):
        limit = 60 + 5 * self.seconds if self.seconds else 1800  # a fault may never end
        return all(run([self.build / "tests" / program, "--gtest_fail_fast", "--gtest_brief=1", *arguments], limit)
                   for _, program, arguments in self.tests)

    def check(self):
        """The tests must pass before anything is changed."""
        start = time.monotonic()
        if not self.compiles() or not self.passes():
            raise SystemExit(f"the tests of {self.name} fail as they are")
        self.seconds = time.monotonic() - start

    def verdict(self, mutant):
        path, number, _, _, changed = mutant
        original = path.read_text()
        lines = original.splitlines(keepends=True)
        lines[number] = changed + "\n"
        try:
            path.write_text("".join(lines))
            if not self.compiles():
                return "does not compile"
            return "survives" if self.passes() else "killed"
        finally:
            path.write_text(original)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--areas", default=",".join(AREAS))
    parser.add_argument("--mutants", type=int, default=200, help="of all areas together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="only say which mutants there are")
    arguments = parser.parse_args()
    areas = [Area(name, arguments.tree.resolve(), arguments.build.resolve()) for name in arguments.areas.split(",")]
    survivors = killed = 0
    for area in areas:
        drawn = random.Random(f"{arguments.seed} {area.name}").sample(area.mutants, len(area.mutants))
        print(f"{area.name}: {len(drawn)} mutants to draw from", flush=True)
        if arguments.list:
            continue
        area.check()
        left = arguments.mutants // len(areas)
        for mutant in drawn:
            if left == 0:
                break
            verdict = area.verdict(mutant)
            if verdict == "does not compile":
                continue
            left -= 1
            survivors += verdict == "survives"
            killed += verdict == "killed"
            path, number, _, kind, changed = mutant
            place = path.relative_to(area.tree)
            print(f"{verdict}: {place}:{number + 1}: {kind}: {changed.strip()}", flush=True)
        area.compiles()  # as it was
    print(f"{killed} killed, {survivors} survived")
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
