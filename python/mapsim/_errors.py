# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as exceptions."""
from typing import List, NamedTuple

from ._words import in_python


class Diagnostic(NamedTuple):
    """One thing that is wrong with an input, and where."""

    file: str
    line: int  # from 1; 0: the file as a whole
    column: int  # from 1, in bytes
    path: str  # of the value inside the document: nodes[0].capacity; may be empty
    message: str
    source: str  # the line


class Error(Exception):
    """All errors of mapsim's own."""


class ConfigError(Error, ValueError):
    """An input that cannot be read. The text shows each place with a caret; `diagnostics` has them.

    >>> import mapsim
    >>> try:
    ...     mapsim.Workload.from_yaml("name: a\\ngemm: {m: 4, n: 4, k: 0}\\n")
    ... except mapsim.ConfigError as error:
    ...     error.diagnostics[0].line, error.diagnostics[0].column
    (2, 23)
    """

    def __init__(self, text: str, diagnostics=()):
        self.diagnostics: List[Diagnostic] = []
        for each in map(Diagnostic._make, diagnostics):
            message = in_python(each.message)  # not the line of the file
            text = text.replace(each.message, message)
            self.diagnostics.append(each._replace(message=message))
        super().__init__(text)


class UnsupportedSearch(Error, ValueError):
    """What no strategy, or not this one, can search. The text says what can be done instead.

    >>> import mapsim
    >>> try:
    ...     mapsim.fuse("teaching_flat", "teaching_convs", latency="ramped")
    ... except mapsim.UnsupportedSearch as error:
    ...     print(error)
    chains are timed in the steady state, so far: latency='steady'
    """

    def __init__(self, text: str):
        super().__init__(in_python(text))
