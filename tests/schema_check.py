#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which shipped YAML files do not satisfy the JSON Schema of their folder; exit 1 if any.

usage: schema_check.py CONFIGS SCHEMAS
"""
import json
import os
import sys
from pathlib import Path

import jsonschema
import yaml

KINDS = {"arch": "arch", "campaigns": "campaign", "chains": "chain", "constraints": "constraints", "mappings": "mapping",
         "networks": "network", "soc": "soc", "trees": "tree", "workloads": "workload"}
# Libyaml's loader where there is one: ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def validators(schemas):
    for kind in KINDS.values():
        schema = json.loads((schemas / f"{kind}.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        yield kind, jsonschema.Draft7Validator(schema)


def file_problems(path, schema, validator):
    text = path.read_text()
    modeline = f"# yaml-language-server: $schema={os.path.relpath(schema, path.parent)}"
    if modeline not in text.splitlines()[:2]:
        yield f"the first lines lack '{modeline}'"
    try:
        document = yaml.load(text, Loader=LOADER)
    except yaml.YAMLError as error:
        yield f"not YAML: {error}"
        return
    for error in validator.iter_errors(document):
        where = "/".join(str(key) for key in error.absolute_path) or "the document"
        yield f"{where}: {error.message}"


def problems(configs, schemas):
    by_kind = dict(validators(schemas))
    for path in sorted(configs.rglob("*.yaml")):
        if path.is_symlink():  # an old path of a file that is checked where it is
            continue
        name = path.relative_to(configs)
        kind = KINDS.get(name.parts[0])
        if kind is None:
            yield f"{name}: no schema for this folder"
            continue
        for problem in file_problems(path, schemas / f"{kind}.schema.json", by_kind[kind]):
            yield f"{name}: {problem}"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]), Path(sys.argv[2])))
    print("\n".join(found) or "all files satisfy their schemas")
    sys.exit(bool(found))
