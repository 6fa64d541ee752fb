#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results_keys.md, the keys of --json command by command, from the JSON schemas of the results and from
results_keys.yaml, which has their meanings. A key without a meaning, or a meaning without a key, is an error.

usage: results_reference.py SCHEMAS PAGE            write the page
       results_reference.py --check SCHEMAS PAGE    exit 1 unless it is current
"""
import json
import re
import sys
from pathlib import Path

import yaml

from yaml_reference import cell, rows

# Forms of an answer that are told from that of a layer; front, "nothing fits" and plans' forms are not.
FORMS = {"of a chain": "chain", "on a GPU": "GPU", "of a plan": "plan", "of designs": "designs",
         "of a fused network": "network"}
HEADINGS = {"": "", "chain": ", of a chain", "GPU": ", on a GPU", "plan": ", of a plan", "designs": ", of designs",
            "network": ", of a fused network"}
ONE_FORM = {"calibrate", "microbench", "predict", "validate"}  # commands for GPUs alone
HEAD = """# Keys of results

<!-- Made by tools/results_reference.py from configs/schema/results and tools/results_keys.yaml; do not edit. -->

Every key of what each command prints with `--json`. [Results for programs](results.md) is the guide to them.
`a.{b,c}` stands for `a.b` and `a.c`, `a[]` for an item of a list, `*` for any name. Energies are in pJ (`_pj`),
times in cycles (`_cycles`) or seconds (`_seconds`, `_s`), widths in bits.
"""


def split_keys(keys):
    return re.split(r", (?![^{]*\})", keys)


def expanded(keys):
    """The single keys that `a.{b,c}, d` stands for."""
    for key in split_keys(keys):
        pending = [key]
        while pending:
            key = pending.pop(0)
            braces = re.search(r"\{([^{}]*)\}", key)
            if braces:
                pending += [key[:braces.start()] + choice + key[braces.end():] for choice in braces[1].split(",")]
            else:
                yield key


def pattern(key):
    return re.compile(re.escape(key).replace(r"\*", r"[^.]+"))


def paths_of(schemas):
    """{(command, form): its keys, in the order of the schema}, the columns of a database and empty maps left out."""
    found = {}
    for path in sorted(schemas.glob("*.json")):
        schema = json.loads(path.read_text())
        command = path.name.split(".")[0]
        for answer in schema["anyOf"]:
            form = "" if command in ONE_FORM else FORMS.get(answer["title"], "")
            keys = found.setdefault((command, form), {})
            for key, _, kind, _ in rows(answer, schema, "", False, frozenset()):
                if not (command == "results" and key.startswith("points[].")):
                    keys[key] = kind
    return found


def is_in(of, command, form):
    return "every" in of or f"{command} {form}".strip() in of


class Row:
    def __init__(self, keys, meaning, rare=""):
        self.keys, self.meaning, self.rare = keys, meaning, bool(rare)
        self.singles = list(expanded(keys))
        self.used = set()

    def shown(self, paths):
        """The keys of this row that an answer has, as the row writes them if it has all."""
        there = [key for key in self.singles if any(pattern(key).fullmatch(path) for path in paths)]
        self.used |= set(there)
        if self.rare or len(there) == len(self.singles):
            return self.keys
        return ", ".join(there)


def covered(path, patterns):
    """A key, or one that it stands in: what a list or map is, is said by what is in it or by itself."""
    parts = path.split(".")
    return any(one.fullmatch(".".join(parts[:end])) for end in range(1, len(parts) + 1) for one in patterns)


def page(schemas, topics):
    text, problems = HEAD, []
    for (command, form), paths in sorted(paths_of(schemas).items(), key=lambda answer: answer[0]):
        text += f"\n## {command}{HEADINGS[form]}\n\n| keys | meaning |\n|---|---|\n"
        patterns = []
        for topic, table in topics:
            if not is_in(topic, command, form):
                continue
            for row in table:
                patterns += map(pattern, row.singles)
                shown = row.shown(paths)
                if shown:
                    text += f"| {', '.join(f'`{key}`' for key in split_keys(shown))} | {cell(row.meaning)} |\n"
        for path, kind in paths.items():
            inner = any(other.startswith((path + ".", path + "[]")) for other in paths)
            if not inner and not covered(path, patterns):
                problems.append(f"{command} {form}: no meaning of {path} ({kind})")
    for _, table in topics:
        for row in table:
            missing = [] if row.rare else [key for key in row.singles if key not in row.used]
            problems += [f"no schema has {key}: {row.meaning}" for key in missing]
            if row.rare and row.used:
                problems.append(f"a schema has {sorted(row.used)[0]}, which is called rare")
    return text, problems


def main(arguments):
    check = arguments[:1] == ["--check"]
    if len(arguments) != 2 + check:
        sys.exit(__doc__)
    schemas, target = map(Path, arguments[check:])
    meanings = yaml.safe_load((Path(__file__).parent / "results_keys.yaml").read_text())
    topics = [(topic["of"], [Row(*row) for row in topic["rows"]]) for topic in meanings]
    text, problems = page(schemas, topics)
    if problems:
        sys.exit("\n".join([*problems[:20], f"{len(problems)} problems"]))
    if not check:
        target.write_text(text)
    elif target.read_text() != text:
        sys.exit(f"{target} is not current; run tools/results_reference.py {schemas} {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
