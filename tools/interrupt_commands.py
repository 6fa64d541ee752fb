#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interrupts every command at random moments and says what does not end as it should: with exit code 130 after no
more CPU time than the limit, with no file left that is half-written, and with the database whole. A command that is
done before the signal comes must have done its work. Exit 1 if anything is wrong.

usage: interrupt_commands.py MAPSIM BUILD [--runs N] [--seed N] [--limit SECONDS] [--long] [--only WORDS]
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import every_command as every  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process):
    """Of a process that nobody has waited for yet."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Run:
    def __init__(self, program, line, folder):
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            self.process = subprocess.Popen([program, *line.split()], cwd=folder, stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL)

    def ends_within(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            info = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if info is not None:
                return True
            time.sleep(min(0.001, seconds / 4))
        return False

    def wait(self):
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, usage.ru_utime + usage.ru_stime


def interrupted(program, line, folder, moment):
    """Exit code, CPU seconds before the signal, and after it (None: it ended before the signal)."""
    run = Run(program, line, folder)
    if run.ends_within(moment):
        return run.wait()[0], 0, None
    before = cpu_seconds(run.process)
    os.kill(run.process.pid, signal.SIGINT)
    patience = 60
    if not run.ends_within(patience):
        run.process.kill()
        return f"none in {patience} s", before, run.wait()[1] - before
    code, after = run.wait()
    return code, before, after - before


class Trial:
    """A command, what its folder has before it, and what it leaves when nobody interrupts it."""

    def __init__(self, program, line, prepared, place, patience):
        self.program, self.line, self.prepared, self.place = program, line, prepared, place
        every.fresh(prepared, place)
        self.before = every.state_of(place)
        start = time.monotonic()
        run = Run(program, line, place)
        self.code = None
        if run.ends_within(patience):
            self.code = run.wait()[0]
        else:
            os.kill(run.process.pid, signal.SIGINT)
            run.wait()
        self.seconds = time.monotonic() - start
        if self.code == 2:
            raise RuntimeError(f"mapsim {line}: {(place / 'stderr').read_text(errors='replace')}")
        self.whole = every.state_of(place)

    def problem(self, moment, limit, tally):
        every.fresh(self.prepared, self.place)
        code, spent, after = interrupted(self.program, self.line, self.place, moment)
        err = (self.place / "stderr").read_text(errors="replace")
        files = every.faults_of_files(self.before, self.whole, every.state_of(self.place))
        if after is None:
            tally["done before"] += 1
            return files if code == self.code or self.code is None else f"exit code {code}: {err}"
        if code == 130:
            tally["interrupted"] += 1
            tally["longest"] = max(tally["longest"], (after, self.line))
            if self.line.startswith("check ") and (self.place / "stdout").stat().st_size > 0:
                return "a check that was stopped says something of the proof"
        elif code == self.code:  # its work was done
            tally["finished"] += 1
        elif code == -signal.SIGINT and spent <= 0.02:  # the libraries were still being loaded
            tally["before main()"] += 1
        else:
            return f"exit code {code}: {err}"
        if after > limit:
            return f"took {after:.2f} s of CPU after the signal"
        return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("build", type=Path, help="the build tree, for its models")
    parser.add_argument("--runs", type=int, default=2, help="of each command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=0.2, help="CPU seconds after the signal")
    parser.add_argument("--long", action="store_true", help="the commands that take long, too")
    parser.add_argument("--only", default="", help="only commands with these words")
    arguments = parser.parse_args()
    # A shell has what it runs in the background ignore SIGINT; the commands would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw = random.Random(arguments.seed)
    program = arguments.program.resolve()
    tally = {"interrupted": 0, "finished": 0, "done before": 0, "before main()": 0, "longest": (0.0, "")}
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="mapsim_") as folder:
        prepared, place = Path(folder) / "prepared", Path(folder) / "run"
        prepared.mkdir()
        every.prepare(program, prepared, arguments.build, arguments.long)
        for line in every.available(every.LONG if arguments.long else every.SMALL, arguments.build):
            if arguments.only not in line:
                continue
            trial = Trial(program, line, prepared, place, 20)
            for _ in range(arguments.runs):
                moment = draw.uniform(0, trial.seconds * 1.05)
                problem = trial.problem(moment, arguments.limit, tally)
                if problem:
                    wrong += 1
                    print(f"mapsim {line}\n  after {1000 * moment:.1f} of {1000 * trial.seconds:.1f} ms: {problem}",
                          flush=True)
    print(", ".join(f"{count} {what}" for what, count in tally.items() if what != "longest"))
    print("longest after a signal: {:.2f} s of CPU, mapsim {}".format(*tally["longest"]))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
