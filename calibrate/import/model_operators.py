#!/usr/bin/env python3
"""NeuSight's operators timed inside whole models -> one table.   Usage: model_operators.py SOURCE_FOLDER [FILE]

Boards of the catalogue whose model sets are complete. Each row is one operator call: forward, and in training mode backward;
accumulation into existing gradients is left out. Nothing fits on this table: it only validates.
"""
import csv
import os
import sys

from neusight import BOARDS
from sample_file import rows, seconds

KEPT = ("Tesla P100-PCIE-16GB", "Tesla V100-PCIE-32GB", "Tesla T4", "NVIDIA A100-PCIE-40GB", "AMD Instinct MI100")
COLUMNS = ("device", "model", "mode", "batch", "op", "inputs", "output", "forward_s", "backward_s")


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    target = arguments[2] if len(arguments) == 3 else os.path.join(here, "..", "..", "tests", "data", "neusight_model_ops.csv")
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows(arguments[1], "neusight_model_ops.csv"):
            if row["device"] not in KEPT:
                continue
            writer.writerow([BOARDS[row["device"]], row["model"], row["mode"], row["batch"], row["op"], row["input_shapes"],
                             row["output_shape"], seconds(row["fwd_ms"]), seconds(row["bwd_ms"]) if row["bwd_ms"] else ""])


if __name__ == "__main__":
    main(sys.argv)
