#!/usr/bin/env python3
"""Makes the samples of the reference host from measured costs of PyTorch 1.13.   Usage: host.py SOURCE_DATA_FOLDER

Reads kernels/host_pytorch_1_13.csv (columns cpu,torch,op,pass,tensors,elements,time_us,spread_us,note) and writes
calibrate/samples/host/reference.csv: operators and loops under the names that `tbdsim calibrate host` gives them, and whole networks
(forward, forward+backward; the least of the repeats where it is told). Optimisers, whose rows are whole steps, stay out.
"""
import csv
import pathlib
import re
import sys

OUT = pathlib.Path(__file__).resolve().parents[1] / "samples" / "host" / "reference.csv"
HEADER = "cpu,framework,op,pass,device,time_s,spread_s,date,source"
FRAMEWORK, DATE = "torch 1.13.1", "2026-11-23"  # of its loops of C++, too
LOOPS = {"cpu dependent_add": "cpu_dependent_add", "cpu virtual_calls": "cpu_virtual_call", "cpu malloc_free": "cpu_malloc_free",
         **{f"cpu pointer_chase_{size}KB": f"cpu_pointer_chase_{size}KB" for size in (512, 8192, 65536)}}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    source = pathlib.Path(sys.argv[1]) / "kernels" / "host_pytorch_1_13.csv"
    with open(source, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(OUT, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER.split(","))
        for row in rows:
            device = row["note"].split(";")[0]
            if row["op"] in LOOPS:
                op, phase, device = LOOPS[row["op"]], "speed", ""
            elif row["op"].startswith("network ") and row["pass"] in ("forward", "forward+backward"):
                op, phase = row["op"].removeprefix("network "), row["pass"]
                if least := re.search(r"minimum ([\d.]+)", row["note"]):
                    row["time_us"] = least.group(1)
            elif row["pass"] in ("forward", "backward") and device in ("cpu", "meta") and not row["op"].startswith(("network", "linear16", "relu16")):
                op, phase = row["op"].replace(",", "+"), row["pass"]
            else:
                continue
            if float(row["time_us"]) < 0.0:  # the noise of what costs nothing
                continue
            writer.writerow([row["cpu"], FRAMEWORK, op, phase, device, f"{float(row['time_us']) * 1e-6:.4g}",
                             f"{float(row['spread_us'] or 0) * 1e-6:.2g}", DATE, "measured: " + row["note"]])


if __name__ == "__main__":
    main()
