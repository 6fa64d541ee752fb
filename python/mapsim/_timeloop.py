# SPDX-License-Identifier: Apache-2.0
"""Designs of Timeloop."""
from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Sequence, Union

from . import _arguments as kinds
from . import _mapsim
from ._arguments import arguments, as_read, wrong
from ._inputs import Arch, Named, Workload, is_name
from ._results import frame
from ._words import in_python


def _statistics(name: str, value: Any) -> str:
    if not is_name(value):
        raise wrong(name, "the file *.stats.txt that Timeloop wrote", value)
    return os.fspath(value)


class TimeloopDesign:
    """A design of Timeloop: the machine, layer, mapping and mapspace that its files have.

    >>> import mapsim, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "design.yaml")
    >>> with open(path, "w") as file:
    ...     _ = file.write('''
    ... arch:
    ...   arithmetic: {name: MAC, instances: 1, word_bits: 8}
    ...   storage:
    ...   - {name: RF, instances: 1, word_bits: 8, entries: 64}
    ...   - {name: DRAM, instances: 1, word_bits: 8, technology: DRAM}
    ... problem:
    ...   shape:
    ...     name: gemm
    ...     dimensions: [M, N, K]
    ...     data_spaces:
    ...     - {name: A, projection: [[[M]], [[K]]]}
    ...     - {name: B, projection: [[[K]], [[N]]]}
    ...     - {name: Z, projection: [[[M]], [[N]]], read_write: true}
    ...   instance: {M: 2, N: 3, K: 4}
    ... mapping:
    ... - {target: DRAM, type: temporal, factors: M=1 N=1 K=1, permutation: MNK}
    ... - {target: RF, type: temporal, factors: M=2 N=3 K=4, permutation: KNM}
    ... ''')
    >>> design = mapsim.import_timeloop(path)
    >>> design.arch, design.workload.macs, design.mapping.split()[0]
    (Arch('imported'), 24, 'mapping:')
    >>> mapsim.evaluate(design.arch, design.workload, design.mapping).latency_cycles
    24
    >>> best = mapsim.search(design.arch, design.workload, constraints=design.constraints)
    >>> best.certificate["status"], design.objective, len(design.notes) > 0
    ('optimal', 'energy', True)
    >>> design.compare("timeloop-model.stats.txt")
    Traceback (most recent call last):
        ...
    mapsim._errors.ConfigError: timeloop-model.stats.txt: cannot be opened: No such file or directory
    >>> folder.cleanup()
    """

    def __init__(self, handle: "_mapsim.ImportedTimeloop"):
        self._handle = handle
        self.arch: Optional[Arch] = Arch.from_yaml(handle.arch, "arch.yaml") if handle.arch else None
        self.workload: Optional[Workload] = (
            Workload.from_yaml(handle.workload, "workload.yaml") if handle.workload else None)
        self.mapping: str = handle.mapping  # YAML, for evaluate(); empty: the files have none
        self.constraints: str = handle.constraints  # YAML, for search(): the mapspace of the design
        self.objective: str = handle.objective or "energy"  # of the section `mapper`
        self.notes: List[str] = [*map(in_python, handle.notes)]  # what has no counterpart, or another meaning

    @arguments(statistics=_statistics, version=kinds.one_of("current", "2024", "2021", "2020"))
    def compare(self, statistics: Named, version: str = "current") -> Any:
        """Timeloop's figures beside ours, and the rules of Timeloop that explain each difference.

        `statistics`: the file that timeloop-model or timeloop-mapper wrote (*.stats.txt). `version`
        wrote it: "current", "2024" (before January 2025), "2021" or "2020". Energies are compared
        where the design has an ERT. The column `verdict` has "equal", "derived" (counting by `rules`
        gives Timeloop's figure) or "unexplained".
        """
        return frame(self._handle.compare(statistics, version))

    def __repr__(self) -> str:
        parts = [part for part in ("arch", "workload", "mapping") if getattr(self, part)]
        return f"TimeloopDesign({', '.join(parts)})"


def _files(name: str, value: Any) -> List[str]:
    """Paths of files and folders: one, or some."""
    listed = [value] if is_name(value) else value
    if not isinstance(listed, Sequence) or not listed or not all(map(is_name, listed)):
        raise wrong(name, "a file or folder of Timeloop, or a list of them", value)
    return [os.fspath(each) for each in listed]


@arguments(files=_files, settings=kinds.mapping("{'architecture': 'eyeriss_like'}"), counts_only=kinds.switch)
def import_timeloop(files: Union[Named, Sequence[Named]], settings: Optional[Mapping[str, Any]] = None,
                    counts_only: bool = False) -> TimeloopDesign:
    """Reads files of Timeloop together, in any order.

    `files`: architecture, problem, mapping (timeloop-mapper.map.yaml), mapspace, and the energies of
    Accelergy (timeloop-model.ERT.yaml), as import_timeloop(["top.yaml.jinja2", "map.yaml", "ERT.yaml"]).
    A folder stands for its files, which `notes` name; where it has several of a kind (two designs), the
    ValueError lists them, with calls that read one of each. `settings`: values of names in templates
    (top.yaml.jinja2). `counts_only`: without energies.

    >>> import_timeloop("nowhere.yaml")
    Traceback (most recent call last):
        ...
    mapsim._errors.ConfigError: nowhere.yaml: cannot be opened: No such file or directory
    """
    values = {name: str(value) for name, value in as_read(settings).items()}
    return TimeloopDesign(_mapsim.import_timeloop(as_read(files), values, counts_only))
