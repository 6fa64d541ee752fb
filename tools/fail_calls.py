#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets the n-th call of one kind fail (allocation, write, sync, rename, unlink, open for writing, start of a thread) in every
command on small inputs, and says what does not end as it should: with the result that it has otherwise, or with a message, without a
crash, without an internal error, with no file half-written and with no row lost. Exit 1 if anything is wrong.

usage: fail_calls.py MAPSIM BUILD LIBRARY [--calls N] [--every N] [--share PART] [--seed N] [--kinds malloc,write]
                     [--only WORDS]

LIBRARY is what tests/faults/failing_calls.cpp is compiled to. Of each command and kind --calls are drawn, or all are
taken where there are no more; early ones are drawn more often, as late ones resemble each other. With --every N the first N
calls are all tried, and --calls are drawn of the others. With --share a command is tried with this chance only.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import every_command as every  # noqa: E402

KINDS = ["malloc", "write", "sync", "rename", "unlink", "open", "thread"]
# Times, rates, how many labels a search had open when somebody stopped it, hashes of databases.
VARIES = re.compile(r'[\d.,e+-]+ (?:ns|us|ms|s|min|h)\b|[\d.,e+-]+/s|"[a-z_]*seconds": [\d.e+-]+|"hash": "\w+"|\.\d+\.tmp'
                    r"|; mappings evaluated: .*|\"(?:evaluated|states|labels)\": \d+")

# An answer that says that memory or threads were short: a search's with its true gap, or a sweep's beside its other points.
SHORT = re.compile(r'out of memory|no thread can be started|Thread creation failed|memory was short|want of memory|ended early \(--memory|'
                   r'"(?:out_of|\w*short_of)_memory": (?:true|[1-9])|"\w*_ended_early": [1-9]', re.I)


class Command:
    """A process that has loaded the program and is a new one for each fault (tests/faults/failing_calls.cpp)."""

    def __init__(self, program, library, line, prepared, place):
        self.line, self.prepared, self.place = line, prepared, place
        self.looks = None  # of the folder, as long as it is as it was prepared
        environment = {**os.environ, "LD_PRELOAD": str(library), "MAPSIM_FAIL_SERVE": str(place),
                       "MAPSIM_FAIL_COUNT": str(place.parent / "count")}
        self.server = subprocess.Popen([program, *line.split()], env=environment, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        every.fresh(prepared, place)
        self.before = every.state_of(place)
        self.code, self.out, err = self.run("none", 0, False)
        if self.code == 2:
            raise RuntimeError(f"mapsim {line}: {err}")
        counts = (place.parent / "count").read_text().split()
        self.calls = dict(zip(counts[::2], map(int, counts[1::2])))
        self.whole = every.state_of(place)

    def close(self):
        self.server.stdin.close()
        self.server.wait()

    def run(self, kind, at, on):
        if self.looks is None or self.looks != every.looks_of(self.place):
            every.fresh(self.prepared, self.place)
            self.looks = every.looks_of(self.place)
        self.server.stdin.write(f"{kind} {at} {int(on)}\n")
        self.server.stdin.flush()
        code = os.waitstatus_to_exitcode(int(self.server.stdout.readline()))
        out, err = ((self.place.parent / name).read_text(errors="replace") for name in ("out", "err"))
        return "no end within 100 s" if code == -signal.SIGALRM else code, VARIES.sub("", out), err

    def problem(self, kind, at, on):
        code, out, err = self.run(kind, at, on)
        try:
            after = self.before if every.looks_of(self.place) == self.looks else every.state_of(self.place)
        except Exception as error:  # what SQLite says of a database
            return f"{error}; exit code {code}: {err}"
        files = every.faults_of_files(self.before, self.whole, after)
        if files and not (kind == "unlink" and files.endswith(".tmp was left")):  # it could not be removed
            return f"{files}; exit code {code}: {err}"
        if SHORT.search(out + err) and code in (0, 1, 2):
            return ""
        if code == self.code:
            if out != self.out:
                other = [line for line in out.splitlines() if line not in self.out.splitlines()]
                return f"exit code {code}, but another answer: {(other or ['less of it'])[0]}"
            missing = [name for name in self.whole if name not in after]
            return f"exit code {code}, but there is no {missing[0]}" if missing else ""
        if code not in (1, 2):
            return f"exit code {code}: {err}"
        return "" if err.strip() else f"exit code {code} without a message"

    def draw(self, kind, count, every_one, draw):
        calls = self.calls[kind]
        if calls <= max(count, every_one):
            return range(1, calls + 1)
        drawn = {min(calls, int(calls ** draw.random()) + draw.randrange(2)) for _ in range(count)}
        return sorted(drawn | set(range(1, every_one + 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("build", type=Path, help="the build tree, for its models")
    parser.add_argument("library", type=Path)
    parser.add_argument("--calls", type=int, default=20, help="of each command and kind")
    parser.add_argument("--every", type=int, default=0, help="all of the first so many calls")
    parser.add_argument("--share", type=float, default=1, help="of the commands")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--only", default="", help="only commands with these words")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    tried = wrong = 0
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        prepared, place = Path(folder) / "prepared", Path(folder) / "run"
        prepared.mkdir()
        every.prepare(arguments.program.resolve(), prepared, arguments.build)
        lines = [line for line in every.available(every.SMALL, arguments.build) if arguments.only in line and draw.random() <= arguments.share]
        for line in lines:
            command = Command(arguments.program.resolve(), arguments.library.resolve(), line, prepared, place)
            for kind in arguments.kinds.split(","):
                for at in command.draw(kind, arguments.calls, arguments.every, draw):
                    on = kind != "malloc" and draw.random() < 0.5  # a full disk stays full
                    tried += 1
                    if problem := command.problem(kind, at, on):
                        wrong += 1
                        print(f"mapsim {line}\n  {kind} {at} of {command.calls[kind]}"
                              f"{' and all that follow' if on else ''}: {problem}", flush=True)
            command.close()
            if arguments.every > 0:
                print(f"tried so far: {tried}; done: mapsim {line}", flush=True)
    print(f"{len(lines)} commands, {tried} faults, {wrong} not met as they should be")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
