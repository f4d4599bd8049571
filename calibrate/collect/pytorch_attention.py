#!/usr/bin/env python3
"""Times PyTorch's fused attention and writes it as samples for `tbdsim calibrate fit`.

usage: pytorch_attention.py --hw DEVICE_ID -o SAMPLES.csv [--precisions fp16,bf16] [--device cuda|cpu]

`scaled_dot_product_attention` (PyTorch 2.0 and later) takes the fastest kernel that its backends offer; unfused ones are turned
off, so that a shape without a fused kernel is left out with a word on stderr. Device time: median over 20 repetitions after 5 of warm-up,
events around each, issued while the device is kept busy, so that no launch from the host is in it. Backward: the gradients of all three inputs. The file grows row by row; one that this script
wrote earlier is begun anew, any other is left as it is (exit status 2).
"""
import argparse
import contextlib
import csv
import datetime
import os
import statistics
import subprocess
import sys
import time

COLUMNS = ("device,family,op,precision,pass,shape,time_s,spread_s,timing,algorithm,layout,clock_mhz,memory_clock_mhz,power_w,"
           "driver,library,date,flags,source").split(",")
# batch, heads, length, width of a head, causal: encoders, decoders, long sequences.
SHAPES = [(8, 12, 512, 64, 0), (32, 12, 128, 64, 0), (4, 16, 1024, 64, 1), (8, 16, 2048, 64, 1), (2, 32, 2048, 128, 1),
          (1, 32, 8192, 128, 1), (64, 16, 512, 64, 0), (16, 12, 197, 64, 0)]
WARM_UP, LEAST = 5, 20
BUSY_CYCLES = 2_000_000  # about a millisecond: longer than PyTorch takes to issue a backward pass


def timer(torch, device):
    """A function that times one call in seconds."""
    if device == "cpu":
        def on_host(call):
            start = time.perf_counter()
            call()
            return time.perf_counter() - start
        return on_host

    def on_device(call):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(BUSY_CYCLES)
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return 1e-3 * start.elapsed_time(stop)
    return on_device


def fused_only(torch, device):
    """Refuses the unfused kernel where the release can."""
    if device == "cpu":
        return contextlib.nullcontext()
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
        fused = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]
        if hasattr(SDPBackend, "CUDNN_ATTENTION"):
            fused.append(SDPBackend.CUDNN_ATTENTION)
        return sdpa_kernel(fused)
    except ImportError:  # before PyTorch 2.3
        return torch.backends.cuda.sdp_kernel(enable_math=False)


def kernel(torch, device, precision):
    """Name of the fused kernel that PyTorch takes (model/stack/attention_kernel.cpp)."""
    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if device == "cpu" or precision == "fp32" or torch.version.cuda is None or torch.cuda.get_device_capability() < (8, 0):
        return "general"
    return "flash-2" if release >= (2, 2) else "flash-1"


def samples(torch, device, precision, shape):
    """Forward and backward of one shape, as (pass, times)."""
    attention = torch.nn.functional.scaled_dot_product_attention
    kind = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[precision]
    batch, heads, length, width, causal = shape
    inputs = [torch.randn(batch, heads, length, width, device=device, dtype=kind, requires_grad=True) for _ in range(3)]
    measure = timer(torch, device)
    with fused_only(torch, device):
        def forward():
            return attention(*inputs, is_causal=bool(causal))
        output = forward()
        upstream = torch.randn_like(output)

        def backward():
            torch.autograd.grad(output, inputs, upstream, retain_graph=True)
        for name, call in (("forward", forward), ("backward", backward)):
            times = [measure(call) for _ in range(WARM_UP + LEAST)][WARM_UP:]
            yield name, times


def foreign(path):
    """Whether the file holds anything but what this script wrote."""
    if not os.path.isfile(path) or os.path.getsize(path) == 0:
        return False
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        table = csv.DictReader(file)
        return table.fieldnames != COLUMNS or any(
            not row["library"].startswith("pytorch ") for row in table if row["library"] is not None)  # None: the line was cut


def driver(device):
    if device == "cpu":
        return ""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=False).stdout.split("\n")[0].strip()
    except OSError:
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hw", required=True, help="catalogue id of the device")
    parser.add_argument("-o", required=True, dest="output")
    parser.add_argument("--precisions", default="fp16,bf16")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    options = parser.parse_args()
    if foreign(options.output):
        print(f"{options.output}: holds what this script did not write; write to another file, or remove it", file=sys.stderr)
        return 2
    import torch
    if options.device == "cuda" and not torch.cuda.is_available():
        print("no usable GPU: PyTorch sees none", file=sys.stderr)
        return 3
    library = f"pytorch {torch.__version__}; cuda {torch.version.cuda}; cudnn {torch.backends.cudnn.version()}"
    with open(options.output, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        for shape in SHAPES:
            for precision in options.precisions.split(","):
                keys = "b={};heads={};sq={};sk={};d={};causal={};fused=1".format(*shape[:3], *shape[2:])
                try:
                    for name, times in samples(torch, options.device, precision, shape):
                        table.writerow({
                            "device": options.hw, "family": "attention", "op": "attention", "precision": precision, "pass": name,
                            "shape": keys, "time_s": f"{statistics.median(times):.9g}",
                            "spread_s": f"{statistics.pstdev(times):.3g}", "timing": "kernel", "algorithm": kernel(torch, options.device, precision), "layout": "bhsd",
                            "driver": driver(options.device), "library": library,
                            "date": datetime.date.today().isoformat(), "flags": "hot event-timing",
                            "source": f"measured: {options.hw}, median of {len(times)}"})
                        file.flush()
                except RuntimeError as error:
                    print(f"left out: {keys} {precision}: {str(error).splitlines()[0]}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
