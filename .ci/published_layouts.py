#!/usr/bin/env python3
"""How much slower published layouts are than the best that `plan` finds for the same GPUs and update.

published_layouts.py BUILD    one line per row of scenarios/layouts/narayanan.csv and korthikanti.csv, and per layout of OTHERS,
                              whose papers print the layout and no step time; both predicted
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
# Source of the first: arXiv:2201.11990; all layers are computed again, `selective` was published later. Of Llama 3: arXiv:2407.21783,
# table 4; states and gradients are sharded. It names no number of parts: 4 are assumed.
TURING = dict(hw="dgx-a100-80gb", model="megatron-530b", stack="megatron-deepspeed-2022", precision="bf16", optimizer="adam", nodes="1")
LLAMA = dict(hw="dgx-h100", model="llama-3-405b", stack="megatron-core-0.14", precision="bf16", optimizer="adam", nodes="1", batch_per_gpu="1")
LLAMA_LAYOUT = "--tensor-parallel 8 --pipeline-parallel 16 --virtual-stages 4 --zero 2 --seq-len 8192"
OTHERS = [
    dict(TURING, id="megatron-turing-nlg-530b on 2240", gpus="2240", batch_per_gpu="1",
         options="--tensor-parallel 8 --pipeline-parallel 35 --accumulate 240 --recompute layer"),
    dict(TURING, id="the same, recompute free", gpus="2240", batch_per_gpu="1", free="recompute",
         options="--tensor-parallel 8 --pipeline-parallel 35 --accumulate 240 --recompute layer"),
    dict(LLAMA, id="llama-3-405b on 8192", gpus="8192", options=LLAMA_LAYOUT + " --accumulate 32"),
    dict(LLAMA, id="llama-3-405b on 16384", gpus="16384", options=LLAMA_LAYOUT + " --accumulate 16"),
]


def answer(program, *words):
    done = subprocess.run([program, *words, "--format", "json"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def published():
    for table in TABLES:
        with open(ROOT / "scenarios" / "layouts" / table, newline="") as file:
            yield from csv.DictReader(file)
    yield from OTHERS


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve() / "tbdsim")
    print(f"{'row':34}{'published':>11}{'best':>9}{'slower':>9}  best layout")
    for row in published():
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
        kept = "--recompute" in options and row.get("free") != "recompute"
        keep = ["--keep", "recompute=" + options["--recompute"]] if kept else []
        for option in ("--sequence-parallel", "--seq-len"):
            keep += [option, options[option]] if option in options else []
        best = answer(program, "plan", *job, "--global-batch", str(update), *keep, "--top", "1")["rows"][0]
        times = [p["step_time_s"]["value"] for p in (told, best)]
        layout = best["config"]["layout"]
        fits = "" if told["memory"]["fits"] else "; the published one does not fit"
        print(f"{row['id']:34}{times[0]:>9.3g} s{times[1]:>7.3g} s{100 * (times[0] / times[1] - 1):>7.1f} %  "
              f"tensor {layout['tensor']}, pipeline {layout['pipeline']}, micro-batch {best['config']['batch_per_gpu']}{fits}")


if __name__ == "__main__":
    main()
