# SPDX-License-Identifier: Apache-2.0
"""What GPUs answer: ranked kernels, and predicted times beside measured ones."""
import json
from typing import Any, Dict, List, Tuple

from . import _arguments as kinds
from . import _mapsim
from ._arguments import arguments
from ._results import Told, _page, frame
from ._words import in_python


class Kernels(Told):
    """Tensor-core kernels of a layer on a GPU, fastest first.

    >>> import mapsim
    >>> ranked = mapsim.kernels("a100_40gb", "gemm:1024x1024x1024", top=3, precision="f16", path="mma")
    >>> len(ranked.table), ranked.triton().count("triton.Config("), "main(" in ranked.cuda_program(top=2)
    (3, 3, True)
    """

    def __init__(self, text: str, told: str, asked: Tuple[Any, Any, int, Dict[str, str]]):
        super().__init__(text, told)
        self._gpu, self._layer, self._top, self._words = asked

    def triton(self) -> str:
        """The kernels for Triton's autotuner: Python, a list of triton.Config.

        ValueError: the layer is a convolution as an implicit GEMM, or Triton can make none of the kernels.
        """
        return _mapsim.triton(self._gpu, self._layer, self._top, self._words)

    @arguments(bias=kinds.switch, residual=kinds.switch, quantise=kinds.switch,
               activation=kinds.one_of("", "relu", "gelu", "silu"))
    def cuda(self, bias: bool = False, residual: bool = False, quantise: bool = False,
             activation: str = "") -> str:
        """The best kernel that mapsim writes as CUDA C++; its head says how it is compiled and launched.

        Its sums may get a bias, a residual and an activation ("relu", "gelu", "silu"), and be rounded
        to 8 bits. Where it is not the first of the ranking, the head says why that is not written.
        ValueError: none can be written.

        >>> import mapsim
        >>> ranked = mapsim.kernels("a100_40gb", "gemm:1024x1024x1024", precision="f16", path="mma")
        >>> "; bias; GELU" in ranked.cuda(bias=True, activation="gelu")
        True
        """
        return _mapsim.cuda(self._gpu, self._layer, self._words, bias, residual, quantise, activation)

    @arguments(top=kinds.whole(1))
    def cuda_program(self, top: int = 5) -> str:
        """The best kernels of different tiles in a CUDA C++ program that checks and times them; nvcc builds it.

        ValueError: none of the paths mma and wgmma can be written.
        """
        return _mapsim.cuda_program(self._gpu, self._layer, self._words, top)

    @property
    def table(self) -> Any:
        """A DataFrame, or dicts: one row a kernel, its choices and its predicted time."""
        rows = []
        for each in self.json["kernels"]:
            rows.append({**each["kernel"],
                         **{k: v for k, v in each.items() if not isinstance(v, (dict, list))}})
        return frame(rows)

    def __len__(self) -> int:
        return len(self.json["kernels"])

    def __repr__(self) -> str:
        return f"Kernels({len(self)} of {self.json['legal']})"


class Predictions:
    """Predicted beside measured times of a table's kernels.

    >>> import mapsim
    >>> rows = "m,n,k,latency_us\\n4096,4096,4096,620\\n8192,8192,8192,4700\\n"
    >>> predicted = mapsim.predict(rows, "a100_40gb", precision="f16")
    >>> predicted.rows, len(predicted.table) > 0
    (2, True)
    """

    def __init__(self, text: str, rows: int, notes: List[str]):
        self.json: Dict[str, Any] = json.loads(text)
        self.rows = rows  # measurements of this GPU
        self.notes = [*map(in_python, notes)]  # what was left out of the table, or assumed

    @property
    def table(self) -> Any:
        """A DataFrame, or dicts: errors and ranking for each precision and path, by class of shapes.

        `mape`, `median`, `p90` are relative errors; `tau`, `top1`, `top5` say how well kernels of
        one problem are ranked; `covered` is the share of times within the predicted interval.
        """
        rows = []
        for group in self.json["groups"]:
            for score in [*group["classes"], group["all"]]:
                flat = {"kernels": group["name"]}
                for key, value in score.items():
                    flat.update(value if isinstance(value, dict) else {key: value})
                rows.append(flat)
        return frame(rows)

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"Predictions({self.rows} rows)"

    def _repr_html_(self) -> str:
        table = self.table
        return table._repr_html_() if hasattr(table, "_repr_html_") else _page(str(table), "")
