#!/usr/bin/env python3
"""Converts published sweeps of collectives into measured-run tables.

    python3 scenarios/import/import_collectives.py SOURCE_DATA_FOLDER

Reads hardware/nccl_busbw.csv and kernels/{nccl_allreduce,vtrain_nccl_allreduce,deepbench_allreduce}.csv of the folder
and writes scenarios/collectives/*.csv. The bus bandwidth is computed from bytes and time; where a source prints only
bus bandwidth, that is taken. Rows marked `fit` set a constant of hardware/nccl.toml or of a system file.
"""

import csv
import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parent.parent / "collectives"
COLUMNS = "id,hw,gpus,nodes,network,options,metric,unit,measured,use,group,source".split(",")
MIB = 1 << 20

# 26 sizes spread over the octaves: 1 and 2 MiB, then 1, 1.25 and 1.5 times each power of two from 4 to 512 MiB.
V100_FIT = {1, 2} | {int(f * 2**k) for k in range(2, 10) for f in (1, 1.25, 1.5)}


def v100_use(gpus, mib):
    # One further row tells the efficiency of a relay, which only groups of 5 GPUs need.
    return (gpus == 8 and mib in V100_FIT) or (gpus == 5 and mib == 1024)


def a100_use(gpus, mib):
    return gpus in (2, 8) and mib % 2 == 1


VTRAIN = {"v100": ("dgx1", v100_use), "a100": ("dgx-a100-40gb", a100_use)}


class Sweep:
    """One published sweep: `where` picks its rows of a table; `fit` says which of them set a constant."""

    def __init__(self, group, where, hw, options="", network="", fit=lambda size: False, least=0, table="nccl_busbw"):
        self.group, self.where, self.hw, self.options, self.network = group, where, hw, options, network
        self.fit, self.least, self.table = fit, least, table


def starts(system, gpus=None, notes="", tool=""):
    return lambda row: (row["system"].startswith(system) and (gpus is None or row["n_gpus"] == str(gpus))
                        and notes in row.get("notes", "") and tool in row.get("tool", ""))


# What starts the calls is stated by the sources, or told by their tool: PyTorch's timer, one process with -g N. The A100
# sweeps are of 2024, so NCCL 2.20. Boards in plain hosts state the plateau of their own link, from the row that is fit.
ONE, EACH, FRAMEWORK = "--launch one-process", "--launch process-per-gpu", "--launch framework"

BOXES = [
    Sweep("vm-8x-v100", starts("8x V100-SXM2-16GB hybrid cube mesh"), "vm-8x-v100", ONE + " --nccl 2.4"),
    Sweep("dgx1-p100", starts("DGX-1P (8x P100-SXM2-16GB)"), "dgx1-p100", ONE + " --nccl 2.1"),
    Sweep("dgx2-12-gpus", starts("DGX-2, 12 of 16"), "dgx2", ONE),
    Sweep("a100-one-process", starts("8x A100-SXM4-80GB NVSwitch (HGX A100)", notes="one process driving"), "dgx-a100-80gb", ONE + " --nccl 2.20"),
    Sweep("a100-process-per-gpu", starts("8x A100-SXM4-80GB NVSwitch (HGX A100)", notes="one process per GPU"), "dgx-a100-80gb", EACH + " --nccl 2.20"),
    Sweep("a100-third-node", starts("8x A100 node (NVLink3 NVSwitch)"), "dgx-a100-80gb", ONE),
    Sweep("h200-nccl-tests", starts("8x H200 NVSwitch"), "nebius-gpu-h200-sxm-8x", EACH + " --nccl 2.30.7", table="nccl_allreduce"),
    Sweep("h200-pytorch", starts("8x H200 node (NVLink4", 8, notes="PyTorch"), "nebius-gpu-h200-sxm-8x", FRAMEWORK + " --nccl 2.27.7"),
    Sweep("b200-pytorch", starts("AWS p6-b200.48xlarge (8x B200)"), "aws-p6-b200.48xlarge", FRAMEWORK + " --nccl 2.27.7"),
    Sweep("b200-gcp", starts("8x B200 (GCP A4)"), "dgx-b200", EACH),
    Sweep("4x-rtx-4090", starts("4x RTX 4090"), "pcie-4x-rtx-4090-patched-driver", ONE),
    Sweep("4x-a100-pcie", starts("4x A100-PCIE-40GB"), "pcie-4x-a100", ONE),
    Sweep("2x-v100-pcie", starts("2x V100-PCIE"), "v100-pcie-16gb",
          ONE + " --nccl 2.17.8 --set 'hw.link.pcie.sm_copy=7.1 GB/s'", fit=lambda size: size == 128 * MIB, table="nccl_allreduce"),
    Sweep("2x-rtx-2080-ti", starts("2x RTX 2080 Ti"), "rtx-2080-ti",
          ONE + " --set 'hw.link.pcie.staged=4 GB/s'", fit=lambda size: size == 1024 * MIB),
]

# NCCL 2.4.8 on p3dn was told to use rings only, as releases before 2.4 do.
NODES = [
    Sweep("oci-a100-roce", starts("OCI BM.GPU4.8 x2", notes="two-node tree"), "dgx-a100-40gb", EACH, "infiniband-hdr", fit=lambda size: True),
    Sweep("dgx-a100-4-nodes", starts("4 nodes x 8x A100"), "dgx-a100-40gb", EACH, table="nccl_allreduce"),
    Sweep("h100-2-nodes", starts("2 nodes x 8x H100 80GB HBM3"), "dgx-h100", EACH, table="nccl_allreduce"),
    Sweep("h100-2-nodes-nvls", starts("2x 8xH100 SXM, InfiniBand"), "dgx-h100", ONE + " --nccl 2.18", least=1 << 30),
    Sweep("h100-8-nodes", starts("CoreWeave 8 nodes"), "dgx-h100", EACH + " --nccl 2.18"),
    Sweep("b200-2-nodes", starts("8x B200 x2 (GCP A4"), "dgx-b200", EACH),
    Sweep("b200-4-nodes", starts("4 nodes x 8x B200"), "dgx-b200", FRAMEWORK, table="nccl_allreduce"),
    Sweep("a3-mega-tcpx", starts("GCP a3-megagpu-8g x2"), "gcp-a3-megagpu-8g", EACH + " --nccl 2.18", fit=lambda size: True),
    Sweep("p6-efa", starts("AWS p6-b200.48xlarge x4"), "aws-p6-b200.48xlarge", FRAMEWORK + " --nccl 2.27.7", fit=lambda size: True, least=MIB),
    Sweep("p3dn-efa", starts("AWS p3dn.24xlarge x2", notes="rings forced"), "aws-p3dn.24xlarge", EACH + " --nccl 2.3", fit=lambda size: True),
]

# In the boxes of M40, P100 and TITAN X (Maxwell) the plateau of 6 GB/s tells that GPUs did not reach each other over PCIe.
STAGED = " --set hw.pcie_peer_access=false"
DEEPBENCH = {"GTX 1080 Ti": "gtx-1080-ti", "Tesla M40": "m40", "Tesla P100": "p100-pcie-16gb", "TITAN X (Maxwell)": "titan-x-maxwell",
             "TITAN X (Pascal)": "titan-x-pascal"}


def rows(folder, *path):
    with open(pathlib.Path(folder, *path), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(ident, hw, gpus, nodes, size, bandwidth, use, group, source, options="", network=""):
    options = f"--collective all-reduce --bytes {size}" + (" " + options if options else "")
    return dict(id=ident, hw=hw, gpus=gpus, nodes=nodes if nodes > 1 else "", network=network, options=options,
                metric="bus_bandwidth", unit="bytes/s", measured=f"{bandwidth:.6g}", use=use, group=group, source=source)


def bus(size, seconds, ranks):
    return size / seconds * 2 * (ranks - 1) / ranks


def vtrain(folder, gpu):
    hw, used = VTRAIN[gpu]
    for row in rows(folder, "kernels", "vtrain_nccl_allreduce.csv"):
        if row["gpu"] != gpu:
            continue
        n, size = int(row["n_gpus"]), int(row["bytes"])
        bandwidth = bus(size, float(row["time_outplace_us"]) * 1e-6, n)
        yield run(f"{gpu}-{n}-{size // MIB}", hw, n, 1, size, bandwidth, "fit" if used(n, size // MIB) else "validation",
                  f"vtrain-{gpu}/{n} GPUs", "VIA-Research/vTrain trace")


def sweep_rows(folder, sweep):
    path = {"nccl_busbw": ("hardware", "nccl_busbw.csv"), "nccl_allreduce": ("kernels", "nccl_allreduce.csv")}[sweep.table]
    for row in rows(folder, *path):
        if row.get("op", "all_reduce") != "all_reduce" or not sweep.where(row) or int(row["bytes"] or 0) < max(1024, sweep.least):
            continue
        size, n = int(row["bytes"]), int(row["n_gpus"])
        seconds = float(row["time_us"] or 0) * 1e-6 if "time_us" in row else float(row["time_ms"] or 0) * 1e-3
        printed = float(row.get("busbw_gb_s") or row.get("bus_gb_per_s") or 0) * 1e9
        if seconds <= 0 and printed < 0.2e9:
            continue  # printed with one digit: too coarse to compare with
        yield run(f"{sweep.group}-{size}", sweep.hw, n, int(row["n_nodes"]), size, bus(size, seconds, n) if seconds > 0 else printed,
                  "fit" if sweep.fit(size) else "validation", sweep.group, row["source"], sweep.options, sweep.network)


def deepbench(folder):
    for row in rows(folder, "kernels", "deepbench_allreduce.csv"):
        if row["system"] not in DEEPBENCH or int(row["n_nodes"]) > 1 or not row["time_ms"]:
            continue
        hw, n, size = DEEPBENCH[row["system"]], int(row["n_gpus"]), int(row["bytes"])
        yield run(f"{hw}-{n}-{size}", hw, n, 1, size, bus(size, float(row["time_ms"]) * 1e-3, n), "validation", f"deepbench/{hw}",
                  "baidu-research/DeepBench@da81ba7 results/train", "--nccl 2.1" + (STAGED if hw in ("m40", "p100-pcie-16gb", "titan-x-maxwell") else ""))


def write(name, lines):
    with open(OUT / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    OUT.mkdir(exist_ok=True)
    for gpu in VTRAIN:
        write(f"vtrain_{gpu}.csv", vtrain(folder, gpu))
    write("single_boxes.csv", [line for sweep in BOXES for line in sweep_rows(folder, sweep)])
    write("multi_node.csv", [line for sweep in NODES for line in sweep_rows(folder, sweep)])
    write("deepbench.csv", deepbench(folder))


if __name__ == "__main__":
    main()
