# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, as exceptions."""
from typing import List, NamedTuple


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
        super().__init__(text)
        self.diagnostics: List[Diagnostic] = [Diagnostic(*each) for each in diagnostics]


class UnsupportedSearch(Error, ValueError):
    """What no strategy, or not this one, can search. The text says what can be done instead."""
