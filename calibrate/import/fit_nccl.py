#!/usr/bin/env python3
"""Fits the constants of one fabric in hardware/nccl.toml to the rows of use `fit` of a measured-run table.

    python3 calibrate/import/fit_nccl.py TBDSIM FABRIC TABLE...

FABRIC is mesh or nvswitch. The program itself predicts, on a copy of the catalogue, so the model is written once. Least
squares of ln(predicted / measured), in the logarithms of the constants, by Gauss-Newton with numeric derivatives; every
row counts alike, and each octave of size as much again. NCCL's own planned hops are a weak prior: without it one group of
ranks cannot tell the start of a call from its steps. Prints the constants; the file is edited by hand.
"""
import csv
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Constants by fabric: key, place in an array, unit.
KEYS = {"mesh": [("base", None, "us"), ("hop", 1, "us"), ("hop", 2, "us"), ("ll128_serial", None, "GB/s")],
        "nvswitch": [("base", None, "us"), ("hop", 1, "us"), ("hop", 2, "us"), ("ll128_floor", None, "us"), ("ll128_serial", None, "GB/s"),
                     ("drain_last", None, ""), ("drain_before", None, "")]}
PRIOR = {("hop", 1): 1.9, ("hop", 2): 3.4}  # NVIDIA/nccl:src/graph/tuning.cc, steps over NVLink, us
PRIOR_WEIGHT = {"mesh": 0.02, "nvswitch": 0.05}
PRIOR_SIGMA = 0.5  # of the logarithm
ITERATIONS = 8


def section(text, fabric):
    begin = text.index(f"[fabric.{fabric}]")
    end = text.find("\n[", begin + 1)
    return begin, len(text) if end < 0 else end


def read(part, key, place):
    found = re.search(rf"^{key} = (.*)$", part, re.M).group(1)
    return float(re.findall(r"[0-9.]+(?:e-?[0-9]+)?", found)[place or 0])


def written(part, key, place, unit, value):
    text = f'"{value:.6g} {unit}"' if unit else f"{value:.6g}"
    if place is not None:
        items = re.findall(r'"[^"]*"', re.search(rf"^{key} = (.*)$", part, re.M).group(1))
        items[place] = text
        text = "[" + ", ".join(items) + "]"
    return re.sub(rf"^{key} = .*$", f"{key} = {text}", part, flags=re.M)


def fit_rows(tables, folder):
    """The rows to fit as one table of their own, and their weights."""
    rows, octaves = [], {}
    for table in tables:
        rows += [row for row in csv.DictReader(open(table, encoding="utf-8")) if row["use"] == "fit"]
    path = os.path.join(folder, "fit.csv")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    keys = [int(math.log2(int(re.search(r"--bytes (\d+)", row["options"]).group(1)))) for row in rows]
    for key in keys:
        octaves[key] = octaves.get(key, 0) + 1
    return path, [math.sqrt(0.5 + 0.5 * len(rows) / (len(octaves) * octaves[key])) for key in keys]


def solve(a, b):
    n = len(b)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[pivot] = m[pivot], m[i]
        for r in range(n):
            if r != i:
                f = m[r][i] / m[i][i]
                m[r] = [x - f * y for x, y in zip(m[r], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def main():
    if len(sys.argv) < 4 or sys.argv[2] not in KEYS:
        sys.exit(__doc__)
    program, fabric, tables = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    keys = KEYS[fabric]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "hardware", os.path.join(folder, "hardware"))
        path = os.path.join(folder, "hardware", "nccl.toml")
        text = open(path, encoding="utf-8").read()
        table, weights = fit_rows(tables, folder)

        def residuals(logs):
            begin, end = section(text, fabric)
            part = text[begin:end]
            for (key, place, unit), value in zip(keys, logs):
                part = written(part, key, place, unit, math.exp(value))
            open(path, "w", encoding="utf-8").write(text[:begin] + part + text[end:])
            out = subprocess.run([program, "validate", table, "--format", "json"], capture_output=True, text=True, check=True,
                                 env={**os.environ, "TBDSIM_CATALOGUE": folder}).stdout
            errors = [w * math.log(row["predicted"] / row["measured"]) for row, w in zip(json.loads(out)["rows"], weights)]
            prior = [PRIOR_WEIGHT[fabric] * (value - math.log(PRIOR[key, place])) / PRIOR_SIGMA
                     for (key, place, _), value in zip(keys, logs) if (key, place) in PRIOR]
            return errors + prior

        begin, end = section(text, fabric)
        logs = [math.log(read(text[begin:end], key, place)) for key, place, _ in keys]
        for _ in range(ITERATIONS):
            now = residuals(logs)
            step = 1e-3
            jacobian = []
            for i in range(len(logs)):
                moved = residuals([value + step * (j == i) for j, value in enumerate(logs)])
                jacobian.append([(x - y) / step for x, y in zip(moved, now)])
            normal = [[sum(x * y for x, y in zip(p, q)) for q in jacobian] for p in jacobian]
            change = solve(normal, [-sum(x * y for x, y in zip(p, now)) for p in jacobian])
            logs = [value + max(-0.3, min(0.3, d)) for value, d in zip(logs, change)]
        spread = math.sqrt(sum(x * x for x in residuals(logs)) / len(weights))
        for (key, place, unit), value in zip(keys, logs):
            print(f"{key}{'' if place is None else f'[{place}]'} = {math.exp(value):.4g} {unit}")
        print(f"residual: {100 * spread:.1f} % over {len(weights)} rows")


if __name__ == "__main__":
    main()
