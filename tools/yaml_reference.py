#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/yaml.md, the reference of the YAML files, from their JSON Schemas.

usage: yaml_reference.py SCHEMAS PAGE            write the page
       yaml_reference.py --check SCHEMAS PAGE    exit 1 unless it is current
"""
import json
import sys
from pathlib import Path

KINDS = ["arch", "workload", "mapping", "constraints", "network", "chain", "tree", "campaign", "soc"]
# What patterns of texts mean, by how they end.
QUANTITIES = [
    ("/(cycle|s)$", "bandwidth: `16 B/cycle`, `4.8 GB/s`"),
    ("J/(word|B|b)$", "energy per access: `1.2 pJ/word`"),
    ("[um]m2(/[bB])?$", "area: `0.1 mm2`, `0.2 um2/b`"),
    ("[um]m2$", "area: `0.1 mm2`"),
    ("Hz$", "frequency: `200 MHz`"),
    ("W$", "power: `3 mW`"),
    ("J$", "energy: `1.2 pJ`"),
    ("[bB]$", "size: `64 KiB`, `12 b`"),
    ("[mun]?s$", "time: `5 us`"),
    ("^[A-Za-z_][A-Za-z0-9_.-]*$", "name"),
]
HEAD = """# YAML reference

<!-- Made by tools/yaml_reference.py from configs/schema; do not edit. -->

Every key of every kind of file. [formats.md](formats.md) explains them with examples. Bold keys must be there. A path
is a key in a map (`a.b`), an item of a list (`a[]`), or any key (`a.*`).

**In an editor.** A comment at the head of a file names its schema; the shipped files have it in their second line:
`# yaml-language-server: $schema=../schema/arch.schema.json` (or a full path). VS Code with the extension YAML
(`redhat.vscode-yaml`), and every editor with `yaml-language-server`, then completes keys, shows what they mean and marks
what is wrong. Without the comment, in VS Code's `settings.json`:
`"yaml.schemas": {"/path/to/mapsim/configs/schema/campaign.schema.json": "*campaign*.yaml"}`.
"""


def resolved(node, schema):
    """The node with what it refers to; its own words win."""
    while "$ref" in node:
        target = schema
        for key in node["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def words(value):
    return json.dumps(value) if not isinstance(value, str) else f"`{value}`"


def kind_of(node, schema):
    node = resolved(node, schema)
    if "const" in node:
        return words(node["const"])
    if "enum" in node:
        return ", ".join(words(value) for value in node["enum"])
    for key in ("oneOf", "anyOf"):
        if key in node and "properties" not in node:
            kinds = [kind_of(choice, schema) for choice in node[key]]
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind))
    kind = node.get("type", "map" if "properties" in node else "")
    if isinstance(kind, list):
        kind = " or ".join(kind)
    kind = {"object": "map", "string": "text", "array": "list", "integer": "whole number"}.get(kind, kind)
    if "minimum" in node or "maximum" in node:
        kind += f", {node.get('minimum', '')} to {node.get('maximum', '')}".replace(" to ,", "")
        kind = kind.removesuffix(" to ") + (" or more" if "maximum" not in node else "")
    if "exclusiveMinimum" in node:
        kind = kind.replace(",  to", f", above {node['exclusiveMinimum']} to")
    if "pattern" in node:
        known = [meaning for end, meaning in QUANTITIES if node["pattern"].endswith(end)]
        kind = known[0] if known else f"{kind} `{node['pattern']}`"
    return kind


def rows(node, schema, path, required, seen):
    """(path, required, kind, description) of a node and all below it, in the order of the schema."""
    reference = node.get("$ref")
    node = resolved(node, schema)
    if path:
        yield path, required, kind_of(node, schema), node.get("description", "")
    if reference in seen:
        return
    seen = seen | {reference} if reference else seen
    for key in ("oneOf", "anyOf", "allOf"):
        for choice in node.get(key, []):
            yield from (row for row in rows(choice, schema, path, required, seen) if row[0] != path)
    branches = [set(choice.get("required", [])) for choice in node.get("oneOf", [])]
    always = set.intersection(*branches) if branches else set()  # whichever of them it is
    for key, child in node.get("properties", {}).items():
        must = key in node.get("required", []) or key in always
        if isinstance(child, dict):
            yield from rows(child, schema, f"{path}.{key}" if path else key, must, seen)
    others = [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]
    for other in others:
        if isinstance(other, dict):
            yield from rows(other, schema, f"{path}.*" if path else "*", False, seen)
    items = node.get("items")
    if isinstance(items, dict):
        yield from (row for row in rows(items, schema, path + "[]", False, seen)
                    if row[0] != path + "[]" or row[2] not in ("map", "text") or row[3])


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def page(schemas):
    text = HEAD
    for kind in KINDS:
        schema = json.loads((schemas / f"{kind}.schema.json").read_text())
        title = schema["title"].removeprefix("mapsim ").capitalize()
        text += f"\n## {title}\n\n{schema.get('description', '')}.\n\n| key | value | meaning |\n|---|---|---|\n"
        done = set()
        for path, required, value, meaning in rows(schema, schema, "", False, frozenset()):
            line = (path, value, meaning)
            if line not in done:
                done.add(line)
                name = f"**`{path}`**" if required else f"`{path}`"
                text += f"| {name} | {cell(value)} | {cell(meaning)} |\n"
    return text


def main(arguments):
    check = arguments[:1] == ["--check"]
    if len(arguments) != 2 + check:
        sys.exit(__doc__)
    schemas, target = map(Path, arguments[check:])
    text = page(schemas)
    if not check:
        target.write_text(text)
    elif target.read_text() != text:
        sys.exit(f"{target} is not current; run tools/yaml_reference.py {schemas} {target}")


if __name__ == "__main__":
    main(sys.argv[1:])
