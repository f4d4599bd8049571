#!/usr/bin/env python3
"""How well all-reduce is predicted on a box whose own sweep set nothing.   Usage: collectives_left_out.py --write|--check|--print TBDSIM

--write fits the constants of hardware/nccl.toml that published sweeps of single boxes share once without each box, tests them on that box, does
the same for the steps between nodes with every RDMA sweep alone, predicts every operation of the boxes of today from the constants of the
others, and puts the figures into scenarios/collectives/README.md (minutes). --print TBDSIM prints the part of the boxes of today.
--check fails where the constants or the sweeps are others than those of the figures.
"""
import csv
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "calibrate", "import"))
import fit_switched

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(ROOT, "scenarios", "collectives", "README.md")
BEGIN, END = "<!-- generated: left out -->\n", "<!-- end -->"
LARGE = 256 << 20

# Shared constants: where each stands in nccl.toml (table header, key) and its unit. The LL hop is one value of four fabrics.
LL_HOP = ("fabric", "hop", "us")
SINGLE = [("[launch.one-process]", "base", "us"), ("[launch.one-process]", "per_gpu", "us"), ("[launch.process-per-gpu]", "base", "us"),
          ("[launch.framework]", "base", "us"), LL_HOP]
BETWEEN = [("[transport.rdma]", "hop_ll", "us"), ("[transport.rdma]", "hop", "us")]
# Links whose rate is the plateau of the box itself, and what other boxes say of them: (file, stated, of others).
OWN_LINK = {"dgx2-12-gpus": ("dgx2.toml", '"20.5 GB/s"', '"19.75 GB/s"'),  # 0.79 of the line rate, HGX A100
            "dgx1-p100": ("dgx1-p100.toml", '"17.4 GB/s"', '"18 GB/s"')}  # what NCCL plans with for Pascal's NVLink (src/graph/topo.h)
RDMA = ["oci-a100-roce", "dgx-a100-4-nodes", "h100-2-nodes", "h100-2-nodes-nvls", "h100-8-nodes", "b200-2-nodes", "b200-4-nodes"]


def pattern(constant):
    header, key, _ = constant
    if constant == LL_HOP:
        return re.compile(r'(\[fabric\.\w+\][^\[]*?\nhop = \[")([\d.]+)()', re.S)
    return re.compile(r"(" + re.escape(header) + r'[^\[]*?\n' + key + r' = "?)([\d.]+)()', re.S)


class Catalogue:
    """A copy of the catalogue with other constants, asked through the program."""

    def __init__(self, program, tables, constants):
        self.program, self.constants = os.path.abspath(program), constants
        self.tables = [os.path.join(ROOT, "scenarios", "collectives", table) for table in tables]
        self.folder = tempfile.TemporaryDirectory()
        self.hardware = os.path.join(self.folder.name, "hardware")
        os.mkdir(self.hardware)
        for name in os.listdir(os.path.join(ROOT, "hardware")):
            if name not in ("nccl.toml", "systems"):
                os.symlink(os.path.join(ROOT, "hardware", name), os.path.join(self.hardware, name))
        os.mkdir(os.path.join(self.hardware, "systems"))
        with open(os.path.join(ROOT, "hardware", "nccl.toml"), encoding="utf-8") as file:
            self.text = file.read()
        self.stated = tuple(float(pattern(c).search(self.text).group(2)) for c in constants)
        self.known = {}
        self.needs = {box: self.needed(box, options) for box, options in self.sweeps().items()}

    def sweeps(self):
        """Options of each box's rows."""
        found = {}
        for table in self.tables:
            with open(table, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    found[row["group"]] = row["hw"] + " " + row["options"]
        return found

    def needed(self, box, options):
        """Places of the constants that the box can see: all but those of other ways of launching."""
        other = {"[launch." + name + "]": "--launch " + name not in options for name in ("one-process", "process-per-gpu", "framework")}
        return [i for i, constant in enumerate(self.constants) if not other.get(constant[0], False)]

    def write_systems(self, left_out):
        for name in os.listdir(os.path.join(ROOT, "hardware", "systems")):
            with open(os.path.join(ROOT, "hardware", "systems", name), encoding="utf-8") as file:
                text = file.read()
            if left_out in OWN_LINK and OWN_LINK[left_out][0] == name:
                text = text.replace("sm_copy = " + OWN_LINK[left_out][1], "sm_copy = " + OWN_LINK[left_out][2])
            with open(os.path.join(self.hardware, "systems", name), "w", encoding="utf-8") as file:
                file.write(text)

    def errors(self, values, left_out=""):
        """Per box the (bytes, time error) of every row, fit rows too."""
        own = left_out if left_out in OWN_LINK else ""
        keys = {box: (box, own == box, *(values[i] for i in needs)) for box, needs in self.needs.items()}
        if not all(key in self.known for key in keys.values()):
            for box, rows in self.run(values, own).items():
                self.known[keys[box]] = rows
        return {box: self.known[key] for box, key in keys.items()}

    def run(self, values, own):
        text = self.text
        for constant, value in zip(self.constants, values):
            text = pattern(constant).sub(lambda m, v=value: f"{m.group(1)}{v:.6g}", text)
        with open(os.path.join(self.hardware, "nccl.toml"), "w", encoding="utf-8") as file:
            file.write(text)
        self.write_systems(own)
        report = json.loads(subprocess.run([self.program, "validate", *self.tables, "--format", "json"], check=True, capture_output=True,
                                           text=True, env={**os.environ, "TBDSIM_CATALOGUE": self.folder.name}).stdout)
        boxes = {}
        for row in report["rows"]:
            boxes.setdefault(row["group"], []).append((int(row["id"].rsplit("-", 1)[1]), row["measured"] / row["predicted"] - 1))
        return boxes


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def box_error(rows, least=0):
    """Mean over the sizes from `least` on; none where a box has no such size."""
    rows = [abs(error) for size, error in rows if size >= least]
    return mean(rows) if rows else None


def fitted(catalogue, boxes):
    """Constants of least mean |ln(measured / predicted)| over `boxes`, by coordinates, in steps of a factor."""
    def loss(values):
        every = catalogue.errors(values)
        return mean(mean(abs(math.log1p(error)) for _, error in every[box]) for box in boxes)

    best, least = catalogue.stated, loss(catalogue.stated)
    for step in (1.5, 1.15):
        moved = True
        while moved:
            moved = False
            for i, constant in enumerate(catalogue.constants):
                for factor in (step, 1 / step):
                    value = float(f"{best[i] * factor:.4g}")
                    if (constant[1] == "efficiency" and value > 1) or value < catalogue.stated[i] / 10:  # what is not seen does not run away
                        continue
                    tried = best[:i] + (value,) + best[i + 1:]
                    found = loss(tried)
                    if found < least - 1e-6:
                        best, least, moved = tried, found, True
    return best


def percent(share):
    return "–" if share is None else f"{100 * share:.1f}"


def single_boxes(program):
    catalogue = Catalogue(program, ["single_boxes.csv"], SINGLE)
    stated = catalogue.errors(catalogue.stated)
    together = catalogue.errors(fitted(catalogue, list(stated)))
    lines = ["| box | as shipped | fitted on all | left out | left out, from 256 MiB |", "|---|---|---|---|---|"]
    columns, kept = [[], [], [], []], []
    for box in stated:
        values = fitted(catalogue, [other for other in stated if other != box])
        left, own = catalogue.errors(values, box)[box], catalogue.errors(values)[box]
        kept.append((box_error(own), box_error(own, LARGE)))
        figures = [box_error(stated[box]), box_error(together[box]), box_error(left), box_error(left, LARGE)]
        for column, figure in zip(columns, figures):
            column += [figure] if figure is not None else []
        lines.append(f"| {box} | " + " | ".join(map(percent, figures)) + " |")
    lines.append(f"| **mean of {len(stated)}** | " + " | ".join(percent(mean(column)) for column in columns) + " |")
    lines.append(f"\nWith the two NVLink plateaus as shipped, left out: mean {percent(mean(error for error, _ in kept))}, from 256 MiB "
                 f"{percent(mean(error for _, error in kept if error is not None))}.")
    return lines


def rdma(program):
    catalogue = Catalogue(program, ["multi_node.csv"], BETWEEN)
    lines = ["| constants from | LL step, us | Simple step, us | mean of the other six |", "|---|---|---|---|"]
    means = []
    for sweep in RDMA:
        values = fitted(catalogue, [sweep])
        errors = catalogue.errors(values)
        means.append(mean(box_error(errors[other]) for other in RDMA if other != sweep))
        lines.append(f"| {sweep} | {values[0]:.3g} | {values[1]:.3g} | {percent(means[-1])} |")
    errors = catalogue.errors(catalogue.stated)
    shipped = mean(box_error(errors[other]) for other in RDMA[1:])
    lines.append(f"| **shipped** (oci-a100-roce, rounded) | {catalogue.stated[0]:.3g} | {catalogue.stated[1]:.3g} | {percent(shipped)} |")
    return lines


CLOCKS = {"Ampere": 1.41, "Hopper": 1.98, "Blackwell": 1.92}  # GHz, boost_clock of the boards in hardware/gpus
# Board whose pace a board without any message borrows, over its clock: the nearest older architecture, else the nearest newer.
LENDER = {"Ampere": "Hopper", "Hopper": "Ampere", "Blackwell": "Hopper"}


def without(own, name):
    """Constants of an architecture from those of the others, latencies over their pace: geometric means, in units of the pace."""
    pace = {other: values["base"] + 2 * values["step.0"] for other, values in own.items()}  # smallest all-reduce on 2 GPUs
    found = {}
    for key in own[name]:
        logs = []
        for other, values in own.items():
            if other == name or key not in values:
                continue
            power = -1 if key in fit_switched.LATENCY else 1 if key in fit_switched.SLICED else 0
            logs.append(math.log(values[key] * pace[other] ** power))
        found[key] = math.exp(mean(logs)) if logs else own[name][key]
    return found, pace


def at_pace(constants, pace):
    return {key: value * (pace if key in fit_switched.LATENCY else 1 / pace if key in fit_switched.SLICED else 1)
            for key, value in constants.items()}


def boxes_of_today(program):
    """Operations behind a switch: constants of the box itself, then of the others with one message of the box, then without any."""
    rows = fit_switched.sample_rows()
    ask = fit_switched.Program(program, rows)
    own = {name: ask.constants(name) for name in fit_switched.BOARDS}
    smallest = {name: min(time for other, op, ranks, _, time in rows if (other, op, ranks) == (name, "all_reduce", 2)) * 1e6 for name in own}
    tables = {"own": {}, "message": {}, "clock": {}}
    for name in own:
        constants, pace = without(own, name)
        tables["message"][name] = at_pace(constants, smallest[name] / (constants["base"] + 2 * constants["step.0"]))
        lender = LENDER[name]
        tables["clock"][name] = at_pace(constants, pace[lender] * CLOCKS[lender] / CLOCKS[name])
    errors = {kind: fit_switched.by_operation(rows, ask.errors(table), own) for kind, table in tables.items()}
    lines = ["| box | operation | own constants | left out, one message | left out, its clock alone |", "|---|---|---|---|---|"]
    for name in own:
        for op in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            lines.append(f"| {fit_switched.BOARDS[name][0]} | {op} | " + " | ".join(
                percent(mean(e for (other, o, _), e in errors[kind].items() if (other, o) == (name, op))) for kind in tables) + " |")
        for title, kept in (("**all**", lambda o: True), ("**other than all-reduce**", lambda o: o != "all_reduce")):
            lines.append(f"| {fit_switched.BOARDS[name][0]} | {title} | " + " | ".join(
                percent(mean(e for (other, o, _), e in errors[kind].items() if other == name and kept(o))) for kind in tables) + " |")
    lines += ["", "Rows that set nothing:", "", "| box | library | operation | mean |", "|---|---|---|---|"]
    for library, release in (("NCCL 2.23", "2.23"), ("torch.distributed NCCL", "2.20")):
        rows = fit_switched.sample_rows(library)
        found = fit_switched.by_operation(rows, fit_switched.Program(program, rows, release).errors({}), own)
        for name, op in sorted({(name, op) for name, op, _ in found}):
            lines.append(f"| {fit_switched.BOARDS[name][0]} | {library} | {op} | "
                         f"{percent(mean(e for (other, o, _), e in found.items() if (other, o) == (name, op)))} |")
    return lines


def digest():
    text = hashlib.sha256()
    for name in ("hardware/nccl.toml", "scenarios/collectives/single_boxes.csv", "scenarios/collectives/multi_node.csv",
                 "calibrate/samples/modern_collectives.csv"):
        with open(os.path.join(ROOT, name), "rb") as file:
            text.update(file.read())
    return text.hexdigest()[:16]


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--check", "--print"):
        sys.exit(__doc__)
    if sys.argv[1] == "--print":
        print("\n".join(boxes_of_today(sys.argv[2])))
        return
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    stamp = f"Constants and sweeps {digest()}.\n"
    if sys.argv[1] == "--check":
        if stamp not in text[start:end]:
            sys.exit(f"{PAGE}: the figures are of other constants or sweeps; run .ci/collectives_left_out.py --write PROGRAM")
        return
    lines = [stamp, *single_boxes(sys.argv[2]), "", *rdma(sys.argv[2]), "", *boxes_of_today(sys.argv[2]), ""]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text[:start] + "\n".join(lines) + text[end:])


if __name__ == "__main__":
    main()
