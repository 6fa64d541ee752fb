#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Walks parts of the optima of shipped layers on shipped machines step by step, and compares every count and every
output with those of the closed form. An optimum itself has too many steps.

usage: long_walks.py MAPSIM [--pairs N] [--seconds N] [--walks N] [--steps N] [--seed N] [--machines NAME,...]
                     [--budget TIME] [--after N]

Draws pairs of a layer and a machine (--pairs 0: all), at first such that every machine and every layer comes, searches
the optimum (for --budget, so of a few the best that was found), and of each makes smaller nests: the same keeps and the same loops in the same order, some of the loops with
fewer iterations or one, and a layer as small as these make it, of no more than --steps multiply-accumulates. For each
pair in turn:
  inside   the innermost loops have all their iterations, those outside of them one: an exact part of the optimum
  outside  the outermost loops have all their iterations, those inside of them one
  drawn    loops drawn at random are shortened
Layers of engines are walked in the form in which they are computed. Ends after --seconds; --after N goes on behind the
first N pairs, which a run of the same seed, with the same machines and layers, has walked. Prints what was walked, and
the machines and layers that were not; exit 1 if anything differed.
"""
import argparse
import collections
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


def machines():
    """Those with levels; GPUs have kernels in place of mappings."""
    folder = ROOT / "configs/arch"
    return [str(path.relative_to(folder).with_suffix("")) for path in sorted(folder.rglob("*.yaml"))
            if "\nnodes:" in path.read_text()]


def layers():
    folder = ROOT / "configs/workloads"
    return [str(path.relative_to(folder).with_suffix("")) for path in sorted(folder.glob("*/*.yaml"))]


def computed_layer(certificate, text):
    """The layer as an einsum, as it is computed: as the certificate has it, or as the answer prints it."""
    layer = certificate["workload"]
    if "einsum" in layer and "form" not in certificate:
        return layer
    if "density" in layer or "densities" in layer:
        return None
    lines = text.split("\n")
    equation = next(line.strip() for line in lines if "+=" in line)
    dims = re.search(r"MACs; (.*)", text).group(1)
    widths = dict(re.findall(r"(operands|outputs|sums) (\d+) b", text))
    if len(widths) < 3:
        return None
    names = re.findall(r"(\w+)\[", equation)
    out = equation.split("[")[0].strip()
    precision = {name: widths["operands"] + " b" for name in re.findall(r"[=*] (\w+)\[", equation)}
    precision |= {out: widths["outputs"] + " b", "partial": widths["sums"] + " b"}
    assert set(names) >= {out}
    dims = {name: int(number) for name, number in (each.split() for each in dims.replace(",", "").split("; "))}
    return {"name": layer["name"], "einsum": {"equation": equation, "dims": dims}, "precision": precision}


class Nest:
    """A mapping as it stands in a certificate: keeps, and loops with how often they iterate."""

    def __init__(self, certificate, layer):
        self.layer = layer
        dims = self.layer["einsum"]["dims"]
        reached = dict(dims)
        self.items = []  # [text with {} for the extent, dim, iterations]; of keeps without a dim
        for item in certificate["mapping"]:
            (key, value), = item.items()
            if key.startswith("keep "):
                self.items.append([f"{key}: [{', '.join(value)}]", None, 1])
                continue
            kind, dim = key.split()
            extent, _, where = str(value).partition(" ")
            self.items.append([f"{kind} {dim}: {{}} {where}", dim, reached[dim] // int(extent)])
            reached[dim] = int(extent)
        self.rest = reached  # extents within the innermost loops: 1

    def loops(self):
        return [i for i, (_, dim, _) in enumerate(self.items) if dim]

    def shortened(self, most, rng):
        """Iterations of each item so that all loops together take no more than `most`."""
        iterations = [n for _, _, n in self.items]
        total = 1
        for n in list(iterations) + list(self.rest.values()):
            total *= n
        while total > most:
            i = rng.choice([i for i in self.loops() if iterations[i] > 1])
            before, least = iterations[i], 2 if rng.random() < 0.8 and iterations[i] > 2 else 1
            iterations[i] = rng.randint(least, before - 1)
            total = total // before * iterations[i]
        return iterations, total

    def exact(self, most, from_outside):
        """All iterations of the loops at one end, as many of the next one as there is room for, one of all others."""
        loops = self.loops() if from_outside else self.loops()[::-1]
        iterations = [1] * len(self.items)
        total = 1
        for n in self.rest.values():
            total *= n
        for i in loops:
            iterations[i] = max(1, min(self.items[i][2], most // total))
            total *= iterations[i]
            if iterations[i] < self.items[i][2]:
                break
        return iterations, total

    def texts(self, iterations):
        """The layer and the mapping, as YAML."""
        dims = dict(self.rest)
        lines = []
        for (text, dim, _), n in reversed(list(zip(self.items, iterations))):
            if dim is None:
                lines.append(f"  - {text}")
            elif n > 1:  # the extent of a loop is what is left of its dim within it
                lines.append(f"  - {text.format(dims[dim])}".rstrip())
                dims[dim] *= n
        layer = dict(self.layer)
        layer["einsum"] = {**layer["einsum"], "dims": dims}
        for key in ("stored", "padding", "note"):
            layer.pop(key, None)
        return yaml.safe_dump(layer, sort_keys=False), "mapping:\n" + "\n".join(reversed(lines)) + "\n"


def covering_first(pairs):
    """Pairs of a machine and a layer that have not come yet in front, then of one of them, then the others."""
    first, second, rest = [], [], []
    seen = set()
    for pair in pairs:
        new = len(set(pair) - seen)
        (first if new == 2 else second if new == 1 else rest).append(pair)
        seen.update(pair if new else ())
    return first + second + rest


class Walker:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.said = collections.Counter()
        self.steps = self.kept_loops = self.all_loops = 0
        self.machines, self.layers = set(), set()
        self.differ = []
        self.without = []  # pairs for which there is no mapping

    def run(self, *words):
        return subprocess.run([self.arguments.mapsim, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, check=False, timeout=300)

    def walk_pair(self, machine, layer, rng):
        proof = self.folder / "proof.yaml"
        proof.unlink(missing_ok=True)
        objective = rng.choice(["energy", "latency", "edp"])
        self.said["pairs tried"] += 1
        found = self.run("search", machine, layer, "--budget", self.arguments.budget, "--objective", objective, "--certificate", proof)
        certificate = yaml.safe_load(proof.read_text()) if proof.exists() else {}
        if found.returncode == 2:
            self.said[f"pairs refused: {found.stderr.strip().split(': ', 1)[-1][:100]}"] += 1
            return
        if found.returncode not in (0, 1):
            self.differ.append(f"{machine} {layer}: the search ended with exit code {found.returncode}: {found.stderr}\n")
            return
        if "mapping" not in certificate:
            self.without.append(f"{machine} {layer}")
            return
        computed = computed_layer(certificate, found.stdout)
        if computed is None:
            self.said["pairs of a form whose layer is not known"] += 1
            return
        nest = Nest(certificate, computed)
        self.said["pairs"] += 1
        for k in range(self.arguments.walks):
            self.walk(machine, layer, nest, ("inside", "outside", "drawn")[k % 3], rng)

    def walk(self, machine, layer, nest, kind, rng):
        if kind == "drawn":
            iterations, steps = nest.shortened(self.arguments.steps, rng)
        else:
            iterations, steps = nest.exact(self.arguments.steps, kind == "outside")
        workload, mapping = nest.texts(iterations)
        (self.folder / "layer.yaml").write_text(workload)
        (self.folder / "mapping.yaml").write_text(mapping)
        ran = self.run("simulate", machine, "layer.yaml", "mapping.yaml", "--seed", rng.randrange(1000), "--threads", 1)
        if ran.returncode == 0:
            self.said["walks, all counts equal"] += 1
            self.said[f"  {kind}"] += 1
            self.steps += steps
            self.all_loops += len(nest.loops())
            self.kept_loops += sum(1 for i in nest.loops() if iterations[i] > 1)
            self.machines.add(machine)
            self.layers.add(layer)
            return
        why = re.sub(r"[\d.,]+", "N", (ran.stderr + ran.stdout).strip().split("\n")[0])[:100]
        if "differ" in ran.stdout or ran.returncode > 2:
            self.differ.append(f"{machine} {layer}: {why}\n{workload}{mapping}")
        self.said[f"walks refused: {why}"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mapsim", type=Path)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--after", type=int, default=0, help="leave out so many pairs")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--walks", type=int, default=3, help="of each pair")
    parser.add_argument("--steps", type=int, default=100_000, help="multiply-accumulates of a walk, at most")
    parser.add_argument("--budget", default="5s", help="of the search of a pair")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--machines", help="names, with commas; default: all")
    arguments = parser.parse_args()
    arguments.mapsim = arguments.mapsim.resolve()
    names = arguments.machines.split(",") if arguments.machines else machines()
    pairs = [(machine, layer) for machine in names for layer in layers()]
    rng = random.Random(arguments.seed)
    rng.shuffle(pairs)
    pairs = covering_first(pairs)
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        walker = Walker(arguments, Path(folder))
        try:
            for machine, layer in pairs[arguments.after:][:arguments.pairs or len(pairs)]:
                if time.monotonic() > end:
                    break
                walker.walk_pair(machine, layer, rng)
        except KeyboardInterrupt:
            print("interrupted")  # what was walked until then
    for what, times in walker.said.most_common():
        print(f"{times:>7,} {what}")
    print(f"{len(walker.layers)} layers, {len(walker.machines)} machines; {walker.steps:,} multiply-accumulates walked; "
          f"{walker.kept_loops:,} of {walker.all_loops:,} loops with more than one iteration")
    print(f"{len(walker.without)} pairs without a mapping: {'; '.join(sorted(walker.without)) or 'none'}")
    for what, left in (("machines", set(names) - walker.machines), ("layers", set(layers()) - walker.layers)):
        print(f"{len(left)} {what} not walked: {', '.join(sorted(left)[:20])}{', ...' if len(left) > 20 else ''}")
    print("".join(walker.differ), end="")
    return int(bool(walker.differ))


if __name__ == "__main__":
    sys.exit(main())
