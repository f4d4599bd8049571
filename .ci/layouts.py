#!/usr/bin/env python3
"""What the rows of vTrain say beyond their mean error.   Usage: layouts.py BUILD

By class of layout, and the regret of a planner that takes the fastest predicted one of each group of network, GPUs and samples of an
update: the measured time of its choice over the best measured one, less 1. Then `calibrate anchor` on 20 random rows, scored on the
others, ten draws of Python's generator started with 1 to 10. Rows marked `fit` enter the regret alone, whose groups they complete.
BUILD holds tbdsim and tbdsim-calibrate.
"""
import collections
import csv
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TABLE = os.path.join(ROOT, "scenarios", "layouts", "vtrain.csv")
DRAWS, SIZE, LEAST = range(1, 11), 20, 3
LAYOUT = re.compile(r"h(\d+) l(\d+) t(\d+) d(\d+) p(\d+) b(\d+) m(\d+)")


def validated(build, table):
    run = subprocess.run([os.path.join(build, "tbdsim"), "validate", "--format", "csv", table], capture_output=True, text=True, check=True)
    return list(csv.DictReader(run.stdout.splitlines()))


def error(rows):
    return statistics.mean(abs(float(row["error"])) for row in rows)


def regret(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        width, layers, tensor, data, stages, batch, micro = map(int, LAYOUT.match(row["id"]).groups())
        groups[width, layers, tensor * data * stages, batch * micro * data].append((float(row["predicted"]), float(row["measured"])))
    lost = [min(group)[1] / min(measured for _, measured in group) - 1.0 for group in groups.values() if len(group) >= LEAST]
    return lost


def write(path, rows, more=""):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            model = os.path.join(os.path.dirname(TABLE), row["model"])
            writer.writerow({**row, "model": model, "options": f"{row['options']}{more}".strip()})


def anchored(build, rows, seed, folder):
    picked = set(random.Random(seed).sample(range(len(rows)), SIZE))
    anchors = os.path.join(folder, "anchors.toml")
    write(os.path.join(folder, "few.csv"), [row for i, row in enumerate(rows) if i in picked])
    subprocess.run([os.path.join(build, "tbdsim"), "calibrate", "anchor", os.path.join(folder, "few.csv"), "-o", anchors],
                   capture_output=True, check=True)
    rest = os.path.join(folder, "rest.csv")
    write(rest, [row for i, row in enumerate(rows) if i not in picked], f" --calibration {anchors}")
    return error(validated(build, rest))


def main(build):
    rows = validated(build, TABLE)
    others = [row for row in rows if row["use"] != "fit"]
    print(f"{len(others)} rows that nothing is fitted to: {error(others):.1%}")
    classes = collections.defaultdict(list)
    for row in others:
        classes[row["group"]].append(row)
    for name, group in sorted(classes.items()):
        print(f"  {name}: {error(group):.1%} of {len(group)}")
    lost = regret(rows)
    named, near = sum(one <= 0.0 for one in lost), sum(one <= 0.02 for one in lost)
    print(f"regret on {len(lost)} groups: {statistics.mean(lost):.1%} on average, {statistics.median(lost):.1%} in the median; "
          f"the best layout is named in {named} groups, {near} lose at most 2 %")
    with open(TABLE, newline="", encoding="utf-8") as file:
        table = [row for row in csv.DictReader(file) if row["use"] != "fit"]
    with tempfile.TemporaryDirectory() as folder:
        draws = [anchored(build, table, seed, folder) for seed in DRAWS]
    print(f"anchored on {SIZE} rows: {statistics.mean(draws):.1%}, {min(draws):.1%} to {max(draws):.1%}, of {len(draws)} draws")


if __name__ == "__main__":
    main(sys.argv[1])
