#!/usr/bin/env python3
"""gpus.csv -> hardware/gpus/<id>.toml.   Usage: gpus.py DATA_FOLDER [HARDWARE_FOLDER]

A [[calibration]] section that a file already has is kept.
"""
import os
import re
import sys

from toml_text import Table, kept_section, rows, write

# What a long training run keeps, where it is published (MHz, source). V100 boards near 1312 MHz are a property of
# cloud systems, so that figure stands in those system files. Left out: 1364 MHz for the RTX 2080 Ti, its base clock but
# for 14 MHz, which boards of its 250 W class exceed in every published fp32 training run.
# Not the 705 MHz that one source saw of the T4: published products of it reach 4.7 TFLOP/s, for which its 2560 lanes need 910 MHz.
SUSTAINED = {
    "titan-v": (1350, "datasheet: the vendor's tensor rate, 110.6 TFLOP/s, is 640 cores x 128 FLOP at 1350 MHz; the listed boost clock would give 119"),
}

# Two GPUs on one board share its power limit: time that each adds to the other's compute.
BOARD_SHARING = {
    "k80": (0.042, "fitted: 2 to 8 GPUs of one machine, the same for every network and batch: TensorFlow's benchmark page of May 2017, Google Compute Engine (scenarios/published/tensorflow_2017_multi_gpu.csv, rows marked fit)"),
}

# Millions of address translations a second of a generation whose buffers limit products of long rows.
TRANSLATIONS = {"Pascal": "2600"}
TRANSLATIONS_SOURCE = "fitted: linear layers of NeuSight's tables, P100 and P4 alike; other chips of the generation assumed the same"

# The sources list a board's power, of which each of its two GPUs has half.
GPUS_OF_BOARD = {"k80": 2, "m60": 2}

# Memory clocks printed by the TBD analysis page; bandwidth = 2 x clock x bus width, of which the page and the
# poster print 547.6 and 547.7 (TITAN Xp) and 243 (P4000).
MEMORY_CLOCK = {"titan-xp": 5705, "p4000": 3802}

# GeForce boards from Turing on: the driver refuses peer access over PCIe. Published for these two; assumed for the rest.
NO_PEER_PUBLISHED = {
    "rtx-2080-ti": "two-board benchmark notes without peer access",
    "rtx-4090": "peer access only with a patched driver, yiguCM/pptest_driver:README.md@bcbb8cb",
}
NO_PEER_ASSUMED = ("gtx-1660-super", "gtx-1660-ti", "rtx-2060", "rtx-2060-12gb", "rtx-2060-super", "rtx-2070", "rtx-2070-super", "rtx-2080",
                   "rtx-2080-super", "rtx-3050", "rtx-3060", "rtx-3060-ti", "rtx-3070", "rtx-3070-ti", "rtx-3080", "rtx-3080-12gb", "rtx-3080-ti",
                   "rtx-3090", "rtx-3090-ti", "rtx-4060", "rtx-4060-ti-8gb", "rtx-4060-ti-16gb", "rtx-4070", "rtx-4070-super", "rtx-4070-ti",
                   "rtx-4070-ti-super", "rtx-4080", "rtx-4080-super", "rtx-5060", "rtx-5060-ti-8gb", "rtx-5060-ti-16gb", "rtx-5070", "rtx-5070-ti",
                   "rtx-5080", "rtx-5090")

# Tensor rate where no source lists one: FLOP of a core and cycle in fp16, and why.
TENSOR_CORE_RATE = {
    "a10g": (128, "assumed: 128 FLOP a core and cycle as of GeForce boards with this chip, half of the A10's (it is the slower board)"),
    "rtx-6000": (128, "128 FLOP a core and cycle, as of the TITAN RTX on the same chip"),
    "rtx-8000": (128, "128 FLOP a core and cycle, as of the TITAN RTX on the same chip"),
}

# Shared memory (KiB), registers (KiB) and threads of a multiprocessor where no source lists them: CUDA C++ Programming Guide, table of
# technical specifications per compute capability.
MULTIPROCESSOR = {"7.5": (64, 256, 1024)}

# Boards for servers keep the bits of error correction in their GDDR memory, a sixteenth of it, and are shipped with the correction on.
ECC_IN_MEMORY = ("k80", "m40", "m40-24gb", "m60", "p4", "p40", "t4", "a2", "a10", "a10g", "a40", "l4", "l40", "l40s")

# Level-2 caches (MiB) that a source lists too small, and how it is known.
L2_MEASURED = {
    "l40s": (96, "L2: a source lists 48 MiB; published 8-bit cast kernels run at 6.4 TB/s up to 100 MB of data and at the memory's rate from 115 MB, so it is 96 MiB, as of the L40 on the same die"),
}

# Boards sold to consumers: they run above the boost clock that they list.
CONSUMER = ("GeForce", "TITAN")

# Prices that gpus.csv lacks: USD, when seen, where.
ROUGH = "paper: rough street price, 20 to 40 % either way, https://www.aiinframap.com/tools/chips/h100-vs-h200-vs-b200-tco (read 2026-11-23)"
PRICES = {
    "h100-pcie-80gb": (30000, "2026-06", ROUGH), "h200-nvl": (35000, "2026-06", ROUGH),
    "mi300x": (15000, "2026-11-23", "paper: https://huggingface.co/hardware/mi300 (read 2026-11-23)"),
    "rtx-pro-6000": (8565, "2026-04-06", "paper: list price, sold for 8,000 to 9,200 USD, https://www.newgearhub.com/review/nvidia-gtc-2026-blackwell-gpus-pro-workstations (read 2026-11-23)"),
    "a100-pcie-80gb": (11500, "2026-03-20", "paper: middle of 8000 to 15000 USD for new boards, https://www.aitooldiscovery.com/ai-infra/nvidia-a100-specs-price (read 2026-11-24)"),
    "l4": (2500, "2026-11-24", "paper: retail price of a board, https://www.runlocalai.co/hardware/nvidia-l4; https://chipversus.com/hardware/gpu/l4 prints 2345 USD (both read 2026-11-24)"),
    "l40s": (8500, "2026-11-24", "paper: middle of 7000 to 10000 USD for the board alone, https://datastorage.com/gpu/nvidia-l40s/ (read 2026-11-24)"),
    "vega-fe": (999, "2017-08", "paper: air-cooled, on sale, https://www.dilipstechnoblog.com/2017/08/amd-vega-release-date-price-specs-and.html"),
    "p100-pcie-16gb": (5699, "2016-06-20", "paper: launch price, https://sysrqmts.com/it/gpus/compare/nvidia-grid-k340-vs-nvidia-tesla-p100-pcie-16-gb"),
    "v100-pcie-16gb": (9592, "2019-02-08", "paper: eight times the RTX 2080 Ti of 1199 USD, https://lambdalabs.com/blog/best-gpu-tensorflow-2080-ti-vs-v100-vs-titan-v-vs-1080-ti-benchmark; an undated page prints about 11,000 USD"),
}

# Boards without a slot: several stand on a baseboard that wires them, in these systems.
MOUNTED_IN = {
    "p100-sxm2-16gb": "dgx1-p100", "v100-sxm2-16gb": "dgx1", "v100-sxm2-32gb": "dgx1-v100-32gb", "v100-sxm3-32gb": "dgx2",
    "a100-sxm4-40gb": "dgx-a100-40gb", "a100-sxm4-80gb": "dgx-a100-80gb", "h100-sxm5-80gb": "dgx-h100",
    "h200-sxm-141gb": "aws-p5en.48xlarge", "b200-sxm-180gb": "dgx-b200", "gb200": "gb200-nvl72",
    "b300-sxm-288gb": "dgx-b300", "gb300": "gb300-nvl72", "h800-sxm5-80gb": "hgx-h800",
    "mi300x": "mi300x-platform", "mi325x": "mi325x-platform", "mi350x": "mi350x-platform", "mi355x": "mi355x-platform",
}

LANES_ADA = 128  # fp32 lanes of one SM, compute capability 8.9
LANES_AMD = 64   # stream processors of one compute unit


def multiprocessors(row):
    """(count, lanes, note): SMs, or compute units for AMD."""
    cores = int(row["fp32_cores"])
    if not row["sms"]:
        return cores // LANES_AMD, LANES_AMD, ""
    sms = int(row["sms"])
    if cores % sms:
        assert row["arch"] == "Ada Lovelace" and cores % LANES_ADA == 0, row["id"]
        return cores // LANES_ADA, LANES_ADA, f"{cores // LANES_ADA} SMs = {cores} cores / {LANES_ADA}; the source lists the {sms} of the full die"
    return sms, cores // sms, ""


def fp32_matrix(row, notes):
    """Rate of fp32 products on AMD's matrix cores, TFLOP/s; empty for devices without, or where it is the rate listed."""
    stated = re.search(r"fp32 matrix ([0-9.]+)", row["notes"])
    if stated:
        return stated[1]
    if row["arch"] in ("CDNA 3.0", "CDNA 4.0"):
        notes.append("fp32 matrix rate: as the vector rate, which counts two multiply-adds a lane")
        return row["fp32_tflops_peak"]
    if row["arch"] == "CDNA 2.0":
        notes.append("fp32 matrix rate: twice the vector rate, as of the MI210 with this chip")
        return f"{2 * float(row['fp32_tflops_peak']):.1f}"
    return ""


def body(row):
    count, lanes, note = multiprocessors(row)
    notes = [text for text in (row["notes"], note) if text]
    boost = row["boost_mhz"]
    if not boost:
        boost = f"{float(row['fp32_tflops_peak']) * 1e6 / (2 * count * lanes):.0f}"
    bandwidth = row["mem_bw_gb_s"]
    clock = MEMORY_CLOCK.get(row["id"])
    if clock:
        bandwidth = 2 * clock * int(row["mem_bus_bits"]) / 8 / 1000
        notes.append(f"memory bandwidth = 2 x {clock} MHz x {row['mem_bus_bits']} bit (sources print {row['mem_bw_gb_s']} GB/s)")
    t = Table()
    t.text("name", row["name"]).text("vendor", row["vendor"]).text("architecture", row["arch"])
    if row["name"].startswith(CONSUMER):
        t.text("board_class", "consumer")
    t.text("compute_capability", row["compute_capability"])
    t.integer("multiprocessors", count).integer("fp32_lanes", lanes).integer("tensor_cores", row["tensor_cores"])
    t.amount("base_clock", row["base_mhz"], "MHz").amount("boost_clock", boost, "MHz")
    if row["id"] in SUSTAINED:
        mhz, source = SUSTAINED[row["id"]]
        t.amount("sustained_clock", mhz, "MHz").text("sustained_clock_source", source)
    if row["id"] in BOARD_SHARING:
        share, source = BOARD_SHARING[row["id"]]
        t.fraction("board_sharing", share).text("board_sharing_source", source)
    t.amount("peak_fp32", row["fp32_tflops_peak"], "TFLOP/s").amount("peak_fp32_tensor", fp32_matrix(row, notes), "TFLOP/s")
    tensor, bf16, tf32 = row["fp16_tensor_tflops_dense"], row["bf16_tensor_tflops_dense"], row["tf32_tflops"]
    if not tensor and row["id"] in TENSOR_CORE_RATE:
        flop, why = TENSOR_CORE_RATE[row["id"]]
        tensor = f"{flop * int(row['tensor_cores']) * float(boost) * 1e-6:.1f}"
        notes.append("tensor rate: " + why)
        if row["arch"] == "Ampere":  # bf16 runs at the rate of fp16, tf32 at half of it on every board of the architecture
            bf16, tf32 = tensor, f"{float(tensor) / 2:.1f}"
    t.amount("peak_tf32_tensor", tf32, "TFLOP/s").amount("peak_fp16_tensor", tensor, "TFLOP/s")
    t.amount("peak_bf16_tensor", bf16, "TFLOP/s")
    t.amount("peak_fp8_tensor", row["fp8_tensor_tflops_dense"], "TFLOP/s")
    t.amount("peak_fp16_vector", row["fp16_vector_tflops"], "TFLOP/s").amount("peak_fp64", row["fp64_tflops"], "TFLOP/s")
    reported = row["mem_reported_mib"]
    if not reported and row["id"] in ECC_IN_MEMORY:
        reported = f"{float(row['mem_gib']) * 1024 * 15 / 16:.0f}"
        notes.append("memory reported: less a sixteenth for error correction")
    t.amount("memory_capacity", row["mem_gib"], "GiB").amount("memory_reported", reported, "MiB")
    t.text("memory_kind", row["mem_type"]).integer("memory_bus_bits", row["mem_bus_bits"]).amount("memory_clock", clock, "MHz")
    l2 = row["l2_mib"]
    if row["id"] in L2_MEASURED:
        l2, why = L2_MEASURED[row["id"]]
        notes[0] = why
    t.amount("memory_bandwidth", bandwidth, "GB/s").amount("l2_capacity", l2, "MiB")
    if row["arch"] in TRANSLATIONS:
        t.amount("address_translations", TRANSLATIONS[row["arch"]], "MHz").text("address_translations_source", TRANSLATIONS_SOURCE)
    shared, registers, threads = MULTIPROCESSOR.get(row["compute_capability"], ("", "", ""))
    t.amount("shared_memory_per_multiprocessor", row["shared_mem_per_sm_kib"] or shared, "KiB")
    t.amount("registers_per_multiprocessor", row["regs_per_sm_kib"] or registers, "KiB")
    t.integer("max_threads_per_multiprocessor", row["max_threads_per_sm"] or threads)
    t.integer("pcie_generation", row["pcie_gen"]).integer("pcie_lanes", row["pcie_lanes"])
    if row["id"] in NO_PEER_PUBLISHED:
        t.flag("pcie_peer_access", False).text("pcie_peer_access_source", "measured: " + NO_PEER_PUBLISHED[row["id"]])
    elif row["id"] in NO_PEER_ASSUMED:
        t.flag("pcie_peer_access", False)
        t.text("pcie_peer_access_source", "assumed: as the RTX 2080 Ti and RTX 4090, for which it is published")
    t.integer("nvlink_links", row["nvlink_links"]).amount("nvlink_bandwidth", row["nvlink_gb_s_per_link_per_dir"], "GB/s")
    t.text("mounted_in", MOUNTED_IN.get(row["id"], ""))
    gpus = GPUS_OF_BOARD.get(row["id"], 1)
    if gpus > 1:
        notes[0] = notes[0].replace("tdp_w is the whole board", f"power limit: half of the board's {row['tdp_w']} W")
    t.amount("power_limit", f"{float(row['tdp_w']) / gpus:g}" if row["tdp_w"] else "", "W")
    usd, seen, where = PRICES.get(row["id"], (row["launch_price_usd"], "", ""))
    t.amount("launch_price", usd, "USD").text("launch_price_date", seen).text("launch_price_source", where)
    t.text("launch_date", row["launch_date"]).text("source", "datasheet: " + row["source"]).text("notes", "; ".join(notes))
    return str(t)


def main():
    data = sys.argv[1]
    out = os.path.join(sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), ".."), "gpus")
    for row in rows(data, "hardware", "gpus.csv"):
        path = os.path.join(out, row["id"] + ".toml")
        write(path, "gpus.py", body(row), kept_section(path, "[[calibration]]"))


if __name__ == "__main__":
    main()
