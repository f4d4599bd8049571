#!/usr/bin/env python3
"""Writes the small files of the ONNX format that tests read, byte by byte, good and bad.

usage: python3 make.py      writes *.onnx beside this script, but for torch_*.onnx

Those are from PyTorch 1.13, by hand, so that building needs no PyTorch:
    for m in cnn encoder lstm; do python3 ../../../model/workload/export_onnx.py torch_modules:$m torch_$m.onnx; done
"""
import pathlib
import struct


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value % 2**64)


def text(field, value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def value(name, dims, kind=1):
    shape = b"".join(text(1, number(1, d) if isinstance(d, int) else text(2, d)) for d in dims)
    return text(1, name) + text(2, text(1, number(1, kind) + text(2, shape)))


def array(name, dims):
    return text(5, b"".join(number(1, d) for d in dims) + number(2, 1) + text(8, name))


def integers(name, values):
    return text(5, number(1, len(values)) + number(2, 7) + text(8, name) + text(9, struct.pack(f"<{len(values)}q", *values)))


def node(kind, inputs, outputs, *attributes):
    return text(1, b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs) + text(3, "/" + outputs[0]) +
                text(4, kind) + b"".join(text(5, a) for a in attributes))


def model(*parts, output="y"):
    graph = b"".join(parts) + text(12, text(1, output))
    return number(1, 7) + text(2, "make.py") + text(7, graph) + text(8, text(1, "") + number(2, 14))


def given(name, dims, kind=1):
    return text(11, value(name, dims, kind))


CONV = [given("x", ["N", 3, 16, 16]), array("conv.weight", [8, 3, 3, 3]), array("fc.weight", [10, 8])]
FILES = {
    # An operator that nobody knows between a convolution and a classifier.
    "odd": model(*CONV, node("Conv", ["x", "conv.weight"], ["c"], text(1, "pads") + number(8, 1) * 4), node("Mystery", ["c"], ["m"]),
                 node("GlobalAveragePool", ["m"], ["p"]), node("Flatten", ["p"], ["f"]),
                 node("Gemm", ["f", "fc.weight"], ["y"], text(1, "transB") + number(3, 1))),
    "length": model(given("tokens", ["N", "T"], 7), array("e.weight", [100, 16]), array("w", [16, 100]),
                    node("Gather", ["e.weight", "tokens"], ["e"]), node("MatMul", ["e", "w"], ["y"])),
    "cycle": model(given("x", ["N", 4]), node("Add", ["x", "b"], ["a"]), node("Tanh", ["a"], ["b"]), output="b"),
    "negative": model(given("x", ["N", -4]), node("Tanh", ["x"], ["y"])),
    "huge": model(given("x", ["N", 2**62, 2**62]), node("Tanh", ["x"], ["y"])),
    "fixed": model(given("x", [2, 3, 4]), array("w", [12, 5]), integers("to", [2, 12]), node("Reshape", ["x", "to"], ["f"]),
                   node("MatMul", ["f", "w"], ["y"])),
    "branch": model(given("x", ["N", 4]), node("If", ["x"], ["y"], text(1, "then_branch") + text(6, text(2, "g")))),
    "shapes": model(given("x", ["N", 6, 8]), integers("zero", [0]), integers("rest", [-1]), node("Shape", ["x"], ["s"]),
                    node("Gather", ["s", "zero"], ["n"]), node("Concat", ["n", "rest"], ["to"], text(1, "axis") + number(3, 0)),
                    node("Reshape", ["x", "to"], ["r"]), node("Tanh", ["r"], ["y"])),
    "slices": model(given("x", ["N", 6, 8]), integers("a", [1, -9]), integers("b", [2**63 - 1, 2]), integers("k", [1, 2]),
                    integers("s", [2, 1]), node("Slice", ["x", "a", "b", "k", "s"], ["c"]), node("Split", ["c"], ["d", "e"], text(1, "axis") + number(3, 2)),
                    node("Transpose", ["d"], ["t"]), node("Softmax", ["t"], ["y"])),
    # Sizes that no tensor has.
    "expand": model(given("x", ["N", 6]), integers("to", [-1, 6]), array("c", [6]), node("Expand", ["c", "to"], ["e"]),
                    node("Add", ["x", "e"], ["y"])),
    "nan": model(given("x", ["N", 6]), text(5, number(1, 1) + number(2, 1) + text(8, "to") + text(9, struct.pack("<f", float("nan")))),
                 node("ConstantOfShape", ["to"], ["e"]), node("Add", ["x", "e"], ["y"])),
    "unsqueeze": model(given("x", ["N", 6]), *(node("Unsqueeze", ["x" if i == 0 else f"u{i - 1}"], [f"u{i}"],
                                                    text(1, "axes") + number(8, 1)) for i in range(100)), node("Tanh", ["u99"], ["y"])),
    "left_out": model(given("x", ["N", 1, 8, 8]), node("MaxPool", ["", "x"], ["y"], text(1, "kernel_shape") + number(8, 2) * 2)),
}
FILES["cut"] = FILES["odd"][:150]
FILES["text"] = b'schema = 1\nname = "no network of this format"\n'


def main():
    folder = pathlib.Path(__file__).resolve().parent
    for name, content in FILES.items():
        (folder / f"{name}.onnx").write_bytes(content)


if __name__ == "__main__":
    main()
