#!/usr/bin/env python3
"""Accuracy of matrix products of boards since Ampere on shapes that no fit has seen.   Usage: products.py TBDSIM_CALIBRATE [DRAWS]

One line a board, precision and library: mean absolute error in percent and, in brackets, the share of rows inside their 80 % range.
"fitted" takes hardware/kernels.toml as it is, whose fit had the board's other shapes. "board left out" has no row of the board.
"20 samples" has 20 random rows of each of its precisions (mean of DRAWS draws). Each library of 8-bit products is drawn and scored apart. "roofline" is t0 + max(FLOP/(e peak), bytes/(f
bandwidth)) with three constants fitted to the very rows that it is scored on.
"""
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
FITTED, NEW = "calibrate/samples/modern_gemm.csv", "calibrate/samples/modern_gemm_new_shapes.csv"
CENTRAL_80 = 1.2815515655446004


def run(program, table, *arguments):
    return subprocess.run([program, "check", "--hardware", ".", "--samples", table, *arguments], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout


def of_library(table, name, folder):
    """The rows of a table without the 8-bit ones of other libraries, as a file."""
    path = os.path.join(folder, os.path.basename(table))
    with open(os.path.join(ROOT, table), newline="", encoding="utf-8") as file, open(path, "w", newline="", encoding="utf-8") as out:
        rows = csv.DictReader(file)
        writer = csv.DictWriter(out, rows.fieldnames, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in rows if row["precision"] != "fp8" or library(row) == name)
    return path


def library(row):
    return row["library"].split(";")[0] + (" (models)" if row["source"].startswith("vidur") else "")


def scored(program, table, *arguments):
    """Lists of (error, inside) by part, then by board, precision and library."""
    import math
    with open(os.path.join(ROOT, table), newline="", encoding="utf-8") as file:
        samples = list(csv.DictReader(file))
    parts = collections.defaultdict(lambda: collections.defaultdict(list))
    head, *lines = run(program, table, *arguments, "--format", "csv").splitlines()
    columns = head.split(",")
    for line in lines:
        # The name of a part may hold commas.
        cells = line.rsplit(",", len(columns) - 1)
        row = dict(zip(columns, cells))
        sample = samples[int(row["line"]) - 2]
        measured, predicted = float(row["measured_s"]), float(row["predicted_s"])
        inside = abs(math.log(measured / predicted)) <= CENTRAL_80 * float(row["sigma"])
        parts[row["part"]][sample["device"], sample["precision"], library(sample)].append((abs(predicted / measured - 1), inside))
    return parts


def cell(rows):
    if not rows:
        return "-"
    return f"{100 * sum(e for e, _ in rows) / len(rows):.1f} [{100 * sum(i for _, i in rows) / len(rows):.0f}]"


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    program, draws = os.path.abspath(arguments[1]), arguments[2] if len(arguments) == 3 else "5"
    fitted = next(iter(scored(program, NEW).values()))
    absent, few = {}, {}
    for name in sorted({name for _, precision, name in fitted if precision == "fp8"}):
        with tempfile.TemporaryDirectory() as folder:
            table, train = of_library(NEW, name, folder), of_library(FITTED, name, folder)
            left = list(scored(program, table, "--train", train, "--leave-out", "board", "--draws", draws).values())
        for into, part in ((absent, left[1]), (few, left[2])):
            into.update({key: rows for key, rows in part.items() if key[1] != "fp8" or key[2] == name})
    roofline = {(g["device"], g["precision"]): g["fitted_roofline_mean_ape"]
                for g in json.loads(run(program, NEW, "--format", "json"))["parts"][0]["devices"]}
    print("| board | precision | library | n | fitted | board left out | 20 samples | roofline of the board's rows |")
    print("|---|---|---|---|---|---|---|---|")
    for key in sorted(fitted):
        board, precision, name = key
        line = roofline.get((board, precision))
        print(f"| {board} | {precision} | {name} | {len(fitted[key])} | {cell(fitted[key])} | {cell(absent.get(key))} | {cell(few.get(key))} | "
              + (f"{100 * line:.1f}" if line is not None else "-") + " |")


if __name__ == "__main__":
    main(sys.argv)
