#!/usr/bin/env python3
"""How much slower the published layouts of Megatron are than the best that `plan` finds for the same GPUs and update.

published_layouts.py BUILD    one line per row of scenarios/layouts/narayanan.csv and korthikanti.csv, both predicted
"""
import csv
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ("narayanan.csv", "korthikanti.csv")
PARTS = ("--tensor-parallel", "--pipeline-parallel", "--context-parallel")


def answer(program, *words):
    done = subprocess.run([program, *words, "--format", "json"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve() / "tbdsim")
    print(f"{'row':34}{'published':>11}{'best':>9}{'slower':>9}  best layout")
    for table in TABLES:
        with open(ROOT / "scenarios" / "layouts" / table, newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            options = dict(zip(*[iter(shlex.split(row["options"]))] * 2))
            gpus, batch = int(row["gpus"]), int(row["batch_per_gpu"])
            copies = gpus
            for part in PARTS:
                copies //= int(options.get(part, 1))
            update = batch * int(options.get("--accumulate", 1)) * copies
            job = ["--hw", row["hw"], "--model", row["model"], "--stack", row["stack"], "--precision", row["precision"],
                   "--optimizer", row["optimizer"], "--gpus", row["gpus"]]
            nodes = ["--nodes", row["nodes"]] if row["nodes"] != "1" else []
            told = answer(program, "predict", *job, *nodes, "--batch", str(batch), *shlex.split(row["options"]))
            keep = ["--keep", "recompute=" + options["--recompute"]] if "--recompute" in options else []
            sequence = ["--sequence-parallel", options["--sequence-parallel"]] if "--sequence-parallel" in options else []
            best = answer(program, "plan", *job, "--global-batch", str(update), *keep, *sequence, "--top", "1")["rows"][0]
            times = [p["step_time_s"]["value"] for p in (told, best)]
            layout = best["config"]["layout"]
            print(f"{row['id']:34}{times[0]:>9.3g} s{times[1]:>7.3g} s{100 * (times[0] / times[1] - 1):>7.1f} %  "
                  f"tensor {layout['tensor']}, pipeline {layout['pipeline']}, micro-batch {best['config']['batch_per_gpu']}")


if __name__ == "__main__":
    main()
