#!/usr/bin/env python3
"""Published kernel tables -> calibrate/samples/*.csv.

    import_kernels.py SOURCE_FOLDER [SAMPLES_FOLDER]
    import_kernels.py --held-out SOURCE_FOLDER FOLDER    rows of the newer boards' tables that no committed sample repeats
"""
import os
import sys

import collectives
import deepbench
import modern
import modern_gemm
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
    **modern.FILES,
    "modern_gemm": modern_gemm.fitted,
    "modern_gemm_new_shapes": modern_gemm.new_shapes,
    "modern_collectives": collectives.collectives,
}


def main(arguments):
    held_out = "--held-out" in arguments
    arguments = [word for word in arguments if word != "--held-out"]
    if len(arguments) not in ((3,) if held_out else (2, 3)):
        sys.exit(__doc__)
    target = arguments[2] if len(arguments) == 3 else os.path.join(os.path.dirname(__file__), "..", "samples")
    total = 0
    for name, convert in (modern.HELD_OUT if held_out else FILES).items():
        count, size = write(os.path.join(target, f"{name}.csv"), convert(arguments[1]))
        total += size
        print(f"{name}.csv: {count} rows, {size} bytes")
    print(f"together {total} bytes")


if __name__ == "__main__":
    main(sys.argv)
