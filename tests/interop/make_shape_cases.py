#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random ONNX models with the shapes that ONNX's own shape inference finds for their tensors.

usage: make_shape_cases.py FOLDER MODELS [SEED]

Each model is a graph of random operators with random attributes; NAME.txt beside it has a line for
each tensor whose shape is known: name, element type, extents. Weights have no values.
"""
import random
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper, shape_inference

FLOAT, INT64, BOOL, UINT8, INT8 = (TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL,
                                   TensorProto.UINT8, TensorProto.INT8)
MOST = 1 << 16  # elements of a tensor that others may read


class Case:
    """A model in the making: tensors with their shapes, and nodes that are known to be valid."""

    def __init__(self, rng, opset):
        self.rng, self.opset = rng, opset
        self.known = {}   # name: (type, dims)
        self.inputs, self.weights, self.nodes, self.count = [], [], [], 0

    def name(self, kind="t"):
        self.count += 1
        return f"{kind}{self.count}"

    def source(self, dims, kind=FLOAT):
        """An input of the model; or a weight without values."""
        name = self.name("x")
        if self.rng.random() < 0.5:
            self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        else:
            self.weights.append(TensorProto(name=name, dims=dims, data_type=kind))
        self.known[name] = (kind, list(dims))
        return name

    def numbers(self, values, kind=INT64, scalar=False):
        name = self.name("c")
        dims = [] if scalar else [len(values)]
        self.weights.append(helper.make_tensor(name, kind, dims, values))
        self.known[name] = (kind, dims)
        return name

    def pick(self, ranks=range(1, 6), kind=FLOAT):
        """A tensor that is there, or a new input."""
        fits = [n for n, (t, d) in self.known.items()
                if t == kind and len(d) in ranks and n[0] != "c" and 0 not in d]
        if fits and self.rng.random() < 0.7:
            return self.rng.choice(fits)
        return self.source([self.rng.choice([1, 1, 2, 3, 4, 6, 8, 12]) for _ in
                            range(self.rng.choice(list(ranks)))], kind)

    def dims(self, name):
        return self.known[name][1]

    def add(self, op, inputs, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        node = helper.make_node(op, inputs, names, name=names[0],
                                **{k: v for k, v in attributes.items() if v is not None})
        used = {i for i in inputs if i}
        values = [helper.make_tensor_value_info(n, *self.known[n]) for n in used if n in self.known]
        own = [w for w in self.weights if w.name in used]
        results = [helper.make_empty_tensor_value_info(n) for n in names]
        graph = helper.make_graph([node], "g", [v for v in values if v.name not in
                                                {w.name for w in own}], results, own)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        try:
            found = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        except Exception:  # the attributes contradict the operands: no such node
            return
        self.nodes.append(node)
        for value in found.graph.output:
            tensor = value.type.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim]
            if tensor.HasField("shape") and min(dims, default=0) >= 0:
                size = 1
                for d in dims:
                    size *= d
                self.known[value.name] = (tensor.elem_type, dims)
                if size > MOST:
                    self.known.pop(value.name)

    def save(self, folder, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, [], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        made = {o for node in self.nodes for o in node.output}
        found = shape_inference.infer_shapes(model, data_prop=True)
        lines = []
        for value in found.graph.value_info:
            tensor = value.type.tensor_type
            dims = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor.shape.dim]
            if value.name in made and tensor.HasField("shape") and min(dims, default=0) >= 0:
                lines.append(" ".join(map(str, [value.name, tensor.elem_type, *dims])))
        onnx.save(model, str(folder / f"{name}.onnx"))
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
        return len(lines)


UNARY = """Abs Acos Asin Atan Ceil Celu Clip Cos Elu Erf Exp Floor HardSigmoid HardSwish Identity
LeakyRelu Log LogSoftmax LpNormalization Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Softmax
Softplus Softsign Sqrt Tanh ThresholdedRelu Hardmax Dropout MeanVarianceNormalization Shrink IsNaN
IsInf Trilu Det Size NonZero EyeLike Bernoulli RandomNormalLike RandomUniformLike""".split()
BINARY = """Add Sub Mul Div Pow PRelu Greater Less Equal GreaterOrEqual LessOrEqual Mod""".split()
REDUCTIONS = """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin
ReduceProd ReduceSumSquare""".split()


def elementwise(c, r):
    choice = r.randrange(6)
    x = c.pick()
    if choice == 0:
        c.add(r.choice(UNARY), [x])
    elif choice == 1:
        d = c.dims(x)
        other = [r.choice([e, e, 1]) for e in d[r.randrange(len(d) + 1):]]
        operands = [x, c.source(other)]
        c.add(r.choice(BINARY), operands if r.random() < 0.5 else operands[::-1])
    elif choice == 2:
        c.add(r.choice(["Max", "Min", "Sum", "Mean"]),
              [x] + [c.source([r.choice([e, 1]) for e in c.dims(x)]) for _ in range(r.randrange(3))])
    elif choice == 3:
        c.add("Where", [c.source([r.choice([e, 1]) for e in c.dims(x)], BOOL), x,
                        c.source(c.dims(x)[1:])])
    elif choice == 4:
        c.add("Cast", [x], to=r.choice([FLOAT, INT64, BOOL, TensorProto.FLOAT16, UINT8]))
    else:
        channels = c.dims(x)[1] if len(c.dims(x)) > 1 else 1
        c.add(r.choice(["BatchNormalization", "InstanceNormalization", "LRN"]), [x] +
              [c.source([channels]) for _ in range(4)])
        c.add("LayerNormalization", [x, c.source(c.dims(x)[-1:])], outputs=r.choice([1, 3]),
              axis=r.choice([-1, 0, None, len(c.dims(x)) - 1]))


def window_attributes(r, count, kernel, weights=False):
    auto = r.choice([None, None, "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    pads = [r.randrange(0, k) for k in kernel] * 2 if auto in (None, "NOTSET") else None
    return {"strides": r.choice([None, [r.randrange(1, 4) for _ in range(count)]]),
            "auto_pad": auto, "pads": r.choice([None, pads]),
            "dilations": r.choice([None, [r.randrange(1, 3) for _ in range(count)]]),
            "kernel_shape": kernel if not weights or r.random() < 0.5 else None}


def spatial(c, r, most=20):
    count = r.choice([1, 2, 2, 2, 3])
    channels = r.choice([1, 2, 4, 6])
    x = c.source([r.randrange(1, 4), channels] + [r.randrange(7, most) for _ in range(count)])
    kernel = [r.randrange(1, 4) for _ in range(count)]
    return x, count, channels, kernel


def windows(c, r):
    x, count, channels, kernel = spatial(c, r)
    choice = r.randrange(7)
    if choice < 2:
        group = r.choice([g for g in (1, 2, channels) if channels % g == 0])
        w = c.source([group * r.randrange(1, 4), channels // group, *kernel])
        c.add("Conv", [x, w], group=group, **window_attributes(r, count, kernel, True))
    elif choice == 2:
        # The shape of a transposed convolution with automatic padding changed since.
        group = r.choice([g for g in (1, 2, channels) if channels % g == 0])
        w = c.source([channels, r.randrange(1, 4), *kernel])
        attributes = window_attributes(r, count, kernel, True)
        attributes["auto_pad"] = r.choice([None, "NOTSET", "VALID"])
        if attributes["auto_pad"] == "VALID":
            attributes["pads"] = None
        c.add("ConvTranspose", [x, w], group=group,
              output_padding=r.choice([None, [r.randrange(2) for _ in range(count)]]),
              output_shape=r.choice([None, None, [r.randrange(20, 30) for _ in range(count)]]),
              **attributes)
    elif choice == 3:
        # Since onnx 1.16 windows that begin in the padding behind the data do not count.
        attributes = window_attributes(r, count, kernel)
        ceil = r.choice([None, 0, 1]) if attributes["pads"] is None and c.opset > 9 else None
        if c.opset < 10:
            attributes["dilations"] = None
        if ceil == 1 and attributes["strides"]:
            attributes["strides"] = [min(s, k) for s, k in zip(attributes["strides"], kernel)]
        c.add("MaxPool", [x], outputs=r.choice([1, 2]), ceil_mode=ceil, **attributes)
        attributes.pop("dilations")
        c.add("AveragePool", [x], ceil_mode=ceil, **attributes)
        c.add("LpPool", [x], **attributes)
    elif choice == 4:
        c.add(r.choice(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"]), [x])
        c.add("MaxUnpool", [x, c.source(c.dims(x), INT64)], kernel_shape=kernel,
              strides=r.choice([None, kernel]))
    elif choice == 5:
        d = [r.randrange(1, 5), 4 * r.randrange(1, 5), 2 * r.randrange(1, 8), 2 * r.randrange(1, 8)]
        y = c.source(d)
        c.add("DepthToSpace", [y], blocksize=2)
        c.add("SpaceToDepth", [y], blocksize=2)
        c.add("MaxRoiPool", [y, c.source([7, 5])], pooled_shape=[3, 4])
        c.add("RoiAlign", [y, c.source([7, 4]), c.source([7], INT64)],
              output_height=r.choice([None, 3]), output_width=r.choice([None, 5]))
        c.add("GridSample", [y, c.source([d[0], 5, 6, 2])])
    else:
        q = c.source([1, channels, *([9] * count)], UINT8)
        w = c.source([6, channels, *kernel], UINT8)
        s, z = c.numbers([1.0], FLOAT, True), c.numbers([0], UINT8, True)
        c.add("ConvInteger", [q, w], **window_attributes(r, count, kernel, True))
        c.add("QLinearConv", [q, s, z, w, s, z, s, z], **window_attributes(r, count, kernel, True))


def products(c, r):
    choice = r.randrange(6)
    m, n, k = (r.randrange(1, 9) for _ in range(3))
    batch = [r.choice([1, 2, 3]) for _ in range(r.randrange(3))]
    other = [r.choice([b, 1]) for b in batch][r.randrange(len(batch) + 1):]
    a = [*batch, m, k] if r.random() < 0.8 else [k]
    b = [*other, k, n] if r.random() < 0.8 else [k]
    if choice == 0:
        c.add("MatMul", [c.source(a), c.source(b)])
    elif choice == 1:
        ta, tb = r.choice([None, 0, 1]), r.choice([None, 0, 1])
        c.add("Gemm", [c.source([k, m] if ta else [m, k]), c.source([n, k] if tb else [k, n]),
                       c.source([n])], transA=ta, transB=tb)
    elif choice == 2:
        s, z = c.numbers([1.0], FLOAT, True), c.numbers([0], INT8, True)
        qa, qb = c.source(a, INT8), c.source(b, INT8)
        c.add("MatMulInteger", [qa, qb])
        c.add("QLinearMatMul", [qa, s, z, qb, s, z, s, z])
    elif choice == 3:
        x, s = c.pick(), c.numbers([1.0], FLOAT, True)
        c.add("QuantizeLinear", [x, s, c.numbers([0], r.choice([UINT8, INT8]), True)])
        c.add("DynamicQuantizeLinear", [x], outputs=3)
        c.add("DequantizeLinear", [c.source(c.dims(x), UINT8), s])
    elif choice == 4:
        kind, gates = r.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
        layout = r.choice([None, 0, 1]) if c.opset >= 14 else None
        direction = r.choice([None, "forward", "reverse", "bidirectional"])
        d, hidden = 2 if direction == "bidirectional" else 1, r.randrange(1, 9)
        c.add(kind, [c.source([m, n, k]), c.source([d, gates * hidden, k]),
                     c.source([d, gates * hidden, hidden])], outputs=3 if kind == "LSTM" else 2,
              hidden_size=hidden, direction=direction, layout=layout)
    else:
        scores = c.source([m, n, *batch])
        c.add(r.choice(["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"]),
              [scores, c.source([m, *batch], INT64)],
              reduction=r.choice([None, "none", "mean", "sum"]))


def axes(c, op, inputs, values, **attributes):
    """Axes as this opset has them: an attribute or an operand."""
    since = 13 if op in ("Squeeze", "Unsqueeze", "ReduceSum", "Split") else 99
    key = "split" if op == "Split" else "axes"
    if values is None:
        c.add(op, inputs, **attributes)
    elif c.opset >= since:
        c.add(op, [*inputs, c.numbers(values)], **attributes)
    else:
        c.add(op, inputs, **{key: values}, **attributes)


def some_axes(r, rank, negative=True):
    chosen = r.sample(range(rank), r.randrange(1, rank + 1))
    return [a - rank if negative and r.random() < 0.3 else a for a in chosen]


def layouts(c, r):
    x = c.pick()
    d, rank, modern = c.dims(x), len(c.dims(x)), c.opset >= 11
    choice = r.randrange(13)
    if choice == 0:
        size = 1
        for e in d:
            size *= e
        target = r.choice([[-1], [0] * rank, [1, -1], [size], [0, -1], [d[0], -1, 1],
                           d[::-1], [-1, *d[1:]]])
        c.add("Reshape", [x, c.numbers(target)])
        c.add("Flatten", [x], axis=r.choice([None, 0, 1, rank, -1 if modern else 0]))
    elif choice == 1:
        c.add("Transpose", [x], perm=r.choice([None, r.sample(range(rank), rank)]))
    elif choice == 2:
        y = c.source([r.choice([1, 1, e]) for e in d])
        ones = [i for i, e in enumerate(c.dims(y)) if e == 1]
        axes(c, "Squeeze", [y], r.choice([None, ones[:1] or None, ones or None]))
    elif choice == 3:
        new = r.randrange(1, 3)
        axes(c, "Unsqueeze", [x], sorted(r.sample(range(rank + new), new)))
    elif choice == 4:
        c.add("Expand", [x, c.numbers([r.choice([1, e]) for e in
                                       [5, *d][r.randrange(rank + 1):]])])
        c.add("Tile", [x, c.numbers([r.randrange(0, 4) for _ in d])])
    elif choice == 5:
        pads = [r.randrange(-1, 4) for _ in range(2 * rank)]
        if modern:
            c.add("Pad", [x, c.numbers(pads)], mode=r.choice([None, "reflect", "edge"]))
        else:
            c.add("Pad", [x], pads=pads)
    elif choice == 6:
        scales = [r.choice([0.3, 0.5, 1.0, 1.5, 1.7, 2.0]) for _ in d]
        if modern:
            c.add("Resize", [x, "", c.numbers(scales, FLOAT)], mode="nearest")
            c.add("Resize", [x, "", "", c.numbers([r.randrange(1, 30) for _ in d])])
        elif c.opset == 10:
            c.add("Resize", [x, c.numbers(scales, FLOAT)])
        elif c.opset == 9:
            c.add("Upsample", [x, c.numbers([max(1.0, s) for s in scales], FLOAT)])
        else:
            c.add("Upsample", [x], scales=[max(1.0, s) for s in scales])
    elif choice == 7:
        along = some_axes(r, rank)
        far = 2**63 - 1
        starts = [r.choice([0, 1, -1, -2, 3, -far, far]) for _ in along]
        ends = [r.choice([0, 1, -1, 4, far, -far, far]) for _ in along]
        steps = [r.choice([1, 1, 2, -1, -2, 5]) for _ in along]
        if c.opset >= 10:
            c.add("Slice", [x, c.numbers(starts), c.numbers(ends), c.numbers(along),
                            c.numbers(steps)][:r.choice([4, 5])])
        else:
            c.add("Slice", [x], starts=starts, ends=ends, axes=[a % rank for a in along])
    elif choice == 8:
        axis = r.randrange(rank)
        if d[axis] > 1:
            first = r.randrange(1, d[axis])
            axes(c, "Split", [x], [first, d[axis] - first], outputs=2, axis=axis)
            c.add("Split", [x], outputs=d[axis], axis=axis - rank if modern else axis)
    elif choice == 9:
        axis = r.randrange(rank)
        parts = [c.source([r.randrange(1, 5) if i == axis else e for i, e in enumerate(d)])
                 for _ in range(r.randrange(3))]
        c.add("Concat", [x, *parts], axis=axis - rank if modern and r.random() < 0.5 else axis)
    elif choice == 10:
        axis = r.randrange(rank)
        indices = c.source([r.randrange(1, 4) for _ in range(r.randrange(3))], INT64)
        c.add("Gather", [x, indices], axis=r.choice([axis, axis - rank, None]))
        c.add("GatherElements", [x, c.source([max(1, e - 1) for e in d], INT64)], axis=axis)
        c.add("GatherND", [x, c.source([3, 2, r.randrange(1, rank + 1)], INT64)],
              batch_dims=r.choice([None, 0]))
        c.add("ScatterElements", [x, c.source(d, INT64), c.source(d)], axis=axis)
    elif choice == 11:
        axis = r.randrange(rank)
        c.add("OneHot", [c.source(d, INT64), c.numbers([7], INT64, r.random() < 0.5),
                         c.numbers([0.0, 1.0], FLOAT)], axis=r.choice([None, axis, -1]))
        c.add("TopK", [x, c.numbers([1])] if c.opset >= 10 else [x], outputs=2, axis=axis,
              k=None if c.opset >= 10 else 1)
        c.add("CumSum", [x, c.numbers([axis], INT64, True)])
        c.add("ReverseSequence", [x, c.source(d[:1], INT64)])
    else:
        keep, along = r.choice([None, 0, 1]), some_axes(r, rank, modern)
        c.add(r.choice(REDUCTIONS), [x], axes=r.choice([None, along]), keepdims=keep)
        axes(c, "ReduceSum", [x], r.choice([None, along]), keepdims=keep)
        c.add(r.choice(["ArgMax", "ArgMin"]), [x], axis=r.randrange(rank), keepdims=keep)


def shapes(c, r):
    """What models compute of shapes, and what they make of it."""
    x = c.pick(ranks=range(2, 5))
    rank = len(c.dims(x))
    if c.opset >= 15:
        c.add("Shape", [x], start=r.choice([None, 1, -1]), end=r.choice([None, 1, -1]))
    c.add("Shape", [x])
    s = c.nodes[-1].output[0]
    c.add("Gather", [s, c.numbers([r.randrange(rank)], INT64, r.random() < 0.5)], axis=0)
    c.add("Slice", [s, c.numbers([0]), c.numbers([r.randrange(1, rank)]), c.numbers([0])])
    head = c.nodes[-1].output[0]
    c.add("Concat", [head, c.numbers([-1])], axis=0)
    c.add("Reshape", [x, c.nodes[-1].output[0]])
    c.add(r.choice(["Add", "Mul", "Sub"]), [s, c.numbers([1])])
    t = c.nodes[-1].output[0]
    c.add("Cast", [t], to=INT64)
    c.add("ConstantOfShape", [c.nodes[-1].output[0]],
          value=helper.make_tensor("v", INT64, [1], [2]))
    c.add("Expand", [c.source([1]), s])
    c.add("Range", [c.numbers([r.randrange(3)], INT64, True), c.numbers([9], INT64, True),
                    c.numbers([r.randrange(1, 4)], INT64, True)])
    c.add("Constant", [], value=helper.make_tensor("v", FLOAT, [2, 3], [0.0] * 6))
    c.add("RandomNormal", [], shape=[3, 4])
    c.add("SequenceConstruct", [x, x])
    c.add("SequenceAt", [c.nodes[-1].output[0], c.numbers([0], INT64, True)])


def main(folder, models, seed):
    folder.mkdir(parents=True, exist_ok=True)
    tensors = 0
    for i in range(models):
        rng = random.Random(seed * 1_000_003 + i)
        case = Case(rng, rng.choice([7, 9, 10, 11, 13, 14, 15, 16, 17]))
        while len(case.nodes) < 60:
            rng.choice([elementwise, windows, products, layouts, layouts, shapes])(case, rng)
        tensors += case.save(folder, f"case{i}")
    print(f"{models} models, {tensors} tensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
