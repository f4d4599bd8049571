#!/usr/bin/env python3
"""Published kernel tables -> calibrate/samples/*.csv.   Usage: import_kernels.py SOURCE_FOLDER [SAMPLES_FOLDER]"""
import os
import sys

import collectives
import deepbench
import neusight
from sample_file import write

FILES = {
    "deepbench_gemm": deepbench.gemm,
    "deepbench_conv": deepbench.convolution,
    "deepbench_rnn": deepbench.recurrent,
    "convnet_benchmarks": deepbench.convnet_benchmarks,
    "neusight_conv": neusight.convolution,
    "neusight_linear": neusight.linear,
    "neusight_bmm": neusight.batched_matmul,
    "neusight_elementwise": neusight.elementwise,
    "neusight_softmax": neusight.softmax,
    "neusight_layer_norm": neusight.layer_norm,
    "modern_collectives": collectives.collectives,
}


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    target = arguments[2] if len(arguments) == 3 else os.path.join(os.path.dirname(__file__), "..", "samples")
    total = 0
    for name, convert in FILES.items():
        count, size = write(os.path.join(target, f"{name}.csv"), convert(arguments[1]))
        total += size
        print(f"{name}.csv: {count} rows, {size} bytes")
    print(f"together {total} bytes")


if __name__ == "__main__":
    main(sys.argv)
