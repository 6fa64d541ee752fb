#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says where the JSON Schemas and the readers of the YAML files differ; exit 1 if anywhere.

The documents are all that the tree holds, shipped or in tests (files, texts in sources, examples of the
documents), and each of them changed in one place. What a reader accepts its schema must accept. What a
reader refuses for its form (a key, a list in place of a number) the schema must refuse, too.

usage: schema_reader_check.py PROBE SOURCE
"""
import copy
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import yaml


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """As YAML 1.2 and the readers: `on` is a word, no truth value."""


BOOL = "tag:yaml.org,2002:bool"
Loader.yaml_implicit_resolvers = {first: [one for one in all_of if one[0] != BOOL]
                                  for first, all_of in Loader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver(BOOL, re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# Problems that mappings and constraints of the tree are for: the first that accepts a document.
PROBLEMS = [
    ("teaching", "teaching/conv"), ("teaching", "teaching/gemm"), ("tpu_v1", "tpu_v1/mlp0"),
    ("eyeriss", "resnet50/conv2_3x3"), ("eyeriss", "resnet50/conv1"), ("eyeriss", "resnet50/fc"),
    ("eyeriss", "resnet50/conv5_1x1b"), ("eyeriss", "resnet50/conv5_3x3"),
    ("nvdla_like_1024", "resnet50/conv2_3x3"), ("nvdla_like_1024", "resnet50/conv1"),
    ("nvdla_like_1024", "resnet50/fc"), ("systolic_32x32", "gemm/512"),
    ("systolic_32x32", "resnet50/conv2_3x3"), ("eyeriss_chip", "eyeriss/vgg16_conv4_2"), ("dual_side_tensor_core", "gemm/512"),
    ("tensor_core_2_4", "gemm/512"),
    *(("eyeriss_chip", f"eyeriss/alexnet_conv{i}") for i in range(1, 6))]
# Refusals for the form of a document, which a schema can tell as well.
FORMAL = re.compile(r"unknown key|missing key|expected a (map|list)|expected \[height, width\]|"
                    r"not a list of|is not a whole number$|expected true or false|has no value")
# ... but for names, which other files give.
BY_NAME = re.compile(r"^(density|precision|architectures\[\d+\]\.(list|grid).*|mapspace\.extents\.[^:]*): unknown key")
MOST_PER_PLACE = 1  # documents in which a place, whatever its index, gets one change


def kind_of(document):
    if not isinstance(document, dict):
        return None
    nodes = document.get("mapping")
    if isinstance(nodes, list) and any(isinstance(node, dict) and "sequence" in node for node in nodes):
        return None  # a tree: its names are those of a chain
    for key, kind in (("mapping", "mapping"), ("mapspace", "constraints"),
                      ("architectures", "campaign"), ("layers", "network"), ("graph", "network"), ("soc", "soc"), ("chain", "chain"), ("gpu", "gpu"),
                      ("nodes", "arch"), ("conv2d", "workload"), ("gemm", "workload"),
                      ("batched_gemm", "workload"), ("einsum", "workload")):
        if key in document:
            return kind
    return None


def schema_kind(kind):
    return "arch" if kind == "gpu" else kind


def literals(text):
    """Texts of C++ string literals; neighbours are one."""
    yield from re.findall(r'R"\w*\((.*?)\)\w*"', text, re.DOTALL)
    for run in re.findall(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
        pieces = re.findall(r'"((?:[^"\\\n]|\\.)*)"', run)
        yield "".join(pieces).replace("\\n", "\n").replace('\\"', '"')


def texts(source):
    """(name, text) of all that may be a document."""
    for folder in ("configs", "tests", "bench"):
        for path in sorted((source / folder).rglob("*.yaml")):
            yield path, path.read_text()
    for path in sorted((source / "tests").rglob("*.[ch]pp")):
        for text in literals(path.read_text()):
            if ":" in text:
                yield path.with_suffix(".yaml"), text
    for path in sorted((source / "docs").rglob("*.md")):
        for text in re.findall(r"```yaml\n(.*?)```", path.read_text(), re.DOTALL):
            yield path.with_suffix(".yaml"), text


def documents(source):
    seen = set()
    for name, text in texts(source):
        try:
            document = yaml.load(text, Loader=Loader)
        except yaml.YAMLError:
            continue
        kind = kind_of(document)
        if kind and text not in seen:
            seen.add(text)
            yield kind, name, text


def places(value, path=()):
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from places(child, (*path, index))


def changes(value):
    """(what, value): other forms of the same thing, and things that are wrong there."""
    if isinstance(value, bool):
        return [("whole", 1), ("listed", [value])]
    if isinstance(value, (int, float)):
        return [("pair", [value, value]), ("half", 0.5), ("zero", 0), ("one", 1),
                ("words", f"{value} b"), ("listed", [value]), ("large", 2**31), ("truth", True),
                ("below", -1)]
    if isinstance(value, str):
        number = re.fullmatch(r"\d+(?:\.\d+)? ?((?:[A-Za-z%][A-Za-z0-9%/]*)?)", value)
        forms = [("listed", [value]), ("whole", 3), ("unlimited", "unlimited"), ("other", "q-1"),
                 ("truth", False)]
        if number:
            unit = number[1]
            forms += [("spaced", f"2   {unit}"), ("close", f"2{unit}"), ("power", f"1e2 {unit}"),
                      ("part", f"0.5 {unit}"), ("nothing", f"0 {unit}"), ("below", f"-1 {unit}"),
                      ("large letters", f"2 {unit.upper()}"), ("doubled", f"2 {unit}{unit}")]
            base = re.sub(r"^(Ki|Mi|Gi|Ti|[fpnumkMGT](?=[A-Za-z]))", "", unit)
            forms += [(f"in {prefix}{base}", f"2 {prefix}{base}")
                      for prefix in ("", "f", "p", "n", "u", "m", "k", "M", "G", "T", "Ki", "Gi")]
            forms += [(f"in {other}", f"2 {other}") for other in ("b", "B", "h", "min", "cycle")]
        return forms
    if isinstance(value, list):
        return [("first", value[0] if value else 1), ("none", []), ("shorter", value[1:]),
                ("longer", value + value[-1:]), ("pair", (value + value)[:2])]
    if isinstance(value, dict):
        less = [(f"without {key}", {k: v for k, v in value.items() if k != key}) for key in value]
        return [*less, ("more", {**value, "unheard_of": 1}), ("listed", [value]), ("none", {})]
    return []


def changed(document, path, value):
    if not path:
        return value
    copied = copy.deepcopy(document)
    at = copied
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return copied


def mutants(kind, document, counts):
    """Units are those of a key, wherever it stands; other changes are made at every place."""
    for path, value in places(document):
        general = tuple("*" if isinstance(step, int) else step for step in path)
        for what, new in changes(value):
            key = (kind, general[-1:] if what.startswith("in ") else general, what)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] <= MOST_PER_PLACE:
                yield f"{'/'.join(map(str, path))}: {what}", changed(document, path, new)


class Probe:
    def __init__(self, program, source):
        self.program, self.source = program, source

    def problem(self, index):
        arch, workload = PROBLEMS[index]
        return [str(self.source / "configs/arch" / f"{arch}.yaml"),
                str(self.source / "configs/workloads" / f"{workload}.yaml")]

    def verdicts(self, questions):
        """Of (kind, name, text, problem)."""
        with tempfile.TemporaryDirectory() as folder:
            lines = []
            for i, (kind, name, text, problem) in enumerate(questions):
                file = Path(folder) / f"{i}.yaml"
                file.write_text(text)
                lines.append("\t".join([kind, str(name), str(file), *self.problem(problem)]))
            run = subprocess.run([self.program], input="\n".join(lines) + "\n", text=True,
                                 capture_output=True, check=True)
        return run.stdout.splitlines()


def first_problems(probe, found):
    """Each document with the problem whose reader accepts it, or with the first."""
    chosen = [0] * len(found)
    verdicts = probe.verdicts([(*one, 0) for one in found])
    for index in range(1, len(PROBLEMS)):
        open_ones = [i for i, one in enumerate(found)
                     if one[0] in ("mapping", "constraints") and verdicts[i] != "accepted"]
        answers = probe.verdicts([(*found[i], index) for i in open_ones])
        for i, answer in zip(open_ones, answers):
            if answer == "accepted":
                chosen[i], verdicts[i] = index, answer
    return chosen, verdicts


def first_error(validator, document):
    return next(iter(validator.iter_errors(document)), None)


def main(program, source):
    schemas = {path.name.split(".")[0]: jsonschema.Draft7Validator(json.loads(path.read_text()))
               for path in (source / "configs/schema").glob("*.schema.json")}
    probe = Probe(program, source)
    found = list(documents(source))
    chosen, verdicts = first_problems(probe, found)
    loaded = [yaml.load(text, Loader=Loader) for _, _, text in found]
    cases = [(kind, name, "as it is", document, verdict)
             for (kind, name, _), document, verdict in zip(found, loaded, verdicts)]
    counts = {}
    questions, changed_ones = [], []
    for (kind, name, _), document, problem, verdict in zip(found, loaded, chosen, verdicts):
        if verdict == "accepted":
            for what, mutant in mutants(kind, document, counts):
                dumped = yaml.dump(mutant, Dumper=DUMPER, sort_keys=False, allow_unicode=True)
                questions.append((kind, name, dumped, problem))
                changed_ones.append((kind, name, what, mutant))
    cases += [(*one, answer) for one, answer in zip(changed_ones, probe.verdicts(questions))]
    wrong = 0
    accepted = 0
    for kind, name, what, document, verdict in cases:
        error = first_error(schemas[schema_kind(kind)], document)
        accepted += verdict == "accepted"
        if verdict == "accepted" and error:
            print(f"{name}: {what}: read, but the schema says {error.message[:160]}")
        elif verdict != "accepted" and not error and FORMAL.search(verdict) \
                and not BY_NAME.search(verdict):
            print(f"{name}: {what}: the schema accepts it, the reader says {verdict[:160]}")
        else:
            continue
        wrong += 1
    print(f"{len(found)} documents, {len(cases)} with their changes, {accepted} accepted: "
          f"{wrong} differences")
    # Without enough of them the check would see nothing.
    return wrong > 0 or len(found) < 150 or accepted < 1200


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
