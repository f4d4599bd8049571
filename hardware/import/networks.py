#!/usr/bin/env python3
"""interconnects.csv -> hardware/networks/<id>.toml, hardware/storage/<id>.toml and hardware/data_path.toml.
Usage: networks.py DATA_FOLDER [HARDWARE_FOLDER]
"""
import os
import sys

from toml_text import Table, rows, write

# Latency of one message, where interconnects.csv has none: plateau of published all-reduce sweeps over TCP sockets,
# and the neighbouring InfiniBand generation.
TCP_LATENCY = (60, "fitted: TCP socket hop of published all-reduce sweeps")
INFINIBAND_LATENCY = (0.6, "transferred: InfiniBand HDR")
# Fraction of the line rate reached by the nearest relative that has a figure.
RELATIVE = {"ethernet-1g": "ethernet-10g", "ethernet-25g": "ethernet-10g", "ethernet-40g": "ethernet-10g", "ethernet-200g": "ethernet-100g",
            "ethernet-400g": "ethernet-100g", "ethernet-800g": "ethernet-100g", "infiniband-xdr": "infiniband-ndr"}
# The same ports with RDMA (RoCE v2) instead of TCP, and whose fraction of the line rate and latency they take.
ROCE, ROCE_RELATIVE = ("ethernet-25g", "ethernet-100g", "ethernet-200g", "ethernet-400g"), "infiniband-edr"
STORAGE = {"sata-hard-disk-sequential": "hdd", "nvme-pcie-3.0-x4": "nvme", "nvme-pcie-4.0-x4": "nvme", "seed-deck-sata-interface": "sata"}
# Time until the first byte of a read elsewhere, reads served side by side.
SEEK = (12.7, "ms", 1, "datasheet: 7,200 revolutions a minute, half a turn 4.17 ms, and an average seek of 8.5 ms as makers of 3.5-inch drives state it")
FLASH = (0.1, "ms", 32, "datasheet: flash page read and controller, about 0.1 ms; the queue of the SATA interface holds 32 commands")
NVME = (0.09, "ms", 256, "datasheet: flash page read and controller, 80 to 100 us; assumed: 256 reads of a queue are in work")
SERVER = (1, "ms", 64, "assumed: look-up, open, read and close as round trips of 0.2 ms, and the server's own access; 64 requests in work")
ACCESS = {"hdd": SEEK, "sata": FLASH, "nvme": NVME}
# Entries that interconnects.csv lacks: name, kind, rate in GB/s, access, shared, source.
STORES = {"sata-ssd": ("SATA SSD", "sata", 0.55, FLASH, False, "datasheet: sequential read of drives on the 6 Gb/s interface"),
          "nfs-1g": ("NFS over 1 Gb/s Ethernet", "network", 0.117, SERVER, True, "datasheet: line rate less the headers of 1,500-byte frames"),
          "nfs-10g": ("NFS over 10 Gb/s Ethernet", "network", 1.0, SERVER, True, "paper: performance and profiling deck, table of common system bandwidths: 10 Gb/s Ethernet")}
DECK = "paper: performance and profiling deck, table of common system bandwidths"


# Cloud networks with a transport of their own: achieved share of the line rate, hop of a ring, transport of nccl.toml.
EFA_1 = "fitted: all-reduce between two p3dn.24xlarge, awsdocs/amazon-ec2-user-guide:doc_source/efa-start-nccl-base.md@74fbd6fbaee17e7d814e84b935b3dd98361419eb"
EFA_4 = "fitted: all-reduce between four p6-b200.48xlarge, stas00/ml-engineering:network/README.md@744d01e18b79512572f64a6bbd8b5f4a725203a7"
TCPX = "fitted: all-reduce between two a3-megagpu-8g, lessizzmore/create-a3mega-ztan-fork:ztan-NCCL-test-result.markdown@346b825ad3b527ffbd6ba5"
CLOUD = {"efa-100g": ("AWS EFA 100 Gb/s", 100, 0.62, 180, "efa-1", EFA_1), "efa-200g": ("AWS EFA 200 Gb/s", 200, 0.95, 50, "efa", EFA_4.replace("fitted", "transferred")),
         "efa-400g": ("AWS EFA 400 Gb/s", 400, 0.95, 50, "efa", EFA_4), "tcpx-200g": ("Google GPUDirect-TCPX 200 Gb/s", 200, 0.97, 400, "tcpx", TCPX)}


def cloud(name, gigabits, share, hop, transport, source):
    t = Table().text("name", name).amount("bandwidth", gigabits / 8, "GB/s").amount("achieved", gigabits / 8 * share, "GB/s")
    t.text("achieved_source", source).amount("latency", hop, "us").text("latency_source", source).flag("rdma", False)
    return str(t.text("transport", transport).text("source", "datasheet: arithmetic from the line rate"))


def network(row, table):
    line, achieved = float(row["theoretical_gb_s_per_dir"]), row["typical_achieved_gb_s_per_dir"]
    source = "measured: " + row["source"].removeprefix("arithmetic from the line rate; ")
    if not achieved:
        other = table[RELATIVE[row["id"]]]
        achieved = line * float(other["typical_achieved_gb_s_per_dir"]) / float(other["theoretical_gb_s_per_dir"])
        source = f"transferred: the fraction that {other['name']} reaches"
    infiniband = row["id"].startswith("infiniband")
    latency, latency_source = INFINIBAND_LATENCY if infiniband else TCP_LATENCY
    if row["latency_us"]:
        latency, latency_source = row["latency_us"], "datasheet: " + row["source"].split("; ")[-1]
    t = Table().text("name", row["name"]).amount("bandwidth", line, "GB/s").amount("achieved", achieved, "GB/s").text("achieved_source", source)
    t.amount("latency", latency, "us").text("latency_source", latency_source).flag("rdma", infiniband)
    return str(t.text("source", "datasheet: " + row["source"]).text("notes", row["notes"]))


def roce(row, table):
    """RDMA over Converged Ethernet: the line rate of the port, the protocol efficiency and latency of InfiniBand."""
    other = table[ROCE_RELATIVE]
    line = float(row["theoretical_gb_s_per_dir"])
    fraction = float(other["typical_achieved_gb_s_per_dir"]) / float(other["theoretical_gb_s_per_dir"])
    t = Table().text("name", row["name"] + " RoCE").amount("bandwidth", line, "GB/s").amount("achieved", line * fraction, "GB/s")
    t.text("achieved_source", f"transferred: the fraction that {other['name']} reaches")
    t.amount("latency", other["latency_us"], "us").text("latency_source", f"transferred: {other['name']}").flag("rdma", True)
    return str(t.text("source", "datasheet: " + row["source"]))


def access(t, cost):
    time, unit, at_once, source = cost
    return t.amount("access", time, unit).integer("at_once", at_once).text("access_source", source)


def store(name, kind, rate, cost, shared, source):
    t = access(Table().text("name", name).text("kind", kind).amount("sequential_read", rate, "GB/s"), cost)
    return str((t.flag("shared", True) if shared else t).text("source", source))


def storage(row, kind):
    t = Table().text("name", row["name"]).text("kind", kind)
    t.amount("interface_bandwidth", row["theoretical_gb_s_per_dir"], "GB/s")
    t.amount("sequential_read", row["typical_achieved_gb_s_per_dir"], "GB/s")
    return str(access(t, ACCESS[kind]).text("source", "paper: " + row["source"]).text("notes", row["notes"]))


def data_path(data):
    """The deck's table as it prints it; times to move 1 PB are computed, not stored."""
    text = ""
    for row in rows(data, "seeds", "seeds_numbers.csv"):
        if row["quantity"] == "bandwidth" and row["kind"] == "spec":
            t = Table("\n[[stage]]").text("name", row["method"]).amount("bandwidth", row["value"], row["unit"]).text("source", DECK)
            text += str(t.text("notes", row["note"]))
    return text


def main():
    data = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..")
    table = {row["id"]: row for row in rows(data, "hardware", "interconnects.csv")}
    for ident, row in table.items():
        if ident.startswith(("ethernet-", "infiniband-")):
            write(os.path.join(out, "networks", ident + ".toml"), "networks.py", network(row, table))
        if ident in ROCE:
            write(os.path.join(out, "networks", ident + "-roce.toml"), "networks.py", roce(row, table))
        elif ident in STORAGE:
            write(os.path.join(out, "storage", ident.removeprefix("seed-deck-") + ".toml"), "networks.py", storage(row, STORAGE[ident]))
    for ident, values in CLOUD.items():
        write(os.path.join(out, "networks", ident + ".toml"), "networks.py", cloud(*values))
    for ident, values in STORES.items():
        write(os.path.join(out, "storage", ident + ".toml"), "networks.py", store(*values))
    write(os.path.join(out, "data_path.toml"), "networks.py", data_path(data))


if __name__ == "__main__":
    main()
