#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts small faults into the sources, all in one build, and says which of them no test notices.

usage: mutation_test.py TREE COPY [--areas check,search] [--mutants N] [--files REGEX] [--lines REGEX] [--again LOG] [--seed N]
                        [--seconds S] [--total S] [--jobs N] [--log FILE] [--list] [--cmake=OPTION]

COPY is a folder for a copy of TREE, which is itself left alone. A mutant changes one operator, constant or condition, or
leaves out an operand or a statement; which ones is drawn by the seed, the same number in each area. In the copy a source has
all of its mutants, and the variable MAPSIM_MUTANT of the environment turns one of them on; so an area is built once. A
mutant that does not compile gives way to the next one drawn. Each test runs once to see which mutants it reaches and how long
it takes; then each mutant runs those that reach it, the fast ones first, until one fails, crashes, or takes five times as
long. Survivors are printed with their place: each is a test that is wanting, or changes nothing that can be seen. With --log
a run that was interrupted goes on where it was, if the sources are the same. With --again only those are drawn that survived in
another log, wherever their lines stand now. Exit 1 if any survives.
"""
import argparse
import concurrent.futures
import os
import random
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

# What is changed, and the test programs that must notice it, below build/ci/tests.
AREAS = {
    "costmodel": (["costmodel/*.cpp", "costmodel/timing/*.cpp"], ["costmodel/costmodel_test"]),
    "reference": (["costmodel/reference/*.cpp"], ["costmodel/costmodel_test"]),
    "check": (["check/*.cpp"], ["check/check_test", "check/fused_bound_test", "design/design_test", "plan/plan_test"]),
    "search": (["mapper/*.cpp", "mapper/branch/*.cpp", "mapper/bounds/*.cpp", "mapper/counting/*.cpp", "mapper/fusion/*.cpp",
                "mapper/graph/*.cpp", "mapper/label_search/*.cpp", "mapper/mapspace/*.cpp"],
               ["mapper/mapper_test", "mapper/fusion_test", "mapper/edge_folds_test", "check/check_test"]),
    "design": (["design/*.cpp"], ["design/design_test"]),
    "readers": (["arch/*.cpp", "workloads/*.cpp", "core/*.cpp"],
                ["arch/arch_test", "workloads/workloads_test", "core/core_test"]),
}

# Operators keep their place and associate to the left, so `a < b` is written `a < mutant::Less<7>{} < b`: what binds more
# tightly on either side stays together, and no expression needs to be parsed.
HEADER = r"""#pragma once
#include <fcntl.h>
#include <gmpxx.h>
#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wnarrowing"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wuseless-cast"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wdangling-pointer"
namespace mutant {
inline int number() {
  const char* text = std::getenv("MAPSIM_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}
inline char* reached() {  // a byte per mutant, of a file
  const char* file = std::getenv("MAPSIM_MUTANTS_REACHED");
  return file == nullptr ? nullptr : static_cast<char*>(mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, open(file, O_RDWR), 0));
}
inline const int kNumber = number();
inline char* const kReached = reached();
inline bool on(int n) {
  if (kReached != nullptr) [[unlikely]] { kReached[n] = 1; }
  return n == kNumber;
}
template <class T> struct ValueOf { using type = T; };  // of a sum of large numbers that is not worked out yet
template <class T, class E> struct ValueOf<__gmp_expr<T, E>> { using type = __gmp_expr<T, T>; };
template <class A, class B> using Value = std::common_type_t<typename ValueOf<A>::type, typename ValueOf<B>::type>;
#define MAPSIM_MUTANT_OPERATOR(Name, from, to)                                                            \
  template <int N> struct Name {};                                                                        \
  template <int N, class A> struct Name##Of { A&& a; };                                                   \
  template <int N, class A> Name##Of<N, A> operator from(A&& a, Name<N>) { return {std::forward<A>(a)}; } \
  template <int N, class A, class B> requires requires(A& a, B& b) { a from b; a to b; }                  \
  Value<decltype(std::declval<A&>() from std::declval<B&>()), decltype(std::declval<A&>() to std::declval<B&>())> \
  operator from(Name##Of<N, A> left, B&& b) {                                                             \
    if (on(N)) { return left.a to b; }                                                                    \
    return left.a from b;                                                                                 \
  }
MAPSIM_MUTANT_OPERATOR(Less, <, <=)
MAPSIM_MUTANT_OPERATOR(LessEqual, <=, <)
MAPSIM_MUTANT_OPERATOR(Greater, >, >=)
MAPSIM_MUTANT_OPERATOR(GreaterEqual, >=, >)
MAPSIM_MUTANT_OPERATOR(Equal, ==, !=)
MAPSIM_MUTANT_OPERATOR(NotEqual, !=, ==)
MAPSIM_MUTANT_OPERATOR(Plus, +, -)
MAPSIM_MUTANT_OPERATOR(Minus, -, +)
MAPSIM_MUTANT_OPERATOR(Times, *, +)
MAPSIM_MUTANT_OPERATOR(Divide, /, *)
#define MAPSIM_MUTANT_FUNCTION(name, other, space)                                 \
  template <int N, class... T> decltype(auto) name(T&&... of) {                    \
    return on(N) ? space::other(std::forward<T>(of)...) : space::name(std::forward<T>(of)...); \
  }
template <int N, class T> T min(const T& a, const T& b) { return on(N) ? std::max<T>(a, b) : std::min<T>(a, b); }
template <int N, class T> T max(const T& a, const T& b) { return on(N) ? std::min<T>(a, b) : std::max<T>(a, b); }
template <int N, class T> T min(std::initializer_list<T> of) { return on(N) ? std::max(of) : std::min(of); }
template <int N, class T> T max(std::initializer_list<T> of) { return on(N) ? std::min(of) : std::max(of); }
MAPSIM_MUTANT_FUNCTION(min_element, max_element, std)
MAPSIM_MUTANT_FUNCTION(max_element, min_element, std)
MAPSIM_MUTANT_FUNCTION(all_of, any_of, std)
MAPSIM_MUTANT_FUNCTION(any_of, all_of, std)
}  // namespace mutant
"""
OPERATORS = {"<": "Less", "<=": "LessEqual", ">": "Greater", ">=": "GreaterEqual", "==": "Equal", "!=": "NotEqual",
             "+": "Plus", "-": "Minus", "*": "Times", "/": "Divide"}
FUNCTIONS = "min|max|min_element|max_element|all_of|any_of"
KEYWORDS = {"return", "if", "for", "while", "else", "case", "default", "using", "throw", "switch", "do", "static_assert"}
NOT_CODE = re.compile(r"^\s*(#|template|using|static_assert|enum|struct |class )|constexpr|^\s*\"")


class Mutant:
    """Text that goes before and after a piece of a source; {} is the mutant's number. `instead`: takes the piece's place."""

    def __init__(self, kind, begin, end, before, after="", instead=None):
        self.kind, self.begin, self.end, self.before, self.after, self.instead = kind, begin, end, before, after, instead


def code_of(text):
    """The text with comments and literals blanked, each character in its place."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((.*?)\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda found: re.sub(r"[^\n]", "\"" if found[0][0] in "R\"'" else " ", found[0]), text)


def line_at(text, at):
    return text[text.rfind("\n", 0, at) + 1:text.find("\n", at)].strip()


def ending(code, at, stops):
    """Where an operand that begins at `at` ends: before the first of `stops` that is in no brackets."""
    depth = 0
    while at < len(code):
        if depth == 0 and any(code.startswith(stop, at) for stop in (*stops, ")", "]", "}")):
            return at
        depth += (code[at] in "([{") - (code[at] in ")]}")
        at += 1
    return at


def mutants_of(text):
    code = code_of(text)
    found = []

    def add(kind, begin, *rest):
        line = line_at(code, begin)
        if not NOT_CODE.search(line) and (kind == "statement" or "fmt::format" not in line):
            found.append(Mutant(kind, begin, *rest))

    for at in re.finditer(r" (<=?|>=?|==|!=|\+|-|\*|/)(?=\s)", code):
        kind = "comparison" if at[1][0] in "<>=!" else "arithmetic"
        add(kind, at.start(), at.start(), f" {at[1]} mutant::{OPERATORS[at[1]]}<{{}}>{{{{}}}}")
    stops = (" && ", " || ", " &&\n", " ||\n", ";", ",", " ? ", " : ", " ?\n")
    for at in re.finditer(r" (&&|\|\|)(?=\s)", code):
        begin = at.end() + len(code[at.end():]) - len(code[at.end():].lstrip())
        end = ending(code, begin, stops)
        while code[end - 1].isspace():
            end -= 1
        if at[1] == "&&":
            add("operand", begin, end, "(mutant::on({}) || (", "))")
        else:
            add("operand", begin, end, "(!mutant::on({}) && (", "))")
    for at in re.finditer(r"\b(if|while) \(", code):
        begin = at.end()
        end = ending(code, begin, [])
        begin = max(begin, code.rfind(";", begin, end) + 1)
        if not re.search(r" = |\{", code[begin:end]):
            add("condition", begin, end, "!mutant::on({}) && (", ")")
            if at[1] == "if":
                add("condition", begin, end, "mutant::on({}) || (", ")")
    for at in re.finditer(r"\b(true|false)\b", code):
        add("constant", at.start(), at.end(), "(", " != mutant::on({}))")
    for at in re.finditer(r"(?<![\w.\"'])[0-9]+(?![\w.'\"])", code):
        add("constant", at.start(), at.end(), "(", f" {'-' if at[0] == '2' else '+'} static_cast<int>(mutant::on({{}})))")
    for at in re.finditer(rf"std::({FUNCTIONS})(?=\(|<)", code):
        templated = code[at.end()] == "<"
        end = at.end() + templated
        add("function", at.start(), end, "", "", f"mutant::{at[1]}<{{}}" + (", " if templated else ">"))
    for at in re.finditer(r"(?<=[;{}]\n)\s+(?=([\w.>\[\]*:-]+)( [+*/|&-]?= |\(|\+\+|--))|(?<=\n) +(?=(\+\+|--)\w+;)", code):
        end = ending(code, at.end(), [";", "{"]) + 1
        if code[end - 1] == ";" and at[1] not in KEYWORDS and not code[at.end():end].startswith(":"):
            add("statement", at.end(), end, "{{ if (!mutant::on({})) {{ ", " }} }}")
    return sorted(found, key=lambda mutant: (mutant.begin, -mutant.end))


def mutated(text, chosen):
    """The text with the mutants [(number, mutant)] in it; lines keep their numbers."""
    edits = []
    for order, (number, mutant) in enumerate(sorted(chosen, key=lambda one: (one[1].begin, -one[1].end, one[0]))):
        if mutant.instead:
            edits.append(((mutant.begin, 2, order), mutant.begin, mutant.end, mutant.instead.format(number)))
            continue
        # At one place: first what ends there, the inner before the outer; then what begins.
        edits.append(((mutant.begin, 1, order), mutant.begin, mutant.begin, mutant.before.format(number)))
        if mutant.after:
            edits.append(((mutant.end, 0, -order), mutant.end, mutant.end, mutant.after.format(number)))
    made, last = [], 0
    for _, begin, end, new in sorted(edits, key=lambda edit: edit[0]):
        made += [text[last:begin], new]
        last = end
    return '#include "mutant.hpp"\n#line 1\n' + "".join(made) + text[last:]


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def run(command, folder, seconds, **variables):
    """(it ended well, CPU time). A fault may never end, or take all memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit,
                               env={**os.environ, **variables}, start_new_session=True)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode == 0, cpu_seconds(usage)


class Area:
    def __init__(self, name, tree, copy, seed, files, lines, again):
        patterns, self.programs = AREAS[name]
        self.name, self.tree, self.copy, self.build = name, tree, copy, copy / "build" / "ci"
        self.texts = {path: path.read_text() for pattern in patterns for path in sorted(tree.glob(pattern))}
        all_mutants = [(path, mutant) for path, text in self.texts.items() if re.search(files, str(path.relative_to(tree)))
                       for mutant in mutants_of(text) if re.search(lines, line_at(text, mutant.begin))]
        if again is not None:
            all_mutants = [one for one in all_mutants if without_number(self.described(*one, 0)) in again]
        self.drawn = random.Random(f"{seed} {name}").sample(all_mutants, len(all_mutants))
        self.chosen = {}  # mutant by number, from 1

    def place(self, number):
        return self.described(*self.chosen[number], number)

    def described(self, path, mutant, number):
        text = self.texts[path]
        line = text.count("\n", 0, mutant.begin) + 1
        new = mutant.instead or f"{mutant.before}_{mutant.after}"
        return (f"{path.relative_to(self.tree)}:{line}:{mutant.begin - text.rfind(chr(10), 0, mutant.begin)}: {mutant.kind}: "
                f"{new.format(number).replace('mutant::', '').replace(f'on({number})', 'on').replace(f'<{number}>', '').strip()}"
                f" in: {line_at(text, mutant.begin)}")

    def restore(self):
        """The copy is the tree; what is the same keeps its time, so that it is not built again."""
        files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=self.tree, capture_output=True, text=True, check=True).stdout
        for file in files.splitlines():
            if self.tree / file in self.texts and (self.copy / file).exists():
                continue  # is written with its mutants
            write_if_new(self.copy / file, self.tree / file)
        (self.copy / "mutant.hpp").write_text(HEADER)

    def build_with(self, count):
        """Writes the first `count` mutants that compile, and builds the tests."""
        self.restore()
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", "ci", *CMAKE], cwd=self.copy, check=True, stdout=subprocess.DEVNULL)
        self.chosen = dict(enumerate(self.drawn[:count * 5 // 4], 1))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.write_what_compiles, self.texts))
        while True:
            built = subprocess.run(["ninja", "-C", self.build, "-k0", f"-j{os.cpu_count()}",
                                    *(program.split("/")[-1] for program in self.programs)],
                                   capture_output=True, text=True, check=False)
            if built.returncode == 0:
                break
            # A warning that a source has only where it is optimised, or one that no pragma silences.
            if not any([self.leave_out(path, built.stdout) for path in self.texts]):
                raise SystemExit(built.stdout[-8000:])
            for path in self.texts:
                self.write(path)
        self.chosen = dict(list(self.chosen.items())[:count])

    def write(self, path):
        """Writes a source with its mutants; the file, if it was another one."""
        file = self.copy / path.relative_to(self.tree)
        mine = [(number, mutant) for number, (source, mutant) in list(self.chosen.items()) if source == path]
        text = mutated(self.texts[path], mine) if mine else self.texts[path]
        if file.read_text() == text:
            return None
        file.write_text(text)
        return file

    def write_what_compiles(self, path):
        while file := self.write(path):
            made = subprocess.run(["c++", "-std=c++20", "-fopenmp", "-fsyntax-only", "-w", f"-I{self.copy}", file],
                                  capture_output=True, text=True, check=False)
            if made.returncode == 0:
                return
            if not self.leave_out(path, made.stderr):
                raise SystemExit(made.stderr[-8000:])

    def leave_out(self, path, output):
        """Leaves out the mutants at the first line of a source that the compiler complains of, as others may follow from it,
        and at those that lack an operator."""
        name = str(path.relative_to(self.tree))
        lines = re.findall(rf"\b{re.escape(name)}:(\d+):\d+:\s+(error: no match for|error|  required from here)", output)
        lines = {int(line) for i, (line, what) in enumerate(lines) if i == 0 or what != "error"}
        text = self.texts[path]
        wrong = []
        for number, (source, mutant) in list(self.chosen.items()):
            first, last = (text.count("\n", 0, at) + 1 for at in (mutant.begin, mutant.end))
            if source == path and any(first <= line <= last for line in lines):
                print(f"does not compile: {self.place(number)}", flush=True)
                wrong.append(number)
        for number in wrong:
            del self.chosen[number]
        return wrong

    def look_at_tests(self, slowest):
        """[(CPU time, program, test, mutants that it reaches)], the fastest first."""
        marks = self.copy / "reached"
        looked = []
        for program in self.programs:
            listed = subprocess.run([self.build / "tests" / program, "--gtest_list_tests"], cwd=self.build, capture_output=True,
                                    text=True, check=True).stdout
            suite = ""
            for line in listed.splitlines():
                name = line.split("#")[0].strip()
                if not line.startswith(" "):
                    suite = name
                    continue
                marks.write_bytes(bytes(1 << 16))
                well, seconds = run(command(self.build, program, [suite + name]), self.build, slowest, MAPSIM_MUTANTS_REACHED=str(marks))
                if not well:
                    print(f"left out, it fails as it is or takes too long: {program} {suite}{name}", flush=True)
                    continue
                reached = {number for number, mark in enumerate(marks.read_bytes()) if mark}
                looked.append((seconds, program, suite + name, reached))
        self.tests = sorted(looked)
        print(f"{len(looked)} tests of at most {slowest:g} s, {sum(test[0] for test in looked):.0f} s of CPU time", flush=True)

    def verdict(self, number, total):
        reaching = [test for test in self.tests if number in test[3]]
        if not reaching:
            return "is not reached"
        steps = {limit: [] for limit in (1, 10, 60, total) if limit <= total}  # by seconds in all
        spent = 0.0
        for test in reaching:
            spent += test[0]
            for limit in steps:
                if spent <= limit:
                    steps[limit].append(test)
                    break
        for step in steps.values():
            for program in self.programs:
                due = [test for test in step if test[1] == program]
                if due and not run(command(self.build, program, [test[2] for test in due]), self.build,
                                   10 + 5 * sum(test[0] for test in due), MAPSIM_MUTANT=str(number))[0]:
                    return "killed"
        return "survives"


CMAKE = []


def command(build, program, tests):
    return [build / "tests" / program, "--gtest_brief=1", "--gtest_fail_fast", "--gtest_filter=" + ":".join(tests)]


def write_if_new(file, source):
    content = source.read_bytes()
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        shutil.copymode(source, file)


def without_number(place):
    """A mutant's place, but for the number of its line."""
    return re.sub(r"^([^:]*):\d+:", r"\1:", place)


def known_verdicts(log):
    """What an earlier run found, by mutant."""
    known = {}
    for line in log.read_text().splitlines() if log and log.exists() else []:
        verdict, _, mutant = line.partition(": ")
        known[mutant] = verdict
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("copy", type=Path)
    parser.add_argument("--areas", default=",".join(AREAS))
    parser.add_argument("--mutants", type=int, default=40, help="of each area")
    parser.add_argument("--files", default="", help="draw only from sources whose names have this, a regular expression")
    parser.add_argument("--lines", default="", help="draw only from lines that have this, a regular expression")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600, help="tests that take longer are left out")
    parser.add_argument("--total", type=float, default=600, help="of the others each mutant runs the fastest, for so many seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--log", type=Path, help="verdicts are added to it, and not looked for again")
    parser.add_argument("--again", type=Path, help="draw only from what survived in this log")
    parser.add_argument("--list", action="store_true", help="only say which mutants would be drawn")
    parser.add_argument("--cmake", action="append", default=[], help="an option for CMake where the copy is configured")
    arguments = parser.parse_args()
    CMAKE.extend(arguments.cmake)
    known = known_verdicts(arguments.log)
    again = {without_number(place) for place, verdict in known_verdicts(arguments.again).items() if verdict != "killed"} if arguments.again else None
    tally = {}
    for name in arguments.areas.split(","):
        area = Area(name, arguments.tree.resolve(), arguments.copy.resolve(), arguments.seed, arguments.files, arguments.lines, again)
        print(f"{name}, {len(area.drawn)} mutants to draw from", flush=True)
        if arguments.list:
            area.chosen = dict(enumerate(area.drawn[:arguments.mutants], 1))
            print(*(area.place(number) for number in area.chosen), sep="\n")
            continue
        area.build_with(arguments.mutants)
        area.look_at_tests(arguments.seconds)

        def look(number, area=area):
            place = area.place(number)
            return place, known.get(place) or area.verdict(number, arguments.total)
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for place, verdict in pool.map(look, area.chosen):
                tally[verdict] = tally.get(verdict, 0) + 1
                print(f"{verdict}: {place}", flush=True)
                if arguments.log and place not in known:
                    with open(arguments.log, "a", encoding="utf-8") as log:
                        print(f"{verdict}: {place}", file=log)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(tally.items())))
    return int(set(tally) > {"killed"})


if __name__ == "__main__":
    sys.exit(main())
