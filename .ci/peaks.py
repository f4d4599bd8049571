#!/usr/bin/env python3
"""Best rate of large square products: predicted against published.   Usage: peaks.py TBDSIM_CALIBRATE

Published: calibrate/samples/peaks/reached.csv, the median of a board's rows where it has several. Predicted: the best of the same sizes.
`error` is of the time. The fp32 rates of GeForce boards since Ampere set `product_issue` (hardware/README.md): no validation. The others
served no fit, but for a bound on the energy of GeForce boards in 16 bits.
"""
import collections
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TABLE = os.path.join(ROOT, "calibrate", "samples", "peaks", "reached.csv")
SIZES = (1024, 2048, 4096, 8192, 10240)
FLOP = 2.0


def published():
    rates = collections.defaultdict(list)
    with open(TABLE, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rates[row["device"], row["precision"]].append(float(row["tflops"]))
    return {key: (statistics.median(values), len(values)) for key, values in sorted(rates.items())}


def predicted(program, keys):
    best = collections.defaultdict(float)
    with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as file:
        file.write("device,family,op,precision,pass,shape,time_s,timing,source\n")
        for device, precision in keys:
            for n in SIZES:
                file.write(f"{device},gemm,bmm,{precision},forward,b=1;m={n};n={n};k={n};ta=0;tb=0,1,kernel,any\n")
        file.flush()
        text = subprocess.run([program, "check", "--hardware", ROOT, "--samples", file.name, "--format", "csv"], check=True,
                              capture_output=True, text=True).stdout
    for row in csv.DictReader(text.splitlines()):
        n = int(re.search(r"m=(\d+)", row["shape"]).group(1))
        key = row["device"], row["precision"]
        best[key] = max(best[key], FLOP * n ** 3 / float(row["predicted_s"]) / 1e12)
    return best


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    rates = published()
    best = predicted(os.path.abspath(arguments[1]), rates)
    errors = collections.defaultdict(list)
    print(f"{'board':24}{'arithmetic':12}{'rows':>5}{'TFLOP/s':>10}{'predicted':>11}{'error':>9}")
    for (device, precision), (rate, count) in rates.items():
        error = rate / best[device, precision] - 1.0
        errors["fp32" if precision == "fp32" else "tensor cores"].append(error)
        print(f"{device:24}{precision:12}{count:5}{rate:10.1f}{best[device, precision]:11.1f}{100 * error:+8.1f} %")
    for name, values in errors.items():
        mean = statistics.mean(map(abs, values))
        print(f"{name}: {len(values)} boards and precisions, mean {100 * mean:.1f} %, bias {100 * statistics.mean(values):+.1f} %")


main(sys.argv)
