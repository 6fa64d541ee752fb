# SPDX-License-Identifier: Apache-2.0
"""Machines and layers."""
import json
import os
import re
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from . import _arguments as kinds
from . import _mapsim
from ._arguments import Kind, arguments, told, wrong
from ._errors import ConfigError

Named = Union[str, "os.PathLike[str]"]  # a file, or a shipped one by its name
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


def find(name: Named, kind: str) -> str:
    """The file that a path or the name of a shipped file stands for."""
    path = _mapsim.find(os.fspath(name), kind, configs_folders())
    unknown = "" if os.path.exists(path) else _mapsim.unknown(path, kind, configs_folders())
    if unknown:
        others = [other for other in _KINDS if other != kind and path in shipped(other)]
        if others:
            unknown = f"a name of shipped({others[0]!r}); one of shipped({kind!r}) is needed here"
        raise ConfigError(f"{path}: {unknown}", [(path, 0, 0, "", unknown, "")])
    return path


_KINDS = ("machines", "gpus", "layers", "chains", "networks", "constraints", "mappings", "campaigns", "chips")


@arguments(kind=kinds.one_of(*_KINDS))
def shipped(kind: str = "layers") -> List[str]:
    """Names of the files that are shipped. `kind`, as for `mapsim list`: "machines", "gpus", "layers",
    "chains", "networks", "constraints", "mappings", "campaigns" or "chips".

    >>> "eyeriss" in shipped("machines"), "h100_sxm" in shipped("gpus")
    (True, True)
    """
    names = _mapsim.names(kind, configs_folders())
    if kind not in ("machines", "gpus"):
        return names
    return [name for name in names if Arch.load(name).is_gpu == (kind == "gpus")]


def is_name(value: Any) -> bool:
    """Whether a value can be the path of a file, or a name."""
    return isinstance(value, (str, os.PathLike)) and bool(os.fspath(value))


def file_of(kind: str, what: str) -> Kind:
    """The path of a file of a kind, given by that path or by the name of a shipped one."""
    def read(name: str, value: Any) -> str:
        if not is_name(value):
            raise wrong(name, f"{what}: a file, or a name of shipped({kind!r})", value)
        return find(value, kind)
    return read


def content(maker: str) -> Kind:
    """The text of a file. `maker`: what reads files, for errors."""
    def read(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise wrong(name, "the text of a YAML file", value)
        if value and ":" not in value:
            raise ValueError(f"{name}: {told(value)} is no YAML; {maker}.load() takes files and names")
        return value
    return read


def _values(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise wrong(name, "a dict of the keys of a file", value)
    return value


def _value(name: str, value: Any) -> Any:
    """What YAML can hold, a number of numpy too."""
    if not isinstance(value, (str, int, float, Mapping, list, tuple)) and not hasattr(value, "item"):
        raise wrong(name, "a value such as '64 KiB'", value)
    return value


class Arch:
    """A machine, or a GPU: a value that is never changed. The file formats are in docs/formats.md.
    It can be pickled, as multiprocessing does; so can a Workload.

    >>> arch = Arch.load("teaching")
    >>> arch.set("Buffer.capacity", "64 KiB")
    Arch('teaching')
    >>> Arch.from_yaml(arch.yaml)
    Arch('teaching')
    >>> Arch.from_dict({"name": "tiny", "clock": "1 GHz", "nodes": [
    ...     {"storage": "DRAM", "capacity": "unlimited", "word": "8 b", "energy": {"read": "100 pJ/word", "write": "100 pJ/word"}},
    ...     {"compute": "MAC", "energy": "1 pJ"}]})
    Arch('tiny')
    >>> arch.is_gpu, Arch.load("h100_sxm").is_gpu, arch.figure[:4]
    (False, True, '<svg')
    """

    def __init__(self, handle: "_mapsim.Arch"):
        if not isinstance(handle, _mapsim.Arch):
            raise TypeError(f"Arch.load({told(handle)}) reads a file or a shipped machine")
        self._handle = handle
        self.name: str = handle.check()

    @classmethod
    @arguments(name=file_of("machines", "a machine"))
    def load(cls, name: Named) -> "Arch":
        """From a file, or a shipped one by its name."""
        return cls(_mapsim.Arch.load(os.fspath(name)))

    @classmethod
    @arguments(text=content("Arch"), name=kinds.text("arch"))
    def from_yaml(cls, text: str, name: str = "arch") -> "Arch":
        """From the text of an architecture file; `name` stands for the file in errors."""
        return cls(_mapsim.Arch.parse(text, name))

    @classmethod
    @arguments(values=_values, name=kinds.text("arch"))
    def from_dict(cls, values: Mapping[str, Any], name: str = "arch") -> "Arch":
        """From the keys and values of an architecture file; `name` stands for the file in errors."""
        return cls.from_yaml(to_yaml(values), name)

    @arguments(path=kinds.text("Buffer.capacity", needed=True), value=_value)
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
        """Whether it is a GPU, for kernels(); else search() takes it."""
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

    def __reduce__(self) -> Tuple[Any, ...]:
        return Arch.from_yaml, (self.yaml, self._handle.file)

    def __repr__(self) -> str:
        return f"Arch({self.name!r})"


Size = Union[int, Tuple[int, int], List[int]]


def _pair(low: int) -> Kind:
    """Of height and width, which are the same where one number is given."""
    def read(name: str, value: Any) -> List[int]:
        if isinstance(value, (tuple, list)) and len(value) == 2:
            return [kinds.whole(low)(name, each) for each in value]
        if hasattr(value, "__index__"):
            return [kinds.whole(low)(name, value)] * 2
        raise wrong(name, "a whole number, or a pair (height, width)", value)
    return read


def _padding(name: str, value: Any) -> Union[str, List[int]]:
    return kinds.one_of("same")(name, value) if isinstance(value, str) else _pair(0)(name, value)


_EXTENT = kinds.whole(1)
_SIZE = _pair(1)
_WIDTHS = {"input": "8 b", "weight": "8 b", "output": "8 b", "partial": "32 b"}
_OF_ALL: Dict[str, Any] = {"name": kinds.text("gemm"), "precision": kinds.mapping("{'input': '16 b', 'weight': '8 b'}")}


class Workload:
    """A layer: an extended einsum.

    gemm(), conv(), einsum() and inline layers ("gemm:64x64x128") have operands and outputs of 8 bits and
    partial sums of 32, as the shipped layers have; `precision` gives other widths. In a file, in YAML
    and in from_dict() partial sums have by default the width of the output.

    >>> Workload.load("resnet50/conv2_3x3").macs
    115605504
    >>> Workload.gemm(64, 64, 128).dims
    {'M': 64, 'N': 64, 'K': 128}
    >>> Workload.einsum("O[m] += A[m][k] * B[k]", m=8, k=4).equation
    'O[m] += A[m][k] * B[k]'
    >>> Workload.from_dict({"name": "fc", "gemm": {"m": 8, "n": 8, "k": 4}}).name
    'fc'
    >>> same = Workload.from_yaml(Workload.gemm(8, 8, 4).yaml)
    >>> same.macs
    256
    """

    def __init__(self, handle: "_mapsim.Workload"):
        if not isinstance(handle, _mapsim.Workload):
            raise TypeError(f"Workload.load({told(handle)}) reads a file or a shipped layer")
        self._handle = handle

    @classmethod
    @arguments(name=file_of("layers", "a layer"))
    def load(cls, name: Named) -> "Workload":
        """From a file, a shipped one by its name, or inline: "gemm:64x64x128"."""
        return cls(_mapsim.Workload.load(os.fspath(name)))

    @classmethod
    @arguments(text=content("Workload"), name=kinds.text("workload"))
    def from_yaml(cls, text: str, name: str = "workload") -> "Workload":
        """From the text of a workload file; `name` stands for the file in errors."""
        return cls(_mapsim.Workload.parse(text, name))

    @classmethod
    @arguments(values=_values, name=kinds.text("workload"))
    def from_dict(cls, values: Mapping[str, Any], name: str = "workload") -> "Workload":
        """From the keys and values of a workload file; `name` stands for the file in errors."""
        return cls.from_yaml(to_yaml(values), name)

    @classmethod
    def _of(cls, name: str, kind: str, values: Mapping[str, Any],
            precision: Optional[Mapping[str, str]]) -> "Workload":
        return cls.from_dict({"name": name, kind: values, "precision": precision or _WIDTHS})

    @classmethod
    @arguments(m=_EXTENT, n=_EXTENT, k=_EXTENT, batch=kinds.optional(_EXTENT), **_OF_ALL)
    def gemm(cls, m: int, n: int, k: int, batch: Optional[int] = None, name: str = "gemm",
             precision: Optional[Mapping[str, str]] = None) -> "Workload":
        """Z[M][N] += A[M][K] * B[K][N]; with a `batch`, as many of them.

        `precision`: {"input": "16 b", "partial": "32 b"}, for example; by default operands and
        outputs have 8 bits, and sums 32. `name`: what results call the layer.

        >>> Workload.gemm(64, 64, 128, batch=12, precision={"input": "16 b", "partial": "32 b"}).macs
        6291456
        """
        batched = {} if batch is None else {"batch": batch}
        return cls._of(name, "gemm" if batch is None else "batched_gemm",
                       {**batched, "m": m, "n": n, "k": k}, precision)

    @classmethod
    @arguments(in_channels=_EXTENT, size=_SIZE, out_channels=_EXTENT, kernel=_SIZE, stride=_SIZE,
               padding=_padding, dilation=_SIZE, groups=_EXTENT, batch=_EXTENT, **_OF_ALL)
    def conv(cls, in_channels: int, size: Size, out_channels: int, kernel: Size, stride: Size = 1,
             padding: Union[Size, str] = 0, dilation: Size = 1, groups: int = 1, batch: int = 1,
             name: str = "conv", precision: Optional[Mapping[str, str]] = None) -> "Workload":
        """A 2-D convolution of an input of `size` (height, width); padding="same" keeps it.

        `kernel`, `stride`, `padding` and `dilation` are one number, or height and width. `groups`:
        of channels; `batch`: inputs at a time. `precision` and `name` as of gemm().

        >>> Workload.conv(64, 56, 64, 3, padding=1).macs
        115605504
        """
        return cls._of(name, "conv2d", {
            "batch": batch, "in_channels": in_channels, "input": size, "out_channels": out_channels,
            "kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation,
            "groups": groups}, precision)

    @classmethod
    @arguments(equation=kinds.text("O[m] += A[m][k] * B[k]", needed=True),
               dims=kinds.mapping("{'m': 8}", _EXTENT), **_OF_ALL)
    def einsum(cls, equation: str, dims: Optional[Mapping[str, int]] = None, name: str = "einsum",
               precision: Optional[Mapping[str, str]] = None, **more: int) -> "Workload":
        """Any extended einsum; the extents of its dims as a dict (`dims`), or by name.

        The equation is written with the names of tensors and dims, or in numpy's notation, where
        operands are called A, B, ... and the result Z. `precision` and `name` as of gemm().

        >>> Workload.einsum("ik,kj->ij", i=64, j=64, k=32)
        Workload('einsum': Z[i][j] += A[i][k] * B[k][j])
        """
        return cls._of(name, "einsum", {"equation": equation, "dims": {**(dims or {}), **more}},
                       precision)

    @property
    def name(self) -> str:
        """What results call the layer."""
        return self._handle.name

    @property
    def macs(self) -> int:
        """Multiply-accumulate operations of the layer, zeros included."""
        return self._handle.macs

    @property
    def dims(self) -> Dict[str, int]:
        """The extent of each dim."""
        return self._handle.dims

    @property
    def equation(self) -> str:
        """The einsum, with the index of each operand: 'O[m] += A[m][k] * B[k]'."""
        return self._handle.equation

    @property
    def yaml(self) -> str:
        """Its workload file."""
        return self._handle.yaml

    def __reduce__(self) -> Tuple[Any, ...]:
        return Workload.from_yaml, (self.yaml, self.name)

    def __repr__(self) -> str:
        return f"Workload({self.name!r}: {self.equation})"


def _read_arch(name: str, value: Any) -> Arch:
    if not isinstance(value, Arch) and not is_name(value):
        raise wrong(name, "a machine: an Arch, a file, or a name of shipped('machines')", value)
    return value if isinstance(value, Arch) else Arch.load(value)


def machine(name: str, value: Any) -> Arch:
    """What mappings are searched for."""
    arch = _read_arch(name, value)
    if arch.is_gpu:
        raise ValueError(f"{name}: {arch.name!r} is a GPU; kernels() ranks its kernels for a layer, and "
                         "network() takes a whole network")
    return arch


def gpu(name: str, value: Any) -> Arch:
    arch = _read_arch(name, value)
    if not arch.is_gpu:
        raise ValueError(f"{name}: {arch.name!r} is no GPU, such as 'h100_sxm'; search() takes such machines")
    return arch


def machine_or_gpu(name: str, value: Any) -> Arch:
    return _read_arch(name, value)


def layer(name: str, value: Any) -> Workload:
    if not isinstance(value, Workload) and not is_name(value):
        raise wrong(name, "a layer: a Workload, a file, a name of shipped('layers'), or 'gemm:64x64x128'",
                    value)
    return value if isinstance(value, Workload) else Workload.load(value)


def layers(name: str, value: Any) -> List[Workload]:
    """A layer, or some."""
    listed = [value] if isinstance(value, (Workload, str, os.PathLike)) else value
    if not isinstance(listed, Iterable) or isinstance(listed, (Mapping, bytes)):
        raise wrong(name, "a layer, or a list of layers", value)
    read = [layer(name, each) for each in listed]
    if not read:
        raise ValueError(f"{name}: at least one layer is needed")
    return read


def text_or_file(kind: str, forms: str) -> Kind:
    """A text and its name: of a dict, of YAML (it has several lines, or a key), or of a file. `forms`:
    the first of these, for errors."""
    def read(name: str, value: Any) -> Tuple[str, str]:
        if isinstance(value, Mapping):
            return to_yaml(value), kind
        if not is_name(value):
            raise wrong(name, f"{forms}, YAML, a file, or a name of shipped({kind!r})", value)
        text = os.fspath(value)
        return (text, kind) if "\n" in text or ": " in text else read_file(find(text, kind))
    return read


_some_constraints = text_or_file("constraints", "a dict")


def constraints(name: str, value: Any) -> Tuple[str, str]:
    """None: there are none."""
    return ("", "constraints") if value is None else _some_constraints(name, value)


def table(name: str, value: Any) -> Tuple[str, str]:
    """The text of a table and its name: of the text itself (it has several lines), or of a file."""
    if not is_name(value):
        raise wrong(name, "a table: its text, or a file", value)
    text = os.fspath(value)
    return (text, "table") if "\n" in text else read_file(text)


def read_file(path: str) -> Tuple[str, str]:
    """The text of a file, and the path."""
    try:
        return Path(path).read_text(encoding="utf-8"), path
    except (OSError, UnicodeDecodeError) as error:
        message = ("is no text" if isinstance(error, UnicodeDecodeError)
                   else f"cannot be opened: {error.strerror}")
        raise ConfigError(f"{path}: {message}", [(path, 0, 0, "", message, "")]) from error
