#!/usr/bin/env python3
"""Converts the memory table of a DGX-1V study into a measured-run table.

    python3 scenarios/import/seed_memory.py SOURCE_DATA_FOLDER

The folder holds `seeds/seeds_numbers.csv`. Writes scenarios/seeds/dgx1_memory.csv: memory of GPU 0 and of the other
GPUs, before and during training, as nvidia-smi shows it.
"""

import csv
import pathlib
import sys

from tables import COLUMNS

TABLE = pathlib.Path(__file__).resolve().parent.parent / "seeds" / "dgx1_memory.csv"

# The table prints nvidia-smi's MiB divided by 1000 as GB.
GB = 1_048_576_000
# LeNet's weights give away 3x224x224 images and 1000 classes, GoogLeNet's growth with the batch 3x299x299 images.
NETWORKS = {"LeNet": ("lenet", "--image 224"), "AlexNet": ("alexnet", ""), "ResNet": ("resnet50", ""),
            "GoogLeNet": ("googlenet", "--image 299"), "Inception-v3": ("inception_v3", "")}
QUANTITIES = {"memory.pre_training_per_gpu": ("pre", "pre_training_bytes", "before training"),
              "memory.training_gpu0": ("gpu0", "peak_memory_bytes", "GPU 0 while training"),
              "memory.training_gpux": ("gpux", "least_peak_memory_bytes", "the other GPUs while training")}
# Misprint: 5.63 contradicts the 6.2 % by which the same row says that GPU 0 holds more (5.66 / 5.33).
CORRECTED = {("memory.training_gpux", "ResNet", "32"): "5.33"}

def main():
    folder = pathlib.Path(sys.argv[1])
    rows = []
    for row in csv.DictReader(open(folder / "seeds" / "seeds_numbers.csv", newline="")):
        if row["quantity"] not in QUANTITIES or row["kind"] != "measured":
            continue
        kind, metric, what = QUANTITIES[row["quantity"]]
        model, options = NETWORKS[row["network"]]
        key = (row["quantity"], row["network"], row["batch"])
        value = float(CORRECTED.get(key, row["value"]))
        note = f"; printed {row['value']}, read as {CORRECTED[key]}" if key in CORRECTED else ""
        rows.append(dict.fromkeys(COLUMNS, "") | {
            "id": f"dgx1-memory-{model}-b{row['batch']}-{kind}", "hw": "dgx1", "model": model, "stack": "mxnet-ngc-18.04",
            "precision": "fp32", "gpus": "8", "batch_per_gpu": row["batch"], "exchange": "nccl", "options": options,
            "metric": metric, "unit": "bytes", "measured": f"{value * GB:.0f}", "spread": f"{0.005 * GB:.0f}",
            # Context and what the first step adds are set with the smallest batch.
            "use": "fit" if row["batch"] == "16" else "validation", "group": f"dgx1-memory/{kind}",
            "source": f"BARC 2019 slides of the DGX-1V study, memory table: {what}, {value} GB as MiB / 1000{note}"})
    TABLE.parent.mkdir(exist_ok=True)
    with open(TABLE, "w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
