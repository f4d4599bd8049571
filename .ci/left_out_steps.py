#!/usr/bin/env python3
"""Whole training steps of boards that the kernel fits have not seen.   Usage: left_out_steps.py --write|--print BUILD [SAMPLES...]

For each board of the kernel samples with published steps of convolutional networks: kernels.toml is fitted without any sample of its
chip (`same_chip` of model/cost/transfer.cpp: architecture, multiprocessors, lanes), and the published rows of its boards are predicted
from their descriptions alone ("absent"), then with as many random kernel samples of the board, fitted by `calibrate fit`, as each of
SAMPLES says (20 and 200 where none is named; one draw, of Python's generator started with 7). "all": with the committed kernels.toml.
--write puts the table between the markers of calibrate/README.md; minutes. BUILD holds tbdsim and tbdsim-calibrate.
"""
import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(ROOT, "calibrate", "README.md")
BEGIN, END = "<!-- generated: steps -->\n", "<!-- end of steps -->"
TABLES = ["mxnet_1_2", "mxnet_2017", "titan_xp_resnet50_batch", "tensorflow_2017", "lambda_tf", "github_small", "u39kun", "jcjohnson"]
# Board of the kernel samples -> boards of published steps with its name, whose memory or form may differ.
BOARDS = {
    "gtx-1080-ti": ["gtx-1080-ti"],
    "m40": ["m40"],
    "p100-pcie-16gb": ["p100-sxm2-16gb", "p100-pcie-16gb"],
    "titan-xp": ["titan-xp"],
    "titan-x-pascal": ["titan-x-pascal"],
    "titan-x-maxwell": ["titan-x-maxwell"],
    "v100-sxm2-16gb": ["v100-sxm2-16gb", "v100-sxm3-32gb", "v100-sxm2-32gb", "v100-pcie-32gb", "v100-pcie-16gb"],
}
SEED = 7


def fitted_files():
    """Sample files of the command in calibrate/samples/README.md, in its order."""
    text = open(os.path.join(ROOT, "calibrate", "samples", "README.md"), encoding="utf-8").read()
    return list(dict.fromkeys(re.findall(r"[a-z_]+\.csv", text.split("tbdsim calibrate fit --shared")[1])))


def chip(board):
    """What tells chips apart, as `same_chip` of model/cost/transfer.cpp does."""
    with open(f"{ROOT}/hardware/gpus/{board}.toml", "rb") as file:
        device = tomllib.load(file)
    return tuple(device[key] for key in ("architecture", "multiprocessors", "fp32_lanes"))


def twins(board):
    """Other boards of the kernel samples with the same chip."""
    names = {row[0] for name in fitted_files() for row in read(f"{ROOT}/calibrate/samples/{name}")[1:]}
    return sorted(name for name in names - {board} if chip(name) == chip(board))


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def catalogue(folder):
    """A catalogue like the source's whose kernels.toml can be replaced."""
    os.makedirs(f"{folder}/hardware")
    for name in os.listdir(f"{ROOT}/hardware"):
        if name != "kernels.toml":
            os.symlink(f"{ROOT}/hardware/{name}", f"{folder}/hardware/{name}")
    for name in ("scenarios", "calibrate"):
        os.symlink(f"{ROOT}/{name}", f"{folder}/{name}")


def fit_without(build, folder, gone):
    """Fits kernels.toml of `folder` to the samples of all boards but `gone`; gives the header and the rows of the first of them."""
    paths, own = [], []
    for name in fitted_files():
        header, *rows = read(f"{ROOT}/calibrate/samples/{name}")
        paths.append(f"{folder}/{name}")
        write(paths[-1], [header] + [row for row in rows if row[0] not in gone])
        own += [row + [""] * (len(header) - len(row)) for row in rows if row[0] == gone[0]]
    command = [f"{build}/tbdsim-calibrate", "fit", "--shared", "--hardware", ROOT, "-o", f"{folder}/hardware/kernels.toml", "--samples"]
    subprocess.run(command + paths, check=True, capture_output=True)
    return header, own


def validate(build, root, folder, devices):
    """(table, error, inside its range) of every published row whose hw is a key of `devices`, predicted with the device it maps to."""
    result = []
    for table in TABLES:
        header, *rows = read(f"{ROOT}/scenarios/published/{table}.csv")
        hw, use = header.index("hw"), header.index("use")
        kept = []
        for row in rows:
            if row[hw] in devices:
                row = list(row)
                row[hw], row[use] = devices[row[hw]], "validation"
                kept.append(row)
        if not kept:
            continue
        path = f"{folder}/{table}.csv"
        write(path, [header] + kept)
        done = subprocess.run([f"{build}/tbdsim", "validate", path, "--format", "json"], capture_output=True, text=True,
                              env=dict(os.environ, TBDSIM_CATALOGUE=root))
        for row in json.loads(done.stdout)["rows"]:
            if "predicted" in row:
                error = row["measured"] / row["predicted"] - 1 if row["unit"] == "samples/s" else row["error"]
                result.append((table, error, row["low"] <= row["measured"] <= row["high"]))
    return result


def with_samples(build, root, folder, header, own, count, boards):
    """The devices after a fit of `count` of their own samples."""
    chosen = random.Random(SEED).sample(own, min(count, len(own)))
    fitted = {}
    for board in boards:
        write(f"{folder}/own.csv", [header] + [[board] + row[1:] for row in chosen])
        done = subprocess.run([f"{build}/tbdsim-calibrate", "fit", "--hardware", root, "--samples", f"{folder}/own.csv", "-o",
                               f"{folder}/{board}.toml"], capture_output=True, text=True)
        fitted[board] = f"{folder}/{board}.toml" if done.returncode == 0 else board
    return fitted


def cell(errors):
    n = len(errors)
    return "{:.1f} ({:+.1f}) [{:.0f}]".format(100 * sum(abs(e) for _, e, _ in errors) / n, 100 * sum(e for _, e, _ in errors) / n,
                                             100 * sum(inside for *_, inside in errors) / n)


def table_mean(parts):
    """Mean over boards and tables of the mean absolute error, in %."""
    means = []
    for errors in parts:
        for table in sorted({t for t, *_ in errors}):
            own = [abs(e) for t, e, _ in errors if t == table]
            means.append(sum(own) / len(own))
    return "{:.1f}".format(100 * sum(means) / len(means))


def tables(build, counts):
    columns = ["all samples", "absent"] + [f"{n} samples" for n in counts]
    lines = ["| board | steps | " + " | ".join(columns) + " |", "|---|---" + "|---" * len(columns) + "|"]
    parts = {column: [] for column in columns}
    for board, boards in BOARDS.items():
        with tempfile.TemporaryDirectory() as folder:
            catalogue(folder)
            header, own = fit_without(build, folder, [board] + twins(board))
            same = {name: name for name in boards}
            found = [validate(build, ROOT, folder, same), validate(build, folder, folder, same)]
            for count in counts:
                found.append(validate(build, folder, folder, with_samples(build, folder, folder, header, own, count, boards)))
        for column, errors in zip(columns, found):
            parts[column].append(errors)
        lines.append(f"| {board} | {len(found[0])} | " + " | ".join(map(cell, found)) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    every = [[e for errors in parts[c] for e in errors] for c in columns]
    lines.append(f"| all | {len(every[0])} | " + " | ".join(map(cell, every)) + " |")
    lines.append("| mean of tables | | " + " | ".join(table_mean(parts[c]) for c in columns) + " |")
    return "\n".join(lines) + "\n"


def main(arguments):
    if len(arguments) < 3 or arguments[1] not in ("--write", "--print"):
        sys.exit(__doc__)
    fresh = tables(os.path.abspath(arguments[2]), [int(n) for n in arguments[3:]] or [20, 200])
    if arguments[1] == "--print":
        print(fresh, end="")
        return
    text = open(PAGE, encoding="utf-8").read()
    at = text.index(BEGIN) + len(BEGIN)
    open(PAGE, "w", encoding="utf-8").write(text[:at] + fresh + text[text.index(END, at):])


if __name__ == "__main__":
    main(sys.argv)
