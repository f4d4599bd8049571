#!/usr/bin/env python3
"""Converts published memory of training jobs into measured-run tables.

    python3 scenarios/import/import_memory.py SOURCE_DATA_FOLDER

The folder holds `seeds/papers_numbers.csv`, `runs/max_batch_memory_misc.csv` and `runs/detection_zoo_speed_memory.csv`.
Writes scenarios/memory/sockeye.csv, bert_max_batch.csv and detectron.csv.
"""

import csv
import pathlib
import re
import sys

from tables import COLUMNS

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "memory"
MIB = 1_048_576
BOARDS = {"TITAN Xp": "titan-xp", "Volta": "titan-v", "Turing": "rtx-2080-ti"}
# The source draws the points of these layers and widths dashed: beyond the 12 GiB of the TITAN Xp that ran the others. It does not name
# their board. The Quadro P6000 stands for it: the same chip with 24 GiB.
LARGER = "p6000"
BEYOND = {"layers": ("4", "5"), "hidden": ("1024",)}
# Scatter of one job's peaks over its repetitions: 8981, 9077, 9117, 9121, 9297 MiB.
REPETITION = 0.013


def row(**fields):
    return dict.fromkeys(COLUMNS, "") | {"precision": "fp32", "gpus": "1", "use": "validation"} | fields


def sockeye_row(published, name, model, batch, hardware, group, use):
    mebibytes = float(published["value"]) * (1000 if published["unit"] == "GB" else 1)
    board = "; board not named, larger than a TITAN Xp" if hardware == LARGER else ""
    return row(id=f"sockeye-memory-{name}", hw=hardware, model=model, stack="mxnet-0.12", batch_per_gpu=batch, seq_len="100",
               optimizer="adam", metric="peak_memory_bytes", unit="bytes", measured=f"{mebibytes * MIB:.0f}",
               spread=f"{REPETITION * mebibytes * MIB:.0f}", use=use, group=f"sockeye-memory/{group}",
               source=f'{published["source"]}; {published["value"]} {published["unit"]} as MiB'
                      f'{" / 1000" if published["unit"] == "GB" else ""}; peak over all buckets, the longest 100 words on both sides{board}')


def board_of(axis, value):
    return LARGER if value in BEYOND[axis] else "titan-xp"


def sockeye(published):
    """One row, or nothing: recomputation (Echo), cuDNN's LSTM and other hyper-parameters are left out."""
    network, batch = published["network"], published["batch"]
    # Constants of the stack: the context from the smallest batch, its growth with the board from Volta against Pascal.
    if published["quantity"] == "GPU memory (nvidia-smi, max)":
        return sockeye_row(published, f"b{batch}", "sockeye", batch, "titan-xp", "batch", "fit" if batch == "4" else "validation")
    if published["quantity"] == "GPU memory (nvidia-smi)" and published["method"] == "default" and "tbd" in network:
        board = published["hardware"].split(" (")[0]
        return sockeye_row(published, f"board-{BOARDS[board]}", "sockeye", batch, BOARDS[board], "board",
                           "fit" if board == "Volta" else "validation")
    if "Echo" in published["method"]:
        return None
    if published["quantity"] == "memory vs RNN layers":
        layers = re.search(r"(\d) LSTM", network).group(1)
        model = "sockeye" if layers == "2" else f"sockeye-{layers}-layer"
        return sockeye_row(published, f"layers-{layers}", model, batch, board_of("layers", layers), "layers", "validation")
    if published["quantity"] == "memory vs hidden size":
        hidden = re.search(r"hidden (\d+)", network).group(1)
        model = "sockeye" if hidden == "512" else f"sockeye-h{hidden}"
        return sockeye_row(published, f"hidden-{hidden}", model, batch, board_of("hidden", hidden), "hidden", "validation")
    return None


def bert(published):
    """Largest batches that the authors found; the cells of Large without one (384 and 512 tokens) have no ratio to compare."""
    if published["metric"] != "max batch size (fits)" or float(published["value"]) == 0:
        return None
    size = published["model"].split("-")[1].lower()
    return row(id=f"bert-max-batch-{size}-{published['seq_len']}", hw="titan-x-pascal", model=f"bert-{size}-squad",
               stack="tensorflow-1.11", seq_len=published["seq_len"], optimizer="bert-adam", metric="max_batch_per_gpu", unit="samples",
               measured=published["value"], group=f"bert-max-batch/{size}",
               source=f'{published["source"]}; {published["framework"]}, {published["device"]}')


DETECTORS = {"RPN": "rpn", "Fast": "fast_rcnn", "Faster": "faster_rcnn", "Mask": "mask_rcnn", "Kps": "keypoints",
             "RetinaNet": "retinanet"}
BACKBONES = {"R-50": "r50", "R-101": "r101", "X-101-64x4d": "x101_64x4d", "X-101-32x8d": "x101_32x8d"}


def detectron(runs):
    """One row a network: longer schedules of the same job have the same peak. Networks with masks or key points are on the
    page first with given regions, then with regions that they find themselves, as in the zoo; the last row counts."""
    rows = {}
    for published in runs:
        if not published["framework"].startswith("Caffe2") or not published["metric"].startswith("GB"):
            continue
        head, trunk = published["model"].split(" ")
        backbone, neck = trunk.rsplit("-", 1)
        model = f"{DETECTORS[head]}_{BACKBONES[backbone]}{'' if neck == 'FPN' else '_c4'}"
        # The framework prints MiB; the page divides by 1000.
        measured = float(published["value"]) * 1000 * MIB
        rows[model] = row(
            id=f"detectron-{model}", hw="dgx1-p100", model=model, stack="caffe2-0.8", gpus="8",
            batch_per_gpu=published["batch_per_gpu"], exchange="allreduce", metric="peak_allocated_bytes", unit="bytes",
            measured=f"{measured:.0f}", spread=f"{0.05 * 1000 * MIB:.0f}", group=f"detectron/{DETECTORS[head]}",
            source=f'{published["source"]}; {published["framework"]}, {published["system"]}; {published["value"]} GB as MiB / 1000')
    return rows.values()


def write(name, rows):
    FOLDER.mkdir(exist_ok=True)
    with open(FOLDER / name, "w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(r for r in rows if r is not None)


def read(path):
    return csv.DictReader(open(path, newline=""))


def main():
    folder = pathlib.Path(sys.argv[1])
    papers = [r for r in read(folder / "seeds" / "papers_numbers.csv") if r["network"].startswith("Sockeye")]
    write("sockeye.csv", map(sockeye, papers))
    write("detectron.csv", detectron(read(folder / "runs" / "detection_zoo_speed_memory.csv")))
    write("bert_max_batch.csv", map(bert, read(folder / "runs" / "max_batch_memory_misc.csv")))


if __name__ == "__main__":
    main()
