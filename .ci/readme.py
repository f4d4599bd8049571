#!/usr/bin/env python3
"""Generated parts of README.md; --write also those of scenarios/README.md.   Usage: readme.py --write|--check TBDSIM

Runs the given program in the source tree and puts its output between the markers; --check fails where it differs.
"""
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PREDICT = ["predict", "--hw", "dgx1.toml", "--model", "resnet50"]
# Tables whose rows count: single GPU, fp32, no XLA.
APART = {"u39kun_fp16": "16-bit on the frameworks of 2018", "u39kun_other": "TensorFlow 1.4 to 1.12, batch norm differentiated with fixed statistics",
         "tensorflow_2017_multi_gpu": "several GPUs, parameter server", "lambda_tf_multi_gpu": "several GPUs",
         "nvidia_sequences": "transformers and translation, NVIDIA's containers", "nvidia_ncf": "recommendation, NVIDIA's containers",
         "lambda_pytorch": "CNNs, detection, translation, transformers in fp32, tf32 and amp",
         "sockeye": "recurrent translation under MXNet"}
TABLES = ["mxnet_1_2", "mxnet_2017", "titan_xp_resnet50_batch", "tensorflow_2017", "lambda_tf", "github_small", "u39kun", "jcjohnson"]


def run(program, arguments):
    return subprocess.run([program, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def prediction(program):
    return "```text\n$ tbdsim " + " ".join(PREDICT) + "\n" + run(program, PREDICT) + "```\n"


def table_of(group):
    name = group.split("/")[0]
    return "github-small" if name.startswith("github-small") else name


def time_error(row):
    rate = row["unit"] == "samples/s"
    return row["measured"] / row["predicted"] - 1 if rate else row["error"]


def line(name, rows, groups):
    errors = [time_error(row) for row in rows]
    inside = sum(row["low"] <= row["measured"] <= row["high"] for row in rows)
    n = len(rows)
    known = [g for g in groups if g["baseline_mean_ape"] is not None and g["n"] > 1]
    baseline = sum(g["n"] * g["baseline_mean_ape"] for g in known) / sum(g["n"] for g in known)
    return (f"| {name} | {len(groups)} | {n} | {100 * sum(map(abs, errors)) / n:.1f} | {100 * statistics.median(map(abs, errors)):.1f} "
            f"| {100 * sum(errors) / n:+.1f} | {100 * inside / n:.0f} % | {100 * baseline:.0f} |")


def accuracy(program):
    files = [f"scenarios/published/{name}.csv" for name in TABLES]
    report = json.loads(run(program, ["validate", *files, "--format", "json"]))
    lines = ["| published table | boards | rows | mean % | median % | signed % | in 80 % range | baseline mean % |", "|---|---|---|---|---|---|---|---|"]
    tables = {}
    for row in report["rows"]:
        if not row.get("skipped") and row["use"] == "validation":
            tables.setdefault(table_of(row["group"]), []).append(row)
    for name, rows in tables.items():
        lines.append(line(name, rows, [g for g in report["groups"] if table_of(g["group"]) == name]))
    lines.append(line("**all rows**", [row for rows in tables.values() for row in rows], report["groups"]))
    lines.append(f"\nMean over the {len(report['groups'])} groups of table and board {100 * report['mean_of_groups']:.1f} %, signed "
                 f"{100 * report['bias_of_groups']:+.1f} %. Fit tables, shown but not counted: "
                 + ", ".join(f"{g['group']} {100 * g['mean_ape']:.1f} %" for g in report["fitted_groups"]) + ".")
    lines.append("\nOther workloads, precisions and several GPUs, left out above:")
    for name, why in APART.items():
        every = json.loads(run(program, ["validate", f"scenarios/published/{name}.csv", "--format", "json"]))["all"]
        lines.append(f"`{name}` ({why}): {every['n']} rows, mean {100 * every['mean_ape']:.0f} %, signed {100 * every['bias']:+.0f} %, "
                     f"{100 * every['coverage']:.0f} % in range.")
    return "\n".join(lines) + "\n"


def generated(text, program):
    for name, make in (("prediction", prediction), ("accuracy", accuracy)):
        begin = f"<!-- generated: {name} -->\n"
        at = text.index(begin) + len(begin)
        text = text[:at] + make(program) + text[text.index("<!-- end -->", at):]
    return text


def main(arguments):
    if len(arguments) != 3 or arguments[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    path = os.path.join(ROOT, "README.md")
    old = open(path, encoding="utf-8").read()
    new = generated(old, os.path.abspath(arguments[2]))
    if arguments[1] == "--write":
        open(path, "w", encoding="utf-8").write(new)
        subprocess.run([sys.executable, os.path.join(ROOT, ".ci", "questions.py"), "--write", arguments[2]], check=True)
    elif old != new:
        sys.exit("README.md is stale: run .ci/readme.py --write build/ci/tbdsim and review the difference")


if __name__ == "__main__":
    main(sys.argv)
