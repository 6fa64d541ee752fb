#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX models that the tests read. Weights have shapes and no values, so files are small.

usage: make_onnx_models.py FOLDER
"""
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT


class Graph:
    """Operators in a row: each call adds one and returns the name of what it makes."""

    def __init__(self, name):
        self.name, self.nodes, self.weights, self.known = name, [], [], []

    def weight(self, name, *dims, kind=FLOAT):
        self.weights.append(TensorProto(name=name, dims=dims, data_type=kind))
        return name

    def numbers(self, name, values):
        self.weights.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def factors(self, name, values):
        self.weights.append(helper.make_tensor(name, FLOAT, [len(values)], values))
        return name

    def says(self, name, *dims):
        self.known.append(helper.make_tensor_value_info(name, FLOAT, dims))

    def op(self, kind, *inputs, name=None, domain="", **attributes):
        name = name or f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name + "_out"], name=name,
                                           domain=domain, **attributes))
        return name + "_out"

    def save(self, folder, inputs, output, opset=15):
        values = [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs]
        result = helper.make_empty_tensor_value_info(output)
        result.type.tensor_type.elem_type = FLOAT
        graph = helper.make_graph(self.nodes, self.name, values, [result], self.weights,
                                  value_info=self.known)
        imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.example", 1)]
        model = helper.make_model(graph, opset_imports=imports)
        onnx.save(model, str(folder / f"{self.name}.onnx"))


def convolution(g, x, name, inputs, outputs, kernel, stride=1, relu=True):
    w = g.weight(name + "_w", outputs, inputs, kernel, kernel)
    x = g.op("Conv", x, w, name=name, strides=[stride] * 2, pads=[kernel // 2] * 4,
             kernel_shape=[kernel] * 2)
    parameters = [g.weight(f"{name}_bn{i}", outputs) for i in range(4)]
    x = g.op("BatchNormalization", x, *parameters, name=name + "_bn")
    return g.op("Relu", x, name=name + "_relu") if relu else x


def resnet50(folder):
    """He et al., CVPR 2016, table 1; version 1.5: the 3 x 3 has the stride."""
    g = Graph("resnet50")
    x = convolution(g, "image", "conv1", 3, 64, 7, 2)
    x = g.op("MaxPool", x, name="pool1", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, (blocks, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 2):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 2 else 1
            name = f"conv{stage}_{block + 1}"
            y = convolution(g, x, name + "_a", channels, width, 1)
            y = convolution(g, y, name + "_b", width, width, 3, stride)
            y = convolution(g, y, name + "_c", width, 4 * width, 1, relu=False)
            if block == 0:
                x = convolution(g, x, name + "_p", channels, 4 * width, 1, stride, relu=False)
            channels = 4 * width
            x = g.op("Relu", g.op("Add", x, y, name=name + "_add"), name=name + "_relu")
    x = g.op("Flatten", g.op("GlobalAveragePool", x, name="pool5"), name="flatten")
    x = g.op("Gemm", x, g.weight("fc_w", 1000, 2048), g.weight("fc_b", 1000), name="fc", transB=1)
    g.save(folder, [("image", FLOAT, ["N", 3, 224, 224])], x)


def attention(folder):
    """One layer of BERT base: 12 heads of 64; batch and tokens are symbolic."""
    g = Graph("attention")
    heads = {}
    shape = g.numbers("split", [0, 0, 12, 64])
    for part in "qkv":
        x = g.op("MatMul", "tokens", g.weight(part + "_w", 768, 768), name=part)
        x = g.op("Add", x, g.weight(part + "_b", 768), name=part + "_bias")
        x = g.op("Reshape", x, shape, name=part + "_split")
        order = [0, 2, 3, 1] if part == "k" else [0, 2, 1, 3]
        heads[part] = g.op("Transpose", x, name=part + "_heads", perm=order)
    scores = g.op("MatMul", heads["q"], heads["k"], name="scores")
    x = g.op("MatMul", g.op("Softmax", scores, name="softmax"), heads["v"], name="context")
    x = g.op("Transpose", x, name="join", perm=[0, 2, 1, 3])
    x = g.op("Reshape", x, g.numbers("whole", [0, 0, 768]), name="joined")
    x = g.op("MatMul", x, g.weight("o_w", 768, 768), name="o")
    x = g.op("Add", x, "tokens", name="residual")
    g.save(folder, [("tokens", FLOAT, ["batch", "seq", 768])], x)


def corners(folder):
    """Every form that a layer can take, and what is not a layer."""
    g = Graph("corners")
    x = g.op("Conv", "image", g.weight("w0", 8, 3, 3, 3), name="same_upper", auto_pad="SAME_UPPER",
             strides=[2, 2])
    x = g.op("Conv", x, g.weight("w1", 8, 1, 3, 3), name="depthwise", group=8, pads=[0, 0, 1, 1])
    x = g.op("Conv", x, g.weight("w2", 4, 4, 1, 3), name="grouped", group=2, dilations=[1, 2])
    x = g.op("Fancy", x, name="fancy", domain="com.example")
    y = g.op("ConvTranspose", "coarse", g.weight("w3", 16, 8, 4, 4), name="up", strides=[2, 2],
             pads=[1] * 4)
    y = g.op("Gather", y, g.numbers("channels", [0, 3]), name="pick", axis=1)
    z = g.op("Conv", "sound", g.weight("w4", 32, 16, 5), name="one_axis", pads=[2, 2], strides=[2])
    v = g.op("Conv", "volume", g.weight("w5", 4, 2, 3, 3, 3), name="three_axes")
    m = g.op("MatMul", "vector", g.weight("w6", 64, 10), name="row")
    g.nodes.append(helper.make_node("NonMaxSuppression", [y, y], ["boxes"], name="nms"))
    shape = g.op("Shape", "image", name="shape")
    g.op("Cast", shape, name="folded", to=FLOAT)
    del x, z, v
    g.save(folder, [("image", FLOAT, [1, 3, 15, 15]), ("coarse", FLOAT, [1, 16, 5, 7]),
                    ("sound", FLOAT, [1, 16, 100]), ("volume", FLOAT, [1, 2, 8, 8, 8]),
                    ("vector", FLOAT, [64])], m)


def quantised(folder):
    g = Graph("quantised")
    scale = [g.weight(f"s{i}", kind=FLOAT) for i in range(3)]
    zero = [g.weight(f"z{i}", kind=TensorProto.UINT8) for i in range(3)]
    w = g.weight("w", 16, 8, 3, 3, kind=TensorProto.UINT8)
    x = g.op("QLinearConv", "image", scale[0], zero[0], w, scale[1], zero[1], scale[2], zero[2],
             name="conv", pads=[1] * 4)
    g.save(folder, [("image", TensorProto.UINT8, [1, 8, 14, 14])], x)


def contradiction(folder):
    g = Graph("contradiction")
    x = g.op("MatMul", "a", g.weight("w", 5, 7), name="product")
    g.save(folder, [("a", FLOAT, [3, 4])], x)


def strange(folder):
    """Operators that inference knows nothing of, one of them with a shape in the file, and one whose
    shape only a run tells; a resize whose factors are an initializer; a name that is no text."""
    g = Graph("strange")
    x = g.op("Upsample", "image", g.factors("twice", [1, 1, 2, 2]), name="larger")
    x = g.op("Conv", x, g.weight("w0", 8, 8, 3, 3), name="first", pads=[1] * 4)
    x = g.op("Magic", x, name="magic", domain="com.example")
    g.says(x, "N", 8, 32, 32)
    x = g.op("Relu", x, name="after")
    x = g.op("Conv", x, g.weight("w1", 8, 8, 3, 3), name="second", pads=[1] * 4)
    y = g.op("Magic", x, name="nothing_said", domain="com.example")
    y = g.op("Conv", y, g.weight("w2", 8, 8, 3, 3), name="third")
    z = g.op("Sqrt", g.op("Cast", g.op("NonZero", x, name="nz"), name="cast", to=FLOAT), name="root")
    g.op("R\0wb\0tes", z, name="raw", domain="com.example")
    g.save(folder, [("image", FLOAT, ["N", 8, 16, 16])], y, opset=9)
    path = folder / "strange.onnx"
    path.write_bytes(path.read_bytes().replace(b"R\0wb\0tes", b"R\xffwb\xfetes"))


def without_layers(folder):
    g = Graph("pooling")
    g.save(folder, [("x", FLOAT, [1, 64, 112, 112])],
           g.op("MaxPool", "x", name="pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))
    g = Graph("recurrent")
    x = g.op("LSTM", "x", g.weight("w", 1, 128, 64), g.weight("r", 1, 128, 32), hidden_size=32)
    g.save(folder, [("x", FLOAT, [10, 1, 64])], x)
    g = Graph("nothing")
    g.save(folder, [("x", FLOAT, [10, 64])], g.op("NonZero", "x"))


def views(folder):
    """Shapes made of shapes, as exporters write them: view(b, s, heads, d) at an opset where axes
    are attributes, interpolate(size=x.shape[2:]), expand(b, -1, -1). The tokens have no name."""
    g = Graph("views")
    zero = g.op("Constant", name="c0", value=helper.make_tensor("v", TensorProto.INT64, [], [0]))
    one = g.op("Constant", name="c1", value=helper.make_tensor("v", TensorProto.INT64, [], [1]))
    heads = g.numbers("heads", [12, 64])
    x = "tokens"
    for layer in "ab":
        x = g.op("MatMul", x, g.weight("w" + layer, 768, 768), name="q" + layer)
        shape = g.op("Shape", x)
        parts = [g.op("Unsqueeze", g.op("Gather", shape, i, axis=0), axes=[0]) for i in (zero, one)]
        y = g.op("Reshape", x, g.op("Concat", *parts, heads, axis=0))
        y = g.op("Transpose", y, perm=[0, 2, 1, 3])
        z = g.op("MatMul", y, g.op("Transpose", y, perm=[0, 1, 3, 2]), name="scores" + layer)
        z = g.op("MatMul", z, y, name="context" + layer)
        z = g.op("Transpose", z, perm=[0, 2, 1, 3])
        whole = g.op("Mul", g.numbers("parts" + layer, [12]), g.numbers("each" + layer, [64]))
        x = g.op("Reshape", z, g.op("Concat", *parts, whole, axis=0))
    size = g.op("Slice", g.op("Shape", "image"), g.numbers("two", [2]), g.numbers("four", [4]))
    size = g.op("Concat", g.numbers("front", [1, 8]), size, axis=0)
    y = g.op("Resize", "coarse", "", "", size, name="larger", mode="nearest")
    y = g.op("Conv", y, g.weight("w2", 8, 8, 3, 3), name="conv", pads=[1] * 4)
    shape = g.op("ConstantOfShape", g.numbers("rank", [3]),
                 value=helper.make_tensor("v", TensorProto.INT64, [1], [-1]))
    wanted = g.op("Concat", g.op("Unsqueeze", g.op("Gather", g.op("Shape", "image"), zero, axis=0),
                                 axes=[0]), g.numbers("free", [-1, -1]), axis=0)
    same = g.op("Equal", wanted, shape)
    size = g.op("Where", same, g.op("ConstantOfShape", g.numbers("rank2", [3]), value=helper.
                                    make_tensor("v", TensorProto.INT64, [1], [1])), wanted)
    z = g.op("Expand", "first", size, name="expand")
    z = g.op("MatMul", z, g.weight("w3", 32, 16), name="classes")
    del x, y
    g.save(folder, [("tokens", FLOAT, [1, "", 768]), ("image", FLOAT, [5, 8, 20, 30]),
                    ("coarse", FLOAT, [1, 8, 10, 15]), ("first", FLOAT, [1, 1, 32])], z, opset=11)


def products(folder):
    """Einsum, a function of the model's own, bodies of If, text, and a Tile beyond 64 bits."""
    g = Graph("products")
    scores = g.op("Einsum", "q", "k", name="scores", equation="bhid, bhjd -> bhij")
    x = g.op("Einsum", g.op("Softmax", scores), "k", name="context", equation="bhij,bhjd->bihd")
    g.op("Einsum", scores, name="diagonal", equation="bhii->bhi")
    y = g.op("Linear", x, g.weight("w", 64, 10), name="call", domain="local", transposed=1)
    y = g.op("Einsum", y, g.weight("w5", 64, 5), name="last", equation="bihd,de->bihe")
    g.op("MatMul", g.op("Source", name="source", domain="local"), g.weight("w6", 64, 5))
    inner = helper.make_graph([helper.make_node("MatMul", ["rows", "w"], ["t"]),
                               helper.make_node("Identity", ["t"], ["u"])], "body", [],
                              [helper.make_empty_tensor_value_info("u")])
    g.op("If", "yes", name="branch", then_branch=inner, else_branch=inner)
    g.op("MatMul", "letters", "letters", name="text")
    g.op("Tile", "rows", g.numbers("often", [2**62, 2**62]), name="tile")
    g.save(folder, [("q", FLOAT, [1, 12, 16, 64]), ("k", FLOAT, [1, 12, 16, 64]),
                    ("rows", FLOAT, [4, 64]), ("yes", TensorProto.BOOL, []),
                    ("letters", TensorProto.STRING, [8, 8])], y)
    path = folder / "products.onnx"
    model = onnx.load(str(path))
    opsets = [helper.make_opsetid("", 15)]
    nodes = [helper.make_node("Twice", ["X", "W"], ["Y"], domain="local")]
    model.functions.append(helper.make_function("local", "Linear", ["X", "W"], ["Y"], nodes, opsets))
    nodes = [helper.make_node("MatMul", ["X", "W"], ["p"], name="first"),
             helper.make_node("Transpose", ["W"], ["t"]),
             helper.make_node("MatMul", ["p", "t"], ["q"], name="second"),
             helper.make_node("Same", ["q"], ["Y"], domain="local")]
    own = [*opsets, helper.make_opsetid("local", 1)]
    model.functions.append(helper.make_function("local", "Twice", ["X", "W"], ["Y"], nodes, own))
    nodes = [helper.make_node("Relu", ["X"], ["p"]), helper.make_node("Identity", ["p"], ["Y"])]
    model.functions.append(helper.make_function("local", "Same", ["X"], ["Y"], nodes, opsets))
    model.opset_import.append(helper.make_opsetid("local", 1))
    onnx.save(model, str(path))


def branches(folder):
    """Whether an axis is 1, asked when the model runs: squeezed or not."""
    g = Graph("branches")
    number = g.op("Gather", g.op("Shape", "x"), g.numbers("first", [1]), name="number", axis=0)
    bodies = {}
    for kind, choice in ("Squeeze", "then_branch"), ("Identity", "else_branch"):
        nodes = [helper.make_node("MatMul", ["x", "w0"], ["m"], name=choice),
                 helper.make_node(kind, ["m", "first"] if kind == "Squeeze" else ["m"], ["u"])]
        bodies[choice] = helper.make_graph(nodes, choice, [],
                                           [helper.make_empty_tensor_value_info("u")])
    g.weight("w0", 32, 16)
    x = g.op("If", g.op("Equal", number, g.numbers("one", [1]), name="is_one"), name="branch", **bodies)
    g.save(folder, [("x", FLOAT, ["b", "n", 32])],
           g.op("MatMul", x, g.weight("w1", 16, 8), name="after"))


def newer(folder):
    """Forms of opset 18: axes of a mean, parts of a Split, a pad with axes."""
    g = Graph("newer")
    x = g.op("Conv", "image", g.weight("w0", 8, 4, 3, 3), name="conv", pads=[1] * 4)
    y = g.op("ReduceMean", x, g.numbers("axes", [2, 3]), name="mean", keepdims=0)
    g.op("Gemm", y, g.weight("w1", 10, 8), name="head", transB=1)
    z = g.op("Split", x, name="half", axis=1, num_outputs=1)
    z = g.op("Conv", z, g.weight("w2", 8, 8, 1, 1), name="point")
    g.op("Pad", x, g.numbers("pads", [1, 1]), "", g.numbers("axis", [3]), name="pad")
    g.save(folder, [("image", FLOAT, ["N", 4, 6, 6])], z, opset=18)


def one_input(folder):
    """A batch of 1 that is no symbol, as exporters write by default; and one that is built in."""
    for name, shape in ("one_input", [1, 16, 4, 8]), ("built_in", [16, 4, 8]):
        g = Graph(name)
        x = g.op("Add", g.op("MatMul", "x", g.weight("w", 32, 32), name="q"), g.weight("p", 1, 16, 32))
        g.save(folder, [("x", FLOAT, [1, 16, 32])],
               g.op("Softmax", g.op("Reshape", x, g.numbers("shape", shape), name="split")))


def custom(folder):
    """An operator of the user's own, whose result's shape is asked for; names longer than a file's
    may be; layers without names."""
    g = Graph("custom")
    x = g.op("Gemm", "x", g.weight("w0", 8, 16), name="product")
    y = g.op("Fancy", "x", name="fancy", domain="com.example")
    size = g.op("Shape", y, name="size")
    z = g.op("Reshape", y, g.op("Concat", g.op("Gather", size, g.numbers("first", [0])),
                                g.numbers("rest", [-1]), axis=0), name="view")
    g.op("MatMul", z, g.weight("w1", 16, 4), name="behind")
    g.save(folder, [("x", FLOAT, [4, 8])], x, opset=13)
    g = Graph("long_names")
    x = "x"
    for i in range(3):
        x = g.op("MatMul", x, g.weight(f"w{i}", 8 + i, 9 + i))
        g.nodes[-1].name = "/layer" * 80 + f"/{i % 2}"
    g.save(folder, [("x", FLOAT, [4, 8])], x)
    g = Graph("unnamed")
    x = "x"
    for i, op in enumerate(["Conv", "Relu", "MaxPool", "Conv"]):
        weights = [g.weight(f"w{i}", 4 + i, 3 if i == 0 else 4, 3, 3)] if op == "Conv" else []
        x = g.op(op, x, *weights, **({"kernel_shape": [2, 2]} if op == "MaxPool" else {}))
    for node in g.nodes:
        node.name = ""
    g.save(folder, [("x", FLOAT, [1, 3, 12, 12])], x)


def bodies(folder):
    """If, Loop and Scan whose bodies' shapes are those of their results."""
    g = Graph("bodies")
    none = helper.make_empty_tensor_value_info

    def body(name, nodes, inputs, outputs):
        return helper.make_graph(nodes, name, [none(i) for i in inputs], [none(o) for o in outputs])

    half = [helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2])]
    mean = [helper.make_node("AveragePool", ["x"], ["a"], kernel_shape=[2, 2], strides=[2, 2])]
    x = g.op("If", "yes", name="either", then_branch=body("t", half, [], ["p"]),
             else_branch=body("e", mean, [], ["a"]))
    g.op("Conv", x, g.weight("w0", 8, 4, 1, 1), name="after_if")
    step = [helper.make_node("Relu", ["s"], ["t"]), helper.make_node("Identity", ["c"], ["d"])]
    y = g.op("Loop", "often", "yes", "state", name="loop",
             body=body("l", step, ["i", "c", "s"], ["d", "t"]))
    g.op("MatMul", y, g.weight("w1", 16, 4), name="after_loop")
    grow = [helper.make_node("Concat", ["s", "s"], ["t"], axis=0),
            helper.make_node("Identity", ["c"], ["d"])]
    z = g.op("Loop", "often", "yes", "state", name="growing",
             body=body("m", grow, ["i", "c", "s"], ["d", "t"]))
    g.op("MatMul", z, g.weight("w2", 16, 4), name="after_growing")
    add = [helper.make_node("Add", ["s", "row"], ["t"]), helper.make_node("Relu", ["t"], ["out"])]
    g.nodes.append(helper.make_node("Scan", ["sum", "state"], ["last", "rows"], name="scan",
                                    num_scan_inputs=1, body=body("n", add, ["s", "row"], ["t", "out"])))
    g.op("MatMul", "rows", g.weight("w3", 16, 5), name="after_scan")
    g.save(folder, [("x", FLOAT, [1, 4, 8, 8]), ("yes", TensorProto.BOOL, []),
                    ("often", TensorProto.INT64, []), ("state", FLOAT, [3, 16]),
                    ("sum", FLOAT, [16])], "last")


def broken(folder):
    for name, opset, attributes in (("opset_0", 0, {}), ("opset_26", 26, {}), ("opset_99", 99, {}),
                                    ("word", 15, {"strides": "abc"})):
        g = Graph(name)
        g.save(folder, [("x", FLOAT, [1, 4, 6, 6])],
               g.op("Conv", "x", g.weight("w", 4, 4, 3, 3), name="conv", **attributes), opset)
    # A function that calls itself; and 40, each of which calls the next one twice.
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("local", 1)]
    for name, count in ("endless", 1), ("doubling", 40):
        g = Graph(name)
        g.save(folder, [("x", FLOAT, [4])], g.op("F0", "x", name="call", domain="local"))
        path = folder / f"{name}.onnx"
        model = onnx.load(str(path))
        for i in range(count):
            inner, domain = (f"F{(i + 1) % count}", "local") if i < 39 else ("Relu", "")
            nodes = [helper.make_node(inner, ["X"], ["t"], domain=domain),
                     helper.make_node(inner, ["t"], ["Y"], domain=domain)]
            model.functions.append(helper.make_function("local", f"F{i}", ["X"], ["Y"], nodes, opsets))
        model.opset_import.append(opsets[1])
        onnx.save(model, str(path))
    g = Graph("twice")
    x = g.op("Relu", "x", name="same")
    g.op("Relu", "x", name="same")
    g.save(folder, [("x", FLOAT, [4])], x)


def symbols(folder):
    """The first dim is the tokens; and a tensor that nothing makes."""
    g = Graph("tokens_first")
    g.save(folder, [("x", FLOAT, ["seq", "b", 64])], g.op("MatMul", "x", g.weight("w", 64, 64)))
    g = Graph("from_nowhere")
    g.save(folder, [("x", FLOAT, [4, 64])], g.op("MatMul", "q", g.weight("w", 64, 64), name="mm"))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for make in (resnet50, attention, corners, quantised, contradiction, strange,
                 without_layers, views, products, branches, newer, one_input, custom, bodies, broken,
                 symbols):
        make(target)
