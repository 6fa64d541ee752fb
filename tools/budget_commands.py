#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives every command that has --budget, on large inputs, random short times, and says what takes more CPU time than its
budget and the limit, crashes, or ends with an internal error.

usage: budget_commands.py MAPSIM [--runs N] [--seed N] [--longest SECONDS] [--limit SECONDS] [--only WORDS]

A command runs on one core. The CPU time that it had taken when its budget was over is read from /proc: what it takes
afterwards, less what loading the program takes (`mapsim --version`), is the overrun. Reading the inputs and writing the answer
count as overrun, too. Where each of several searches has
the budget (network, compare), the CPU time in all may be the budget times the searches, and the limit for each. Exit 1 if
anything is wrong.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import every_command as every  # noqa: E402

# How many budgets a command has, how many answers it owes at least, and its words.
COMMANDS = """
1 1 search eyeriss resnet50/conv2_3x3 --imperfect --objective edp --certificate proof.yaml
1 1 search eyeriss vgg16/conv3_2 --pareto --certificate proof.yaml --svg front.svg
1 1 search eyeriss vgg16/conv3_2 --pareto --imperfect --save-mapping points
1 1 search eyeriss vgg16/conv3_2 --curve GLB --svg curve.svg
1 1 search eyeriss resnet50/conv3_3x3 --strategy annealing --evaluations 100000000
1 1 search eyeriss resnet50/conv3_3x3 --strategy genetic --evaluations 100000000
1 1 search eyeriss resnet50/conv3_3x3 --strategy random --evaluations 100000000 --imperfect
1 1 search eyeriss vgg16/conv3_2 --strategy exhaustive
1 1 search eyeriss vgg16/conv3_2 --even --objective edp --why
1 1 search eyeriss vgg16/conv3_2 --constraints row_stationary --objective edp --why
1 1 search tpu_pod_like --gemm 997x1009x1013 --imperfect --objective edp --certificate proof.yaml
1 1 search tpu_pod_like --gemm 5040x5040x5040 --objective edp --certificate proof.yaml --why
1 1 search simba_package eyeriss/vgg16_conv4_2 --objective edp --certificate proof.yaml --json
1 1 search simba_like resnet50/conv3_3x3 --imperfect --pareto
1 1 search eyeriss_v2_pe alexnet/conv2 --objective edp --certificate proof.yaml
1 1 search tensor_core_2_4 llama_7b/prefill_ffn_up --objective edp
1 1 search square --conv 64,56,56,64,3,3,padding=1 --objective edp --certificate proof.yaml
1 1 search teaching --gemm 180180x180180x180180 --objective edp --certificate proof.yaml --why
1 1 search teaching --gemm 180180x180180x180180 --curve Buffer
1 1 search teaching --gemm 180181x180211x180221 --imperfect --objective edp --certificate proof.yaml
1 1 search nv_full vgg16/conv3_2 --objective edp --certificate proof.yaml --why
1 1 search simba_package --gemm 1000000x1000000x1000 --imperfect --objective edp
1 1 search simba_package --gemm 1000003x999983x1009 --imperfect
1 1 search simba_package --gemm 720720x720720x720 --pareto --imperfect
1 1 search tpu_pod_like --gemm 720720x720720x720 --imperfect --objective edp
1 1 search eyeriss --einsum O[a][b][c][d]+=A[a][e][f][g]*B[b][e][f][h][c][d] --dims a=720,b=5040,c=24,d=60,e=60,f=8,g=12,h=12
1 1 search simba_package --einsum O[a][b][c][d]+=A[a][e][f][c]*B[b][e][f][d] --dims a=240,b=360,c=120,d=60,e=30,f=80 --certificate proof.yaml
1 1 search tpu_pod_like --conv 360,120,120,720,3,3,stride=2,batch=12 --imperfect --objective edp --certificate proof.yaml
1 1 search gpu_like --conv 720,64,64,720,3,3,batch=8 --imperfect --objective edp
1 1 search tpu_pod_like --gemm 4000000x4x4 --imperfect
1 1 search teaching_flat configs/chains/resnet50_conv2_block.yaml --certificate proof.yaml
1 1 search teaching_flat configs/chains/attention_1024.yaml --pareto --svg front.svg
1 1 search teaching_flat configs/chains/resnet50_conv2_block.yaml --curve Buffer
1 1 eval eyeriss resnet50/conv2_3x3 eyeriss_map.yaml --why --objective edp
1 1 eval eyeriss resnet50/conv2_3x3 eyeriss_map.yaml --why --imperfect
20 20 network eyeriss vgg16 --objective edp --json -o network.json
40 40 network simba_like resnet50 --strategy genetic --evaluations 1000000
1 1 network teaching_flat graphs/resnet50 --fuse --json -o network.json
1 1 network nvdla_like_1024 graphs/bert_base_128 --fuse --objective edp
1 1 network eyeriss graphs/mobilenet_v2 --fuse
1 1 plan eyeriss graphs/resnet50 --json -o plan.json --trace plan_trace.json
1 1 plan jetson_agx_orin graphs/bert_base_128 --objective throughput --certificate proof.yaml
1 1 plan jetson_agx_orin graphs/googlenet
1 1 plan jetson_agx_orin graphs/googlenet --at-once --what-if
1 1 plan jetson_agx_orin graphs/googlenet --with graphs/resnet50
1 1 plan jetson_agx_orin graphs/resnet50 --objective energy --max-memory 8MiB --report page.html
1 1 design eyeriss_10k --objective sum-edp --max-area 4mm2 --save-arch best.yaml
1 1 design eyeriss_10k --max-energy 20mJ --max-latency 100ms --top 3
1 1 design eyeriss_10k --objective energy --pareto area --svg front.svg
1 1 design eyeriss_10k --objective energy --certificate proof.yaml
1 1 design campaign_long.yaml alexnet --objective latency --json -o design.json
1 1 design mobilenet_edge
3 3 compare zigzag {data}/zigzag_machine.yaml {data}/zigzag_result.json
""".strip().splitlines()

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def alone():
    """On one core, so that the CPU time of no moment is more than its time."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def loading(program):
    """CPU seconds until a program that has nothing to do has ended."""
    before = os.times()
    subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, preexec_fn=alone, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def run(program, line, budget, folder):
    """(exit code, CPU seconds, CPU seconds after the budget was over, what it said)."""
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        process = subprocess.Popen([program, *line.split(), "--budget", f"{budget * 1000:.2f} ms"], cwd=folder, stdout=out,
                                   stderr=err, stdin=subprocess.DEVNULL, preexec_fn=alone)
    over, at_end = time.monotonic() + budget, 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() <= over:
            at_end = cpu_seconds(process.pid)
        time.sleep(0.002)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    spent = usage.ru_utime + usage.ru_stime
    return process.returncode, spent, spent - at_end, (folder / "stderr").read_text(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--runs", type=int, default=3, help="of each command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=2, help="the longest budget, in seconds; the shortest is a millisecond")
    parser.add_argument("--limit", type=float, default=0.2, help="CPU seconds beyond the budget")
    parser.add_argument("--only", default="", help="only commands with these words")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    draw = random.Random(arguments.seed)
    tried = reached = wrong = 0
    longest = (0.0, "")
    with tempfile.TemporaryDirectory(prefix="mapsim_") as name:
        folder = Path(name)
        every.prepare(program, folder, Path("/nonexistent"))
        for command in COMMANDS:
            if arguments.only not in command:
                continue
            budgets, answers, line = command.split(" ", 2)
            line, budgets, answers = every.complete(line, folder), int(budgets), int(answers)
            for _ in range(arguments.runs):
                budget = 0.001 * (arguments.longest / 0.001) ** draw.random()
                load = loading(program)
                code, spent, after, err = run(program, line, budget, folder)
                tried += 1
                over = (after if budgets == 1 else spent - budget * budgets) - load
                reached += spent > budget
                problem = ""
                if code not in (0, 1) and "raise --budget" not in err:  # too little to count what is drawn from
                    problem = f"exit code {code}: {err.strip()}"
                elif over > arguments.limit * answers:
                    problem = f"{over:.2f} s of CPU beyond its budget"
                if answers == 1:
                    longest = max(longest, (over, line))
                if problem:
                    wrong += 1
                    print(f"mapsim {line} --budget {budget * 1000:.2f} ms\n  {problem}", flush=True)
    print(f"{tried} runs, {reached} of more CPU time than the budget, {wrong} wrong")
    print("longest after a budget: {:.2f} s of CPU, mapsim {}".format(*longest))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
