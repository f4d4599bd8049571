"""NeuSight kernel tables -> samples, thinned.

Each figure is the mean of the 5 smallest of 25 event timings around one framework call: `timing` is `call`.
"""
import math
from collections import defaultdict

from sample_file import rows, seconds, shape, without_copies

BOARDS = {
    "Tesla P4": "p4",
    "Tesla P100-PCIE-16GB": "p100-pcie-16gb",
    "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
    "Tesla T4": "t4",
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb",
    "AMD Instinct MI100": "mi100",
}
LIBRARY = "pytorch 2.1.0; cuda 12.1; cudnn 8.9.2"
LIBRARY_AMD = "torch 2.4.1; rocm 6"

# Rows kept beside the `test` split, which is kept whole: what is enough to fit a few constants a board.
TRAIN_ROWS = {"conv": 3000, "linear": 1200, "bmm": 800, "elementwise": 1500, "softmax": 1500, "layernorm": 1500}

ELEMENTWISE = {"addu": "add", "mulu": "mul", "powu": "pow", "divu": "div"}  # their name of tensor-with-scalar forms


def spread_over(stratum, count):
    """`count` rows, evenly spaced in order of time."""
    ordered = sorted(stratum, key=lambda row: (float(row["fwd_ms"]), sorted(row.items())))
    return [ordered[(2 * i + 1) * len(ordered) // (2 * count)] for i in range(count)]


def thinned(table, size, wanted):
    """Every `test` row, and `wanted` others: as even as can be over device x op x log2(size)."""
    strata = defaultdict(list)
    for row in table:
        if row["split"] != "test":
            strata[(row["device"], row["op"], math.floor(math.log2(size(row))))].append(row)
    kept, left = set(), wanted
    for done, key in enumerate(sorted(strata, key=lambda key: (len(strata[key]), key))):
        count = min(len(strata[key]), left // (len(strata) - done))
        kept.update(map(id, spread_over(strata[key], count)))
        left -= count
    return [row for row in table if row["split"] == "test" or id(row) in kept]


def product(row, *names):
    return math.prod(int(row[name]) for name in names)


def common(row, family, op):
    amd = row["device"].startswith("AMD")
    products = family in ("gemm", "conv")
    return {"device": BOARDS[row["device"]], "family": family, "op": op, "precision": row["precision"], "pass": "forward",
            "time_s": seconds(row["fwd_ms"]), "timing": "call", "library": LIBRARY_AMD if amd else LIBRARY,
            # fp32 products of this board run on its matrix cores, at twice the vector rate
            "flags": "matrix-cores" if amd and products else "", "source": f"NeuSight@6945927:{row['split']}"}


def convolution(folder):
    table = rows(folder, "neusight_conv.csv")
    # One process a board ran all shapes in this order, and its calls of cuDNN took the longer the more shapes it knew.
    ran = defaultdict(int)
    for row in table:
        row["before"] = ran[row["device"]]
        ran[row["device"]] += 1
    kept = thinned(table, lambda row: product(row, "n", "c", "k", "h", "w"), TRAIN_ROWS["conv"])
    return without_copies([
        {**common(row, "conv", "conv"), "flags": f"shapes_before={row['before']}", "algorithm": row["algorithm"], "layout": "nchw",
         "shape": shape(n=row["n"], c=row["c"], h=row["h"], w=row["w"], k=row["k"], r=row["r"], s=row["s"],
                        stride_h=row["stride"], stride_w=row["stride"], pad_h=row["pad"], pad_w=row["pad"],
                        dilation=1, groups=1)} for row in kept])


def linear(folder):
    """y[m,n] = x[m,k] W[n,k]^T + bias: PyTorch keeps W as n x k, so the second operand is transposed."""
    kept = thinned(rows(folder, "neusight_linear.csv"), lambda row: product(row, "m", "n", "k"), TRAIN_ROWS["linear"])
    return without_copies([{**common(row, "gemm", "linear"),
                            "shape": shape(b=row["b"], m=row["m"], n=row["n"], k=row["k"], ta=0, tb=1)} for row in kept])


def batched_matmul(folder):
    kept = thinned(rows(folder, "neusight_bmm.csv"), lambda row: product(row, "b", "m", "n", "k"), TRAIN_ROWS["bmm"])
    return without_copies([{**common(row, "gemm", "matmul"),
                            "shape": shape(b=row["b"], m=row["m"], n=row["n"], k=row["k"], ta=0, tb=0)} for row in kept])


def elementwise(folder):
    kept = thinned(rows(folder, "neusight_elementwise.csv"), lambda row: product(row, "rows", "cols"), TRAIN_ROWS["elementwise"])
    return without_copies([{**common(row, "elementwise", ELEMENTWISE.get(row["op"], row["op"])),
                            "shape": shape(elements=product(row, "rows", "cols"), inputs=row["n_inputs"], outputs=1)}
                           for row in kept])


def by_rows(folder, name, family):
    kept = thinned(rows(folder, f"neusight_{name}.csv"), lambda row: product(row, "rows", "cols"), TRAIN_ROWS[name])
    return without_copies([{**common(row, family, family), "shape": shape(rows=row["rows"], cols=row["cols"])} for row in kept])


def softmax(folder):
    return by_rows(folder, "softmax", "softmax")


def layer_norm(folder):
    return by_rows(folder, "layernorm", "layer_norm")
