#!/usr/bin/env python3
"""Fits the tables [switched.NAME] of hardware/nccl.toml to calibrate/samples/modern_collectives.csv.

    python3 calibrate/import/fit_switched.py TBDSIM            # prints the three tables' constants and errors
    python3 calibrate/import/fit_switched.py TBDSIM --write    # and writes them into hardware/nccl.toml

Every architecture is fitted to nccl-tests of one board: four operations on 2, 4 and 8 GPUs, 21 octaves of size. The program itself predicts, on
a copy of the catalogue, so the model is written once. Least mean |ln(predicted / measured)|, coordinate by coordinate in steps of a factor,
from START, which no board's figures set; what the samples do not show stays there. The plan by which NCCL chooses is not fitted.
"""
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "calibrate" / "samples" / "modern_collectives.csv"
# Board that was measured, a system with it, the release.
BOARDS = {"Ampere": ("a100-sxm4-80gb", "dgx-a100-80gb", "2.27.3"), "Hopper": ("h100-sxm5-80gb", "dgx-h100", "2.29.2"),
          "Blackwell": ("b300-sxm-288gb", "dgx-b300", "2.29.2")}
# What a latency is before any sample: NCCL's own planned start and steps (NVIDIA/nccl:src/graph/tuning.cc), one microsecond for what it has
# no word for; shares of the line rate of 3/4, a drain of one channel's MiB. Latencies, and rates at which latencies are paid, follow the pace.
LATENCY = {"base": 5.0, "start.1": 7.4, "start.2": 1.8, "step.0": 0.6, "step.1": 1.9, "step.2": 3.4,
           "pairs.start": 1.0, "pairs.peer": 0.3, "pairs.simple_start": 3.0, "reduction.start": 10.0}
SLICED = {"ll_slice": 15.0, "pairs.ll_rate": 6.0}  # GB/s, slower where the pace is longer
OTHER = {"ll_lag": 2.0, "efficiency": 0.75, "ll_share": 0.75, "ll128_share": 0.75, "drain.all_reduce": 1.0, "drain.all_gather": 1.0,
         "drain.reduce_scatter": 1.0, "pairs.efficiency": 0.75, "pairs.own_part": 0.2, "pairs.drain": 0.2, "pairs.drain_full": 8.0,
         "reduction.efficiency": 0.6, "reduction.ramp": 50.0, "reduction.ramp_full": 25.0}
START = {**LATENCY, **SLICED, **OTHER}
UNITS = {"ll_slice": "GB/s", "pairs.ll_rate": "GB/s", "pairs.drain_full": "MiB", "reduction.ramp_full": "MiB", "reduction.ramp": "us",
         **{key: "us" for key in LATENCY}}
SHARES = [key for key in OTHER if key.endswith(("efficiency", "share"))]
FACTORS = (1.5, 1.2, 1.08, 1.03, 1.01)
HELD = 0.005  # weight of |ln(value / start)|, mean over constants


def sample_rows(library=""):
    """(architecture, operation, ranks, bytes, seconds), repeated sweeps averaged: what the constants are fitted to, or the rows of another
    library."""
    found = {}
    architectures = {board: name for name, (board, _, _) in BOARDS.items()}
    releases = {board: release for board, _, release in BOARDS.values()}
    with open(SAMPLES, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["device"] not in releases or row["library"] != (library or "NCCL " + releases[row["device"]]):
                continue
            shape = dict(part.split("=") for part in row["shape"].split(";"))
            key = (architectures[row["device"]], row["op"], int(shape["ranks"]), int(shape["bytes"]))
            found.setdefault(key, []).append(float(row["time_s"]))
    return [(*key, sum(times) / len(times)) for key, times in sorted(found.items())]


def bus_factor(op, ranks):
    return 1.0 if op == "send_recv" else {"all_reduce": 2.0}.get(op, 1.0) * (ranks - 1) / ranks


def table_text(text, name):
    begin = text.index(f"[switched.{name}]")
    end = text.find("\n[", begin + 1)
    return begin, len(text) if end < 0 else end


def place(key):
    """A pattern whose groups 1 and 3 enclose the number, in the text of one table."""
    head, _, rest = key.partition(".")
    number = r"([\d.]+(?:e-?\d+)?)"
    if head in ("start", "step"):
        return re.compile(r'(\n' + head + r' = \[' + r'"[^"]*", ' * int(rest) + r'")' + number + r'( us")')
    if rest:
        return re.compile(r"(\n" + head + r" = \{(?:[^}]*[ {])?" + rest + r' = "?)' + number + r"()")
    return re.compile(r"(\n" + head + r' = "?)' + number + r"()")


class Program:
    """The program on a copy of the catalogue, asked for every sample's time."""

    def __init__(self, program, rows, release=""):
        self.program, self.rows = os.path.abspath(program), rows
        self.folder = tempfile.TemporaryDirectory()
        hardware = os.path.join(self.folder.name, "hardware")
        os.mkdir(hardware)
        for name in os.listdir(ROOT / "hardware"):
            if name != "nccl.toml":
                os.symlink(ROOT / "hardware" / name, os.path.join(hardware, name))
        self.file = os.path.join(hardware, "nccl.toml")
        self.text = (ROOT / "hardware" / "nccl.toml").read_text(encoding="utf-8")
        self.table = os.path.join(self.folder.name, "samples.csv")
        with open(self.table, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow("id,hw,gpus,nodes,network,options,metric,unit,measured,use,group,source".split(","))
            for i, (name, op, ranks, size, time) in enumerate(rows):
                _, system, fitted_to = BOARDS[name]
                writer.writerow([i, system, ranks, "", "", f"--collective {op} --bytes {size} --nccl {release or fitted_to}", "bus_bandwidth", "bytes/s",
                                 f"{bus_factor(op, ranks) * size / time:.6g}", "validation", name, "x"])

    def constants(self, name):
        begin, end = table_text(self.text, name)
        part = self.text[begin:end]
        return {key: float(place(key).search(part).group(2)) for key in START if place(key).search(part)}

    def edited(self, tables):
        """nccl.toml with the constants of each architecture in `tables`."""
        text = self.text
        for name, constants in tables.items():
            begin, end = table_text(text, name)
            part = text[begin:end]
            for key, value in constants.items():
                part = place(key).sub(lambda m, v=value: f"{m.group(1)}{v:.4g}{m.group(3)}", part)
            text = text[:begin] + part + text[end:]
        return text

    def errors(self, tables):
        """ln(predicted / measured) of every row, times."""
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(self.edited(tables))
        report = json.loads(subprocess.run([self.program, "validate", self.table, "--format", "json"], check=True, capture_output=True, text=True,
                                           env={**os.environ, "TBDSIM_CATALOGUE": self.folder.name}).stdout)
        found = [0.0] * len(self.rows)
        for row in report["rows"]:
            found[int(row["id"])] = math.log(row["measured"] / row["predicted"])
        return found


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def by_operation(rows, errors, names):
    """Mean |predicted / measured - 1| over octaves of size: {(architecture, operation, ranks): error}."""
    found = {}
    for (name, op, ranks, _, _), error in zip(rows, errors):
        if name in names:
            found.setdefault((name, op, ranks), []).append(abs(math.exp(error) - 1))
    return {key: mean(values) for key, values in found.items()}


def fit_own(program):
    """Constants of every architecture from its own rows; one run of the program moves the same constant of all of them."""
    names = list(BOARDS)
    keys = {name: list(program.constants(name)) for name in names}
    best = {name: {key: START[key] for key in keys[name]} for name in names}

    def losses(tables):
        errors = program.errors(tables)
        return {name: mean(abs(e) for e, row in zip(errors, program.rows) if row[0] == name)
                + HELD * mean(abs(math.log(tables[name][key] / START[key])) for key in keys[name]) for name in names}

    least = losses(best)
    for factor in FACTORS:
        moved = True
        while moved:
            moved = False
            for key in START:
                for step in (factor, 1 / factor):
                    tried = {name: dict(best[name]) for name in names}
                    for name in names:
                        if key in best[name] and not (key in SHARES and best[name][key] * step > 1):
                            tried[name][key] = best[name][key] * step
                    found = losses(tried)
                    for name in names:
                        if found[name] < least[name] - 1e-6:
                            best[name], least[name], moved = tried[name], found[name], True
    return best


def main():
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and sys.argv[2] != "--write"):
        sys.exit(__doc__)
    program = Program(sys.argv[1], sample_rows())
    best = fit_own(program)
    errors = by_operation(program.rows, program.errors(best), BOARDS)
    for name, constants in best.items():
        print(f"[switched.{name}]")
        for key, value in constants.items():
            print(f"  {key} = {value:.4g} {UNITS.get(key, '')}")
        for (other, op, ranks), error in errors.items():
            if other == name:
                print(f"  {op} {ranks}: {100 * error:.1f} %")
        print(f"  mean: {100 * mean(e for (other, _, _), e in errors.items() if other == name):.2f} %")
    if len(sys.argv) == 3:
        (ROOT / "hardware" / "nccl.toml").write_text(program.edited(best), encoding="utf-8")


if __name__ == "__main__":
    main()
