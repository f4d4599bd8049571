#!/usr/bin/env python3
"""Best published rates of matrix products -> calibrate/samples/peaks/reached.csv.   Usage: peaks.py SOURCE_FOLDER

modern_peak_reached.csv holds the best rate of square products of 1,024 to 10,240 rows that torch.matmul reached, board by board, without
the time of each. Boards of the catalogue are kept. Laptop boards, rows whose name or memory is another board's, and 16-bit rates of
boards without tensor cores are left out: their libraries multiply in fp32, or emulate bf16.
"""
import csv
import os
import pathlib
import re
import sys
import tomllib

from sample_file import rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ROOT / "calibrate" / "samples" / "peaks" / "reached.csv"
PRECISIONS = {"bfloat16": "bf16", "fp16": "fp16", "fp32": "fp32", "tf32": "tf32"}
RATES = {"fp32": "peak_fp32", "tf32": "peak_tf32_tensor", "fp16": "peak_fp16_tensor", "bf16": "peak_bf16_tensor"}
# Names whose board the words and the memory behind them alone do not tell.
NAMES = {"a100 sxm4 80gb": "a100-sxm4-80gb", "h100 80gb hbm3": "h100-sxm5-80gb", "rtx a6000": "a6000", "tesla p100 pcie 16gb": "p100-pcie-16gb",
         "tesla m40 12gb": "m40", "tesla p40 24gb": "p40", "tesla t4 16gb": "t4"}


def catalogue():
    return {path.stem: tomllib.loads(path.read_text()) for path in (ROOT / "hardware" / "gpus").glob("*.toml")}


def board(name, gpus):
    """Id of the board, or None. "RTX 4090 48GB" and "RTX 2080 Ti 22GB" are boards with exchanged memory: products do not see it."""
    words = re.sub(r"\b(nvidia|geforce)\b", "", name.lower()).split()
    found = NAMES.get(" ".join(words))
    if found or "laptop" in words:
        return found
    without_memory = "-".join(word for word in words if not re.fullmatch(r"\d+gb?", word) or word in ("4090", "5090"))
    return without_memory if without_memory in gpus else None


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    gpus = catalogue()
    kept = []
    for row in rows(arguments[1], "modern_peak_reached.csv"):
        device, precision = board(row["device"], gpus), PRECISIONS.get(row["dtype"])
        if "square" in row["what"] and device and precision and RATES[precision] in gpus[device]:
            kept.append((device, precision, row["tflops"], row["stack"], row["source"]))
    with open(TARGET, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("device", "precision", "tflops", "library", "source"))
        writer.writerows(sorted(kept))
    print(f"{os.path.relpath(TARGET, ROOT)}: {len(kept)} rows of {len({row[0] for row in kept})} boards")


main(sys.argv)
