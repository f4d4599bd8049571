"""Collectives of boxes of today -> samples of the family `collective`."""
from sample_file import rows, seconds, shape

# Boxes whose GPUs reach each other: the L40S at 4 and 8 GPUs (2 to 5 GB/s) and the A40 do not, and show nothing of the library.
BOXES = {"a100-sxm4-80gb": (2, 4, 8), "h100-sxm5-80gb": (2, 4, 8), "b300": (2, 4, 8), "l40s": (2,)}
CATALOGUE = {"b300": "b300-sxm-288gb"}
# nccl-tests: 16 bits alone, 8 bits differ little but never reduce in the switch. torch.distributed: what nothing else shows.
NCCL_TESTS, PROFILER = "nccl-tests", "kineto kernel time"


# Commits of the two sources: ai-dynamo/aiconfigurator and microsoft/vidur.
COMMITS = {"aic": "aiconfigurator@095f58a", "vidur": "vidur@7d47513"}


def source(text):
    project, path = text.split(" ", 1)
    return f"{COMMITS[project]}:{path}"


def kept(row):
    if int(row["num_gpus"]) not in BOXES.get(row["device"], ()) or row["nodes"] != "1" or row["dtype"] != "fp16":
        return False
    return row["impl"] == NCCL_TESTS or (row["impl"] == PROFILER and row["op"] == "send_recv")


def collectives(folder):
    """nccl-tests: mean of runs back to back, driven by one process; `bytes` as it prints them, the whole buffer of all-gather,
    reduce-scatter and all-to-all. Send and receive: duration of the kernel, with its wait for the peer."""
    samples = []
    for row in rows(folder, "modern_collectives.csv") + rows(folder, "modern_collectives_b300.csv"):
        if not kept(row):
            continue
        spread = (float(row["time_max_ms"]) - float(row["time_min_ms"])) / 2 if row["time_max_ms"] else None
        samples.append({
            "device": CATALOGUE.get(row["device"], row["device"]), "family": "collective", "op": row["op"], "precision": row["dtype"],
            "pass": "none", "shape": shape(bytes=row["bytes"], ranks=row["num_gpus"], nodes=row["nodes"]),
            "time_s": seconds(row["time_ms"]), "spread_s": "" if spread is None else f"{spread * 1e-3:.3g}", "timing": "kernel",
            "library": row["library"], "flags": "waits" if row["impl"] == PROFILER else "", "source": source(row["src"]),
        })
    return samples
