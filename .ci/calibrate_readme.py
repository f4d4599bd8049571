#!/usr/bin/env python3
"""Accuracy tables of calibrate/README.md.   Usage: calibrate_readme.py --write|--check TBDSIM_CALIBRATE

--write runs `check` over the committed samples (a minute) and puts the tables between the markers. --check, which every test run
does, fails where the tables were written from other sample files than those committed.
"""
import hashlib
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "calibrate", "README.md")
BEGIN, END = "<!-- generated: accuracy -->\n", "<!-- end -->"
PRODUCTS = ["deepbench_gemm", "neusight_linear", "neusight_bmm"]
CONVOLUTIONS = ["deepbench_conv", "neusight_conv"]
# Of the board's own samples, 20 of each family and precision (`calibrate check`'s own number), averaged.
DRAWS = 10
# Title, table, word that its rows must have, training tables, precision.
ROWS = [
    ("DeepBench matrix products, fp32", "deepbench_gemm", None, PRODUCTS, "fp32"),
    ("DeepBench matrix products, fp16 on tensor cores", "deepbench_gemm", None, PRODUCTS, "fp16"),
    ("NeuSight linear, sizes of transformers", "neusight_linear", ":test", PRODUCTS, "fp32"),
    ("NeuSight batched products", "neusight_bmm", None, PRODUCTS, "fp32"),
    ("DeepBench convolution, fp32, three passes", "deepbench_conv", None, CONVOLUTIONS, "fp32"),
    ("DeepBench convolution, fp16, three passes", "deepbench_conv", None, CONVOLUTIONS, "fp16"),
    ("NeuSight 3x3 convolution", "neusight_conv", None, CONVOLUTIONS, "fp32"),
    ("NeuSight elementwise", "neusight_elementwise", None, ["neusight_elementwise"], "fp32"),
    ("NeuSight softmax", "neusight_softmax", None, ["neusight_softmax"], "fp32"),
    ("NeuSight layer norm", "neusight_layer_norm", None, ["neusight_layer_norm"], "fp32"),
]


def samples(name):
    return f"calibrate/samples/{name}.csv"


def check(program, table, word, training, holdout, draws):
    command = [program, "check", "--hardware", ".", "--samples", samples(table), "--train", *map(samples, training), "--leave-out", holdout,
               "--draws", str(draws), "--format", "json"] + (["--only", word] if word else [])
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)["parts"]


def over(groups, precision, key):
    """Mean over the rows of all groups of one precision."""
    own = [g for g in groups if g["precision"] == precision]
    return sum(g["n"] * g[key] for g in own) / sum(g["n"] for g in own)


def percent(value, form="{:.1f}"):
    return form.format(100 * value)


def digest():
    names = sorted({name for row in ROWS for name in [row[1], *row[3]]})
    text = "".join(hashlib.sha256(open(os.path.join(ROOT, samples(name)), "rb").read()).hexdigest() for name in names)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tables(program):
    lines = [f"Samples {digest()}. Mean absolute error in %, share of rows inside their 80 % range in brackets.\n",
             "| table | n | boards fitted | board left out | architecture left out | left out, then 20 samples | ideal roofline | fitted roofline |",
             "|---|---|---|---|---|---|---|---|"]
    boards = ["\n| table | board | n | fitted | signed | left out | signed | in range |", "|---|---|---|---|---|---|---|---|"]
    cache = {}
    for title, table, word, training, precision in ROWS:
        for holdout, count in (("board", DRAWS), ("architecture", 0)):
            key = (table, word, holdout)
            if key not in cache:
                cache[key] = check(program, table, word, training, holdout, count)
        parts = cache[table, word, "board"]
        cells = [title, str(sum(g["n"] for g in parts[0]["devices"] if g["precision"] == precision))]
        for part in (parts[0], parts[1], cache[table, word, "architecture"][1], parts[2]):
            cells.append("{} [{}]".format(percent(over(part["devices"], precision, "mean_ape")),
                                          percent(over(part["devices"], precision, "coverage"), "{:.0f}")))
        for baseline in ("ideal_roofline_mean_ape", "fitted_roofline_mean_ape"):
            cells.append(percent(over(parts[0]["devices"], precision, baseline)))
        lines.append("| " + " | ".join(cells) + " |")
        for own, out in zip(parts[0]["devices"], parts[1]["devices"]):
            if own["precision"] == precision:
                boards.append("| {} | {} | {} | {} | {} | {} | {} | {} |".format(
                    title, own["device"], own["n"], percent(own["mean_ape"]), percent(own["bias"], "{:+.1f}"), percent(out["mean_ape"]),
                    percent(out["bias"], "{:+.1f}"), percent(out["coverage"], "{:.0f}")))
    return "\n".join(lines + boards) + "\n"


def main(arguments):
    if len(arguments) != 3 or arguments[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    text = open(PAGE, encoding="utf-8").read()
    at = text.index(BEGIN) + len(BEGIN)
    end = text.index(END, at)
    if arguments[1] == "--check":
        if f"Samples {digest()}." not in text[at:end]:
            sys.exit("calibrate/README.md is stale: run .ci/calibrate_readme.py --write build/tbdsim-calibrate and review the difference")
        return
    fresh = tables(os.path.abspath(arguments[2]))
    open(PAGE, "w", encoding="utf-8").write(text[:at] + fresh + text[end:])


if __name__ == "__main__":
    main(sys.argv)
