#!/usr/bin/env python3
"""Converts published layer tables and PyTorch reference counts to the three small tables that the tests read, and copies
the files of the same networks in the ONNX format.

usage: python3 import.py SOURCE_DIR     writes *.csv and onnx/*.onnx beside this script

SOURCE_DIR holds
  seeds/arch_layers.csv    layers of MXNet's example symbols (apache/mxnet, example/image-classification/symbols),
                           evaluated by shape inference
  seeds/arch_summary.csv   their totals
  onnx/reference.json      counts measured on the PyTorch 1.13 / torchvision 0.14 modules (CPU kernels)
  onnx/*.onnx              those modules, exported in training mode without weights (PyTorch 1.13, operator set 14)
GoogLeNet is left out of the first two: its rows describe the graph at 224 pixels, which has no legal shapes.
"""
import csv
import json
import pathlib
import shutil
import sys

LAYER_COLUMNS = ["network", "op", "layer", "input_shape", "output_shape", "kernel", "params", "fwd_flops_per_sample"]
SUMMARY_COLUMNS = ["network", "input", "params", "param_arrays", "conv_layers", "fc_layers", "bn_layers"]
REFERENCE_COLUMNS = ["params", "forward_macs_per_sample", "backward_macs_per_sample", "autograd_saved_bytes_per_sample",
                     "autograd_saved_bytes_fixed"]
EXCLUDED = {"googlenet"}


def convert(source, target, columns):
    with open(source, newline="") as rows, open(target, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        for row in csv.DictReader(rows):
            if row["network"] not in EXCLUDED:
                writer.writerow([row[column] for column in columns])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1])
    target = pathlib.Path(__file__).resolve().parent
    convert(source / "seeds/arch_layers.csv", target / "mxnet_layers.csv", LAYER_COLUMNS)
    convert(source / "seeds/arch_summary.csv", target / "mxnet_summary.csv", SUMMARY_COLUMNS)
    reference = json.loads((source / "onnx/reference.json").read_text())
    with open(target / "torch_reference.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["network", *REFERENCE_COLUMNS])
        for name in sorted(reference):
            writer.writerow([name, *(reference[name][column] for column in REFERENCE_COLUMNS)])
    (target / "onnx").mkdir(exist_ok=True)
    for name in reference:
        shutil.copyfile(source / f"onnx/{name}.onnx", target / f"onnx/{name}.onnx")


if __name__ == "__main__":
    main()
