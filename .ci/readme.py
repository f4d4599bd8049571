#!/usr/bin/env python3
"""Generated parts of README.md.   Usage: readme.py --write|--check TBDSIM

Runs the given program in the source tree and puts its output between the markers; --check fails where it differs.
"""
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PREDICT = ["predict", "--hw", "dgx1.toml", "--model", "resnet50"]
# Tables whose rows count: single GPU, fp32, no XLA.
APART = {"u39kun_fp16": "16-bit on the frameworks of 2018", "u39kun_other": "TensorFlow 1.4 to 1.12 without fused operators",
         "tensorflow_2017_multi_gpu": "several GPUs, parameter server", "lambda_tf_multi_gpu": "several GPUs"}
TABLES = ["mxnet_1_2", "mxnet_2017", "titan_xp_resnet50_batch", "tensorflow_2017", "lambda_tf", "github_small", "u39kun", "jcjohnson"]


def run(program, arguments):
    return subprocess.run([program, *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def prediction(program):
    return "```text\n$ tbdsim " + " ".join(PREDICT) + "\n" + run(program, PREDICT) + "```\n"


def accuracy(program):
    files = [f"scenarios/published/{name}.csv" for name in TABLES]
    report = json.loads(run(program, ["validate", *files, "--format", "json"]))
    lines = ["| group | rows | mean % | median % | signed % | in 80 % range | baseline mean % |", "|---|---|---|---|---|---|---|"]

    def line(name, group):
        baseline = group["baseline_mean_ape"]
        text = "" if baseline is None or group["n"] < 2 else f"{100 * baseline:.0f}"
        return (f"| {name} | {group['n']} | {100 * group['mean_ape']:.1f} | {100 * group['median_ape']:.1f} | {100 * group['bias']:+.1f} "
                f"| {100 * group['coverage']:.0f} % | {text} |")

    for group in report["groups"]:
        lines.append(line(group["group"], group))
    lines.append(line("**all rows**", report["all"]))
    lines.append(f"\nMean over groups {100 * report['mean_of_groups']:.1f} %, signed {100 * report['bias_of_groups']:+.1f} %. Fit tables, shown but not counted: "
                 + ", ".join(f"{g['group']} {100 * g['mean_ape']:.1f} %" for g in report["fitted_groups"]) + ".")
    lines.append("\nTables of what the model does not cover well, left out above:")
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
    elif old != new:
        sys.exit("README.md is stale: run .ci/readme.py --write build/ci/tbdsim and review the difference")


if __name__ == "__main__":
    main(sys.argv)
