"""DeepBench and convnet-benchmarks tables -> samples.

Both time many launches back to back and divide, so host launch is hidden: `timing` is `kernel`.
"""
from sample_file import rows, seconds, shape, without_copies

# Table name -> catalogue id and toolchain. The P100 sits in a PCIe workstation, the V100 in a DGX-1. The Xeon Phi is
# left out: it is no accelerator of the catalogue.
BOARDS = {
    "TITAN X (Maxwell)": ("titan-x-maxwell", "cudnn 5; cuda 7.5"),
    "Tesla M40": ("m40", "cudnn 5; cuda 7.5"),
    "TITAN X (Pascal)": ("titan-x-pascal", "cudnn 5; cuda 8"),
    "GTX 1080 Ti": ("gtx-1080-ti", "cudnn 6.0.21; cuda 8.0.88"),
    "TITAN Xp": ("titan-xp", "cudnn 6.0.21; cuda 8.0.88"),
    "Tesla P100": ("p100-pcie-16gb", "cudnn 6.0.21; cuda 8.0.88"),
    "Tesla V100": ("v100-sxm2-16gb", "cudnn 7.6.2; cuda 10.1.243"),
    "Tesla T4": ("t4", "cudnn 7.6.2; cuda 10.1.243"),
    "AMD MI25": ("mi25", "miopen 1.3; rocm 1.7.1"),
    "AMD Vega Frontier Edition": ("vega-fe", "miopen 1.3; rocm 1.7.1"),
}
PRECISIONS = {"fp32": ("fp32", ""), "fp16_tensor_core": ("fp16", ""), "fp16_in_fp32_math": ("fp16", "fp16-in-fp32-math")}
SOURCE = "DeepBench@da81ba7:results/train"

# The sheets' names of forward algorithms; one is cut off in two cells of each of the V100 and T4 sheets.
ALGORITHMS = {"LICIT_PRECOMP_GEMM": "implicit_precomp_gemm", "ConvolutionFwdAlgoWinograd": "winograd",
              "ConvolutionFwdAlgoDirect": "direct", "ConvolutionFwdAlgoGEMM": "gemm", "ConvolutionFwdAlgoFFT": "fft"}

PASSES = (("forward", "fwd_ms"), ("backward_data", "bwd_data_ms"), ("backward_weights", "bwd_weights_ms"))
FIRST_LAYER_CHANNELS = 4  # up to RGB and depth: a network never asks for the gradient of such an input


def boards(table):
    """(row, columns that do not depend on the family) of the boards we know."""
    for row in table:
        if row["device"] in BOARDS:
            device, library = BOARDS[row["device"]]
            precision, flag = PRECISIONS[row["precision"]]
            yield row, {"device": device, "precision": precision, "timing": "kernel", "library": library, "flags": flag,
                        "source": SOURCE}


def flags(*names):
    return " ".join(name for name in names if name)


def gemm(folder):
    """Column-major BLAS calls as row-major products.

    A column-major C[m,n] = op(A) op(B) is, in the same memory read row by row, C^T[n,m] = op(B)^T op(A)^T. So m and n
    change places and B comes first. Column-major B without transposition is k x n, which read row by row is n x k,
    that is op(B)^T as it stands: the new first operand is transposed exactly when B was (ta = b_t), likewise tb = a_t.
    """
    return without_copies([
        {**common, "family": "gemm", "op": "matmul", "pass": "forward", "time_s": seconds(row["time_ms"]),
         "shape": shape(b=1, m=row["n"], n=row["m"], k=row["k"], ta=row["b_t"], tb=row["a_t"])}
        for row, common in boards(rows(folder, "deepbench_gemm.csv"))])


def fractional_output(row):
    """The two shapes whose FLOP/s the sheets compute with an output size that is not rounded down."""
    return (row["w"], row["h"], row["c"], row["pad_w"]) == ("7", "7", "2048", "3")


def convolution(folder):
    samples = []
    for row, common in boards(rows(folder, "deepbench_conv.csv")):
        keys = shape(n=row["n"], c=row["c"], h=row["h"], w=row["w"], k=row["k"], r=row["r_filter_h"], s=row["s_filter_w"],
                     stride_h=row["stride_h"], stride_w=row["stride_w"], pad_h=row["pad_h"], pad_w=row["pad_w"],
                     dilation=1, groups=1)
        algorithm = ALGORITHMS.get(row["fwd_algorithm"], row["fwd_algorithm"].lower())
        for name, column in PASSES:
            if not row[column]:
                continue
            first = name == "backward_data" and int(row["c"]) <= FIRST_LAYER_CHANNELS
            samples.append({**common, "family": "conv", "op": "conv", "pass": name, "shape": keys, "layout": "nchw",
                            "time_s": seconds(row[column]), "algorithm": algorithm if name == "forward" else "",
                            "flags": flags(common["flags"], "first-layer" if first else "",
                                           "fractional-output" if fractional_output(row) else "")})
    return without_copies(samples)


def recurrent(folder):
    """One layer, one direction. By the benchmark's rules the input product is left out (cuDNN's skip-input mode)."""
    samples = []
    for row, common in boards(rows(folder, "deepbench_rnn.csv")):
        keys = shape(cell=row["type"], input=row["hidden"], hidden=row["hidden"], batch=row["batch"],
                     steps=row["timesteps"], layers=1, directions=1)
        split = bool(row["bwd_data_ms"])  # else one backward figure; where split, that figure is their sum
        passes = PASSES if split else (PASSES[0], ("backward", "bwd_ms"))
        samples += [{**common, "family": "rnn", "op": "rnn", "pass": name, "shape": keys, "time_s": seconds(row[column]),
                     "flags": flags(common["flags"], "skip-input")} for name, column in passes]
    return without_copies(samples)


CONVNET_LIBRARIES = {"cuDNN R4 (Torch7)": ("cudnn 4; torch7", ""),
                     "Torch7 SpatialConvolutionMM (im2col+SGEMM)": ("torch7", "explicit_gemm")}


def convnet_benchmarks(folder):
    """The five single layers; square images and filters, no padding, 10-step averages."""
    samples = []
    for row in rows(folder, "convnet_benchmarks.csv"):
        if row["level"] != "layer":
            continue
        library, algorithm = CONVNET_LIBRARIES[row["library"]]
        keys = shape(n=row["n"], c=row["c"], h=row["h"], w=row["w"], k=row["k"], r=row["filter"], s=row["filter"],
                     stride_h=row["stride"], stride_w=row["stride"], pad_h=row["pad"], pad_w=row["pad"], dilation=1, groups=1)
        for name, column in PASSES:
            first = name == "backward_data" and int(row["c"]) <= FIRST_LAYER_CHANNELS
            samples.append({"device": "titan-x-maxwell", "family": "conv", "op": "conv", "precision": "fp32", "pass": name,
                            "shape": keys, "time_s": seconds(row[column]), "timing": "kernel", "algorithm": algorithm,
                            "layout": "nchw", "library": library, "flags": flags("first-layer" if first else ""),
                            "source": "soumith/convnet-benchmarks:torch7"})
    return samples
