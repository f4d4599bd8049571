#!/usr/bin/env python3
"""Converts published memory of dense GPTs under tensor and pipeline parallelism into a scenario of verdicts.

    python3 scenarios/import/import_parallel.py SOURCE_DATA_FOLDER

The folder holds `runs/bigscience_megatron_ds.csv`. Writes scenarios/memory/bigscience.toml.
"""

import csv
import pathlib
import re
import sys

TARGET = pathlib.Path(__file__).resolve().parent.parent / "memory" / "bigscience.toml"
HEAD = '''schema = 1

[study]
name = "Which layouts of dense GPTs fit V100 boards"
source = "measured: bigscience-workshop/bigscience, experiments/gpt2.md, tr3m-1B3.md and tr8-104B.md: runs that are printed with their memory fit, those marked OOM do not"
description = """Megatron-DeepSpeed on nodes of four V100. Micro-batches are those of the published global batch, at most 1024.
Left out: a run of Megatron without DeepSpeed (another optimiser), the first table of 104 billion parameters (its page says that
the network was another one), a run whose host ran out of memory."""

[grid]
stack = "pytorch-1.8-deepspeed"
precision = "amp"
'''
MODELS = {"GPT 1.3B": "gpt3-1.3b", "GPT 52B": "bigscience-52b", "GPT 104B": "bigscience-104b"}
# Pages state these in their text.
GLOBAL_BATCH = {"GPT 1.3B": 512, "GPT 104B": 2048}
MOST_MICRO_BATCHES = 1024


def fields(notes):
    row = re.search(r"row: (.*?); nearest", notes).group(1)
    return dict(part.split("=", 1) for part in row.split("; ") if "=" in part), re.search(r"section: (.*?); row", notes).group(1)


def verdict(run):
    """Options and whether it fitted; nothing for rows without memory and those that the study leaves out."""
    row, section = fields(run["notes"])
    memory = re.search(r"(\d+)GB", row.get("GPU M", "") or row.get("Notes", ""))
    failed = "OOM" in row.get("Notes", "") + row.get("Speed", "") and "borderline" not in row.get("Notes", "")
    if not (memory or failed) or "Zero" in row or row.get("DS") == "N" or section == "Train 8 104B wide tune up":
        return None
    model = run["model"]
    data, tensor, stages = int(row["DP"]), int(row.get("TP", 4)), int(row.get("PP", 1))
    batch = int(row.get("MBS", row.get("Mic-BS", 0)))
    total = int(row.get("GBS", row.get("Glob-BS", GLOBAL_BATCH.get(model, 0))))
    if "GAS" in row:  # the column of the micro-batch stayed at 4 while the global batch grew
        batch = total // (data * int(row["GAS"]))
    options = {"hw": run["device"].lower(), "model": MODELS[model], "gpus": int(run["n_gpus"]), "nodes": int(run["n_nodes"]),
               "batch": batch, "accumulate": min(total // (data * batch), MOST_MICRO_BATCHES), "tensor_parallel": tensor,
               "pipeline": stages}
    # FLOP/s count three or four passes; the pages say which tables recompute.
    flops, seconds = row.get("TFlops", ""), row.get("Speed", "")
    numbers = model == "GPT 1.3B" and re.fullmatch(r"[\d.]+", flops) and re.fullmatch(r"[\d.]+", seconds)
    kept = numbers and float(flops) * float(seconds) < 0.875 * 29 * 47.0
    options["recompute"] = "none" if kept else "layer"
    options["zero"] = 3 if "ZeRO" in section else 0 if model == "GPT 52B" else 1
    # The page's two last runs repeat its baseline, with the optimiser of 32-bit moments.
    small = "BNB" in section and seconds not in {"696", "706"}
    options["optimizer"] = "adam-8bit" if small else "adam"
    return {key: value for key, value in options.items() if (key, value) not in {("zero", 0), ("recompute", "none")}}, not failed


def claim(name, options, fits, number):
    call = ", ".join(f"{key}={value}" for key, value in options.items())
    return f'\n[[claim]]\nid = "{number}: {name}"\nexpr = "memory.memory.fits({call}) == {int(fits)}"\n'


def name(options, fits):
    layout = f"{options['tensor_parallel']} x {options['pipeline']} on {options['gpus']} {options['hw']}, micro-batch {options['batch']}"
    return f"{options['model']}, {layout}: {'fits' if fits else 'out of memory'}"


def main(folder):
    seen, claims, verdicts = set(), [], []
    with open(pathlib.Path(folder) / "runs" / "bigscience_megatron_ds.csv", newline="", encoding="utf-8") as file:
        for run in csv.DictReader(file):
            found = run["notes"] not in seen and verdict(run)
            seen.add(run["notes"])
            if not found:
                continue
            verdicts.append(found)
            claims.append(claim(name(*found), *found, len(verdicts)))
    TARGET.write_text(HEAD + "".join(claims), encoding="utf-8")
    print(f"{TARGET.name}: {len(verdicts)} verdicts")


if __name__ == "__main__":
    main(sys.argv[1])
