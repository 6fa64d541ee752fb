# SPDX-License-Identifier: Apache-2.0
"""Machines and layers."""
import json
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import _mapsim
from ._errors import ConfigError

_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_ ./*^+-]*\Z")


def configs_folders() -> List[str]:
    """Where the shipped files may be: here, then at and above this package."""
    here = ["configs"] if os.path.isdir("configs/arch") else []
    return here + _mapsim.configs_above(str(Path(__file__).resolve().parent))


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return repr(value)
    if hasattr(value, "item"):  # of numpy
        return _scalar(value.item())
    text = str(value)
    return text if _PLAIN.match(text) and not text.endswith(" ") else json.dumps(text)


def to_yaml(value: Any, indent: int = 0) -> str:
    """A dict as YAML, one key a line, so that errors have places that can be read."""
    pad = "  " * indent
    if isinstance(value, Mapping):
        lines = []
        for key, each in value.items():
            nested = isinstance(each, Mapping) and each
            lines.append(f"{pad}{_scalar(key)}:" + ("\n" + to_yaml(each, indent + 1) if nested
                                                    else f" {_flow(each)}\n"))
        return "".join(lines)
    return f"{pad}{_flow(value)}\n"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(each) for each in value) + "]"
    return _scalar(value)


def find(name: Union[str, os.PathLike], kind: str) -> str:
    """The file that a path or the name of a shipped file stands for."""
    path = _mapsim.find(os.fspath(name), kind, configs_folders())
    unknown = "" if os.path.exists(path) else _mapsim.unknown(path, kind, configs_folders())
    if unknown:
        raise ConfigError(f"{path}: {unknown}", [(path, 0, 0, "", unknown, "")])
    return path


def shipped(kind: str = "workloads") -> List[str]:
    """Names of the files that are shipped: of "arch", "workloads", "networks", "constraints"...

    >>> "eyeriss" in shipped("arch")
    True
    """
    return _mapsim.names(kind, configs_folders())


class Arch:
    """A machine, or a GPU: a value that is never changed. The file formats are in docs/formats.md.

    >>> Arch.load("teaching").set("Buffer.capacity", "64 KiB")
    Arch('teaching')
    """

    def __init__(self, handle: "_mapsim.Arch"):
        self._handle = handle
        self.name: str = handle.check()

    @classmethod
    def load(cls, name: Union[str, os.PathLike]) -> "Arch":
        """From a file, or a shipped one by its name."""
        return cls(_mapsim.Arch.load(find(name, "arch")))

    @classmethod
    def from_yaml(cls, text: str, name: str = "arch") -> "Arch":
        """From the text of an architecture file; `name` stands for the file in errors."""
        return cls(_mapsim.Arch.parse(text, name))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], name: str = "arch") -> "Arch":
        """From the keys and values of an architecture file."""
        return cls.from_yaml(to_yaml(values), name)

    def set(self, path: str, value: Any) -> "Arch":
        """The machine with another value at `path`: "Buffer.capacity", "nodes[1].word".

        >>> Arch.load("teaching").set("Bufer.capacity", "64 KiB")
        Traceback (most recent call last):
            ...
        ValueError: 'Bufer.capacity': there is no 'Bufer' in nodes; did you mean 'Buffer'?
        """
        changed = self._handle.copy()
        changed.set(path, to_yaml(value))
        return Arch(changed)

    @property
    def is_gpu(self) -> bool:
        return self._handle.is_gpu

    @property
    def yaml(self) -> str:
        """Its architecture file, in one line."""
        return self._handle.yaml

    @property
    def figure(self) -> str:
        """The machine as SVG."""
        return self._handle.svg()

    def _repr_html_(self) -> Optional[str]:
        return None if self.is_gpu else self.figure

    def __repr__(self) -> str:
        return f"Arch({self.name!r})"


Size = Union[int, Tuple[int, int], List[int]]


def _pair(size: Size) -> List[int]:
    return [size, size] if isinstance(size, int) else list(size)


_WIDTHS = {"input": "8 b", "weight": "8 b", "output": "8 b", "partial": "32 b"}


class Workload:
    """A layer: an extended einsum. Operands and outputs have 8 bits and sums 32 unless `precision`
    says otherwise, as in the layers that are shipped.

    >>> Workload.load("resnet50/conv2_3x3").macs
    115605504
    >>> Workload.gemm(64, 64, 128).dims
    {'M': 64, 'N': 64, 'K': 128}
    >>> Workload.einsum("O[m] += A[m][k] * B[k]", m=8, k=4).equation
    'O[m] += A[m][k] * B[k]'
    """

    def __init__(self, handle: "_mapsim.Workload"):
        self._handle = handle

    @classmethod
    def load(cls, name: Union[str, os.PathLike]) -> "Workload":
        """From a file, a shipped one by its name, or inline: "gemm:64x64x128"."""
        return cls(_mapsim.Workload.load(find(name, "workloads")))

    @classmethod
    def from_yaml(cls, text: str, name: str = "workload") -> "Workload":
        """From the text of a workload file; `name` stands for the file in errors."""
        return cls(_mapsim.Workload.parse(text, name))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], name: str = "workload") -> "Workload":
        """From the keys and values of a workload file."""
        return cls.from_yaml(to_yaml(values), name)

    @classmethod
    def _of(cls, name: str, kind: str, values: Mapping[str, Any],
            precision: Optional[Mapping[str, str]]) -> "Workload":
        return cls.from_dict({"name": name, kind: values, "precision": precision or _WIDTHS})

    @classmethod
    def gemm(cls, m: int, n: int, k: int, batch: Optional[int] = None, name: str = "gemm",
             precision: Optional[Mapping[str, str]] = None) -> "Workload":
        """Z[M][N] += A[M][K] * B[K][N]; with a batch, as many of them."""
        batched = {} if batch is None else {"batch": batch}
        return cls._of(name, "gemm" if batch is None else "batched_gemm",
                       {**batched, "m": m, "n": n, "k": k}, precision)

    @classmethod
    def conv(cls, in_channels: int, size: Size, out_channels: int, kernel: Size, stride: Size = 1,
             padding: Union[Size, str] = 0, dilation: Size = 1, groups: int = 1, batch: int = 1,
             name: str = "conv", precision: Optional[Mapping[str, str]] = None) -> "Workload":
        """A 2-D convolution of an input of `size` (height, width); padding="same" keeps it.

        >>> Workload.conv(64, 56, 64, 3, padding=1).macs
        115605504
        """
        return cls._of(name, "conv2d", {
            "batch": batch, "in_channels": in_channels, "input": _pair(size),
            "out_channels": out_channels, "kernel": _pair(kernel), "stride": _pair(stride),
            "padding": padding if isinstance(padding, str) else _pair(padding),
            "dilation": _pair(dilation), "groups": groups}, precision)

    @classmethod
    def einsum(cls, equation: str, dims: Optional[Mapping[str, int]] = None, name: str = "einsum",
               precision: Optional[Mapping[str, str]] = None, **more: int) -> "Workload":
        """Any extended einsum; the extents of its dims as a dict, or by name."""
        return cls._of(name, "einsum", {"equation": equation, "dims": {**(dims or {}), **more}},
                       precision)

    @property
    def name(self) -> str:
        return self._handle.name

    @property
    def macs(self) -> int:
        return self._handle.macs

    @property
    def dims(self) -> Dict[str, int]:
        return self._handle.dims

    @property
    def equation(self) -> str:
        return self._handle.equation

    @property
    def yaml(self) -> str:
        """Its workload file."""
        return self._handle.yaml

    def __repr__(self) -> str:
        return f"Workload({self.name!r}: {self.equation})"


def arch_of(arch: Union[Arch, str, os.PathLike]) -> Arch:
    return arch if isinstance(arch, Arch) else Arch.load(arch)


def workload_of(workload: Union[Workload, str, os.PathLike]) -> Workload:
    return workload if isinstance(workload, Workload) else Workload.load(workload)


def text_of(value: Union[None, str, os.PathLike, Mapping[str, Any]],
            kind: str) -> Tuple[str, str]:
    """A text and its name: of a dict, of YAML (it has several lines, or a key), or of a file."""
    if value is None:
        return "", kind
    if isinstance(value, Mapping):
        return to_yaml(value), kind
    text = os.fspath(value)
    if "\n" in text or ": " in text:
        return text, kind
    return _read(find(text, kind))


def table_of(value: Union[str, os.PathLike]) -> Tuple[str, str]:
    """The text of a table and its name: of the text itself (it has several lines), or of a file."""
    text = os.fspath(value)
    return (text, "table") if "\n" in text else _read(text)


def _read(path: str) -> Tuple[str, str]:
    try:
        return Path(path).read_text(encoding="utf-8"), path
    except OSError as error:
        message = f"cannot be opened: {error.strerror}"
        raise ConfigError(f"{path}: {message}", [(path, 0, 0, "", message, "")]) from error
