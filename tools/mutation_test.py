#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts one small fault after the other into the sources and says which of them no test notices.

usage: mutation_test.py TREE BUILD [--areas check,costmodel] [--mutants N] [--seed N] [--list] [--log FILE]

BUILD is a configured build of TREE with tests, which is built as far as the areas take it; TREE is not changed. A mutant
changes one operator, constant or condition, or leaves a statement out; which ones is drawn by the seed, the same number in
each area. Its source is compiled alone and linked before everything else, so that other definitions give way to it. Other
sources of its library are compiled anew, once, as for a shared object, where no function is put into another. A mutant
that does not compile, or compiles to the same code, is replaced by the next one drawn. Tests that take long run where the
others notice nothing. Survivors are printed with their place: each is a test that is wanting, or changes nothing that can be
seen. With --log a run that was interrupted goes on where it was. Exit 1 if any survives.
"""
import argparse
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

# What is changed, and the test programs that must notice it, below BUILD/tests.
AREAS = {
    "costmodel": (["costmodel/*.cpp", "costmodel/timing/*.cpp"], ["costmodel/costmodel_test"]),
    "reference": (["costmodel/reference/*.cpp"], ["costmodel/costmodel_test"]),
    "check": (["check/*.cpp"], ["check/check_test"]),
    "search": (["mapper/branch/*.cpp", "mapper/bounds/*.cpp", "mapper/graph/*.cpp", "mapper/label_search/*.cpp"],
               ["mapper/mapper_test"]),
    "readers": (["arch/*.cpp", "workloads/*.cpp", "core/*.cpp"],
                ["arch/arch_test", "workloads/workloads_test", "core/core_test"]),
}
# Tests of a program that say most for their time; all others come after them. None: all at once.
FIRST = {"mapper/mapper_test": "*Exact*:*Front*:*Bound*:Edge*:Memory*:Published*-Shards/*/?:Shards/*/??"}

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


def run(command, folder, seconds=600):
    """True: it ended well; False: badly, or after more CPU time or memory than this. A fault may never end."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit,
                          check=False).returncode == 0


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def is_linked(folder, link):
    return any(word.endswith(f"libmapsim_{folder}.a") for word in link)


class Area:
    def __init__(self, name, tree, build, place):
        patterns, self.programs = AREAS[name]
        self.name, self.tree, self.build, self.place = name, tree, build, place
        self.mutants = mutants_of(tree, patterns)
        self.originals = {}  # object code by source
        self.flags = {}  # compiler and flags, by library
        self.seconds = {}

    def prepare(self):
        """The tests must pass before anything is changed."""
        targets = [program.split("/")[-1] for program in self.programs]
        subprocess.run(["ninja", "-C", self.build, "-j1", *targets], check=True, stdout=subprocess.DEVNULL)
        for folder in sorted({path.relative_to(self.tree).parts[0] for path, *_ in self.mutants}):
            self.compile_library(folder)
        self.links = [self.link_command(target) for target in targets]
        for program in self.programs:
            for part in self.parts(program):
                before = cpu_seconds()
                if not run([self.build / "tests" / program, *part], self.build, 3600):
                    raise SystemExit(f"tests of {self.name} fail as they are: {program} {' '.join(part)}")
                self.seconds[program, *part] = cpu_seconds() - before

    @staticmethod
    def parts(program):
        if program not in FIRST:
            return [["--gtest_brief=1"]]
        wanted, unwanted = FIRST[program].split("-")
        return [["--gtest_brief=1", f"--gtest_filter={wanted}-{unwanted}"],
                ["--gtest_brief=1", f"--gtest_filter=-{wanted}"]]

    def commands(self, target):
        return subprocess.run(["ninja", "-C", self.build, "-t", "commands", target], capture_output=True, text=True,
                              check=True).stdout.splitlines()

    def link_command(self, target):
        """With places for the program and the object that comes first."""
        (line,) = [line for line in self.commands(target)  # a test may depend on other programs
                   if line.startswith(": &&") and re.search(rf" -o tests/\w+/{target} ", line)]
        words = shlex.split(line.split("&&")[1])
        words[words.index("-o") + 1] = "PROGRAM"
        words.insert(1, "-Wl,-z,muldefs")
        first = next(i for i, word in enumerate(words) if word.endswith(".o"))
        linked = [str(made) for folder, made in self.library_objects().items() if is_linked(folder, words)]
        return words[:first] + ["OBJECT", *linked] + words[first:]

    def library_objects(self):
        return {folder: self.build / "mutation" / f"{folder}.o" for folder in self.flags}

    def compile_library(self, folder):
        """One object of a library, where each function that others may call is called."""
        sources = []
        for line in self.commands(f"mapsim_{folder}"):
            if f"mapsim_{folder}.dir/" not in line or " -c " not in line or not line.endswith((".cxx", ".cpp")):
                continue
            words = [word for word in shlex.split(line) if word not in ("-MD", "ccache") and not word.endswith("/ccache")]
            for option in ("-MT", "-MF", "-o"):
                at = words.index(option)
                del words[at:at + 2]
            sources.append(words.pop())
            self.flags[folder] = [*words[:words.index("-c")], "-O1", "-fPIC", "-w", "-c"]
        made = self.library_objects()[folder]
        if made.exists():
            return
        made.parent.mkdir(exist_ok=True)
        parts = []
        for source in sources:
            parts.append(made.with_name(f"{folder}_{len(parts)}.o"))
            subprocess.run([*self.flags[folder], source, "-o", parts[-1]], cwd=self.build, check=True)
        subprocess.run(["ld", "-r", "-o", made, *parts], check=True)

    def compiled(self, path, text):
        """The object code of a source; None: it is no C++."""
        source, made = self.place / path.name, self.place / "mutant.o"
        source.write_text(text)
        made.unlink(missing_ok=True)
        run([*self.flags[path.relative_to(self.tree).parts[0]], source, "-o", made], self.build)
        return made.read_bytes() if made.exists() else None

    def verdict(self, mutant):
        path, number, _, _, changed = mutant
        text = path.read_text()
        if path not in self.originals:
            self.originals[path] = self.compiled(path, text)
            assert self.originals[path], path
        lines = text.splitlines(keepends=True)
        lines[number] = changed + "\n"
        made = self.compiled(path, "".join(lines))
        if made is None:
            return "does not compile"
        if made == self.originals[path]:
            return "the same code"
        for link, name in zip(self.links, self.programs):
            if not is_linked(path.relative_to(self.tree).parts[0], link):
                continue
            program = self.place / "mutant"
            places = {"PROGRAM": program, "OBJECT": self.place / "mutant.o"}
            if not run([places.get(word, word) for word in link], self.build):
                return "does not compile"
            for part in self.parts(name):
                if not run([program, "--gtest_fail_fast", *part], self.build, 30 + 5 * self.seconds[name, *part]):
                    return "killed"
        return "survives"


def known_verdicts(log):
    """What an earlier run found, by mutant."""
    known = {}
    for line in log.read_text().splitlines() if log and log.exists() else []:
        verdict, _, mutant = line.partition(": ")
        if mutant:
            known[mutant] = verdict
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--areas", default=",".join(AREAS))
    parser.add_argument("--mutants", type=int, default=200, help="of all areas together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="verdicts are added to it, and not looked for again")
    parser.add_argument("--list", action="store_true", help="only say which mutants there are")
    arguments = parser.parse_args()
    known = known_verdicts(arguments.log)
    tally = {}
    with tempfile.TemporaryDirectory(prefix="mapsim_mutants_") as folder:
        for name in arguments.areas.split(","):
            area = Area(name, arguments.tree.resolve(), arguments.build.resolve(), Path(folder))
            drawn = random.Random(f"{arguments.seed} {name}").sample(area.mutants, len(area.mutants))
            print(f"{name}, {len(drawn)} mutants to draw from", flush=True)
            left = 0 if arguments.list else arguments.mutants // len(arguments.areas.split(","))
            is_ready = False
            for mutant in drawn:
                if left == 0:
                    break
                path, number, column, kind, changed = mutant
                place = f"{path.relative_to(area.tree)}:{number + 1}:{column + 1}: {kind}: {changed.strip()}"
                if place not in known:
                    if not is_ready:
                        area.prepare()
                        is_ready = True
                    known[place] = area.verdict(mutant)
                    if arguments.log:
                        with open(arguments.log, "a", encoding="utf-8") as log:
                            print(f"{known[place]}: {place}", file=log)
                if known[place] in ("killed", "survives"):
                    left -= 1
                    tally[known[place]] = tally.get(known[place], 0) + 1
                    print(f"{known[place]}: {place}", flush=True)
    print(f"{tally.get('killed', 0)} killed, {tally.get('survives', 0)} survived")
    return int(tally.get("survives", 0) > 0)


if __name__ == "__main__":
    sys.exit(main())
