# SPDX-License-Identifier: Apache-2.0
"""Texts of the compiled part, which name what the command line has, in the words of this module."""
import re

# In this order; an option without a row of its own is the argument of its name.
_ROWS = [(re.compile(pattern), python) for pattern, python in [
    (r"--set ([\w.]+)=(\S+)", r"settings={'\1': '\2'}"),
    (r"--dim (\w+)=(\w+)", r"dims={'\1': \2}"),
    (r"--dim (\S+):", r"dims: '\1':"),
    (r"--ert FILE takes Accelergy's", "ERT.yaml among the files takes Accelergy's"),
    (r"--ert FILE takes a table", "a table among the files is taken"),
    (r"--gpu NAME", "rows_of='NAME'"),
    (r"--precision NAME", "precision='NAME'"),
    (r"--problem MxNxK", "problem=(M, N, K)"),
    (r"--(strategy|latency) (exact|steady)\b", r"\1='\2'"),
    (r"--(operand|shared)-(bits|loops) (\d+)", r"\1_\2=\3"),
    (r"'mapsim search --even'", "mapsim.search(even=True)"),
    (r"'mapsim search' without --imperfect", "mapsim.search() without imperfect=True"),
    (r"--(even|imperfect|fuse|sparse)\b", r"\1=True"),
    (r"belongs below a line '(\w+):', indented", r"belongs below the key '\1'"),
    (r"--counts-only\b", "counts_only=True"),
    (r"mapsim (?:plan|search) --certificate", "save_certificate() of an answer"),
    (r"--save-mapping FILE of mapsim search writes the mapping, and --json a result",
     "`mapping` of a Result is the mapping, and `json` all of it"),
    (r"a result that --json wrote", "the `json` of an answer"),
    (r"\(--json has all\)", "(`json` has all)"),
    (r"it is the (ARCH|WORKLOAD) of mapsim search and others",
     lambda row: f"it is the {row[1].lower()} of mapsim.search() and others"),
    (r"mapsim search, eval and simulate read it", "mapsim.fuse() reads it"),
    (r"it is the SOC of mapsim plan", "it is the chip of mapsim.plan()"),
    (r"mapsim eval and mapsim simulate", "mapsim.evaluate() and mapsim.simulate()"),
    (r"mapsim import timeloop reads", "mapsim.import_timeloop() reads"),
    (r"mapsim import gpu-table reads", "mapsim.predict() reads"),
    (r"mapsim (network|check|search|plan) (reads|minimises)", r"mapsim.\1() \2"),
    (r"\(mapsim list networks\)", "(mapsim.shipped('networks'))"),
    (r"--([a-z][a-z-]+)", lambda row: row[1].replace("-", "_") + "="),
]]


def in_python(text: str) -> str:
    """A text of the compiled part, in the words of this module.

    >>> in_python("memory was short (--memory); --operand-bits 8 takes the model as quantised to them")
    'memory was short (memory=); operand_bits=8 takes the model as quantised to them'
    >>> in_python("'bits' has no value; --set bits=VALUE gives it one")
    "'bits' has no value; settings={'bits': 'VALUE'} gives it one"
    """
    for pattern, python in _ROWS:
        text = pattern.sub(python, text)
    return text
