#!/usr/bin/env python3
"""Accuracy on the half of the newer boards' kernels that no committed sample repeats.

    python3 calibrate/import/held_out.py TBDSIM_CALIBRATE SOURCE_FOLDER

Mean error in %, bias and share of rows inside their 80 % range: with the parameters of the catalogue, and with everything fitted without
the board. Beside them the error that is aimed at. The baseline is a roofline whose three constants are fitted to the scored rows.
"""
import csv
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import defaultdict

import modern
from sample_file import write

ROOT = pathlib.Path(__file__).resolve().parents[2]
CENTRAL_80 = 1.2815515655446004
# Of a family and pass: with samples of the board, and without.
AIMS = {("attention", "forward"): (8, 11), ("attention", "backward"): (12, 20), ("rms_norm", "backward"): (12, 20),
        ("experts", "forward"): (12, 19)}
ROW_AIM = (6, 12)


def scored(program, tables, left_out):
    command = [program, "check", "--hardware", str(ROOT), "--format", "csv", "--samples", *tables]
    if left_out:
        train = [str(ROOT / "calibrate" / "samples" / f"{name}.csv") for name in modern.TABLES]
        command += ["--leave-out", "board", "--draws", "0", "--train", *train]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = list(csv.DictReader(out.splitlines()))
    return [row for row in rows if row["part"].startswith("board left out")] if left_out else rows


def summary(rows, key):
    groups = defaultdict(list)
    for row in rows:
        predicted, measured = float(row["predicted_s"]), float(row["measured_s"])
        inside = abs(math.log(measured / predicted)) <= CENTRAL_80 * float(row["sigma"])
        groups[key(row)].append((predicted / measured - 1, inside))
    return {name: (len(all_), 100 * sum(abs(e) for e, _ in all_) / len(all_), 100 * sum(e for e, _ in all_) / len(all_),
                   100 * sum(inside for _, inside in all_) / len(all_)) for name, all_ in groups.items()}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        tables = []
        for name, convert in modern.HELD_OUT.items():
            tables.append(os.path.join(folder, f"{name}.csv"))
            write(tables[-1], convert(sys.argv[2]))
        own, without = scored(sys.argv[1], tables, False), scored(sys.argv[1], tables, True)
    print(f"{'':40} {'n':>6} {'fitted':>7} {'bias':>6} {'in 80%':>6} {'left out':>8} {'bias':>6} {'in 80%':>6}  aims")
    for key in (lambda row: (row["family"], row["pass"], ""), lambda row: (row["family"], row["pass"], row["device"])):
        here, there = summary(own, key), summary(without, key)
        for name in sorted(here):
            n, mean, bias, inside = here[name]
            _, out_mean, out_bias, out_inside = there.get(name, (0, math.nan, math.nan, math.nan))
            aims = AIMS.get(name[:2], ROW_AIM)
            print(f"{' '.join(name):40} {n:6} {mean:7.1f} {bias:+6.1f} {inside:6.0f} {out_mean:8.1f} {out_bias:+6.1f} {out_inside:6.0f}"
                  f"  {aims[0]} / {aims[1]}")


if __name__ == "__main__":
    main()
