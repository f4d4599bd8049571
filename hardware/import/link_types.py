"""Link types used inside systems: line rates and achieved rates of interconnects.csv, each with its source."""
from toml_text import Table

COPY_V100 = ("measured: 47.88 GB/s over two links, p2pBandwidthLatencyTest, Dell High Performance Computing Solution owner's manual "
             "(https://manuzoid.com/manuals/46Jor-Dell%20High%20Performance%20Computing%20Solution%20Resources%20Owner's%20Manual)")
COPY_P100 = COPY_V100.replace("47.88", "36.39")
VTRAIN_V100 = ("fitted: plateau of 1, 2, ... 6 rings over 2..8 GPUs, all-reduce sweep of the 8-GPU V100 cube mesh in VIA-Research/vTrain "
               "(eff 0.914 of 25 GB/s from 8 GPUs)")
TARTAN_P100 = ("fitted: plateau of 3 effective rings on GPUs 0-3 (52.1 GB/s), "
               "uuudown/Tartan:microbenchmark/scale_up_cl/nccl-v2/bandwidth.txt@e3166ab")
PEER_COPY_LATENCY = "transferred: peer copy over NVLink1, uuudown/Tartan:microbenchmark/scale_up_p2p_test/dgx1_ascending.txt@e3166ab"
H100_COPY_LATENCY = "transferred: H100 peer copy, 2.75 us (H100 nvbandwidth and p2pBandwidthLatencyTest log)"
SWITCH = "fitted: large-message plateau of published all-reduce sweeps, bus bandwidth per port over links per port: "
HOST_COPY = ("measured: 19.5 us for a GPU-to-GPU copy staged through the host of a DGX-1P, over the four PCIe links of the way; "
             "uuudown/Tartan:microbenchmark/scale_up_p2p_test/dgx1_ascending.txt@e3166ab")
HOST_COPY_DIRECT = "measured: 14.8 us for a staged copy between two RTX 2080 Ti, over the two PCIe links of the way"
STAGED = ("fitted: plateau of published all-reduce sweeps on boxes without peer access (4.0 to 7.1 GB/s): DeepBench M40, P100, TITAN X; "
          "2 x RTX 2080 Ti")
# Copies through host memory (GB/s) of boards without peer access in newer slots: not twice as fast with each generation of PCIe.
STAGED_REFUSED = {
    4: (8.0, "assumed: between boxes of GeForce boards that are published on PCIe 4.0 (steps of two RTX 3080 and of two and three RTX 3090 want "
             "10 GB/s and more, steps of RTX 3070 5 GB/s)"),
    5: (10.0, "assumed: as much more as PCIe 4.0 has over 3.0; nothing published stands behind it"),
}
PEER_SM = "fitted: 0.785 of the line rate, plateau of all-reduce sweeps over PCIe 3.0 peers (4 x RTX 4090 on PCIe 4.0 agrees)"
QPI_COPY = ("measured: 10.0 GB/s GPU to GPU through the host of a DGX-1P without peer access (9.2 to 10.8), "
            "uuudown/Tartan:microbenchmark/scale_up_p2p_test/dgx1_ascending.txt@e3166ab")
QPI_SM = "fitted: 8.7 GB/s over two links, plateau of DeepBench all-reduce between PCIe peers on both sockets"
NCCL = "paper: planning constant of NVIDIA/nccl:src/graph/topo.h@5067397c2676d5aed50042fc39e5c8ee96eb0027"


class LinkTypes:
    """Renders [link.NAME] tables from rows of interconnects.csv, addressed by id."""

    def __init__(self, interconnects):
        self.row = {row["id"]: row for row in interconnects}

    def table(self, name, kind, csv_id, achieved, achieved_source, sm_copy, sm_copy_source, latency, latency_source, **extra):
        """One link type. `csv_id` gives the line rate; extra: scale (lanes), bandwidth, peer_access, staged."""
        line = extra.get("bandwidth") or self.row[csv_id]["theoretical_gb_s_per_dir"]
        t = Table(f"[link.{name}]")
        t.text("kind", kind).amount("bandwidth", line, "GB/s")
        t.amount("achieved", achieved, "GB/s").text("achieved_source", achieved_source)
        t.amount("sm_copy", sm_copy, "GB/s").text("sm_copy_source", sm_copy_source)
        t.amount("latency", latency, "us").text("latency_source", latency_source)
        if "peer_access" in extra:
            t.flag("peer_access", extra["peer_access"])
        t.amount("staged", extra.get("staged"), "GB/s").text("staged_source", extra.get("staged_source", ""))
        t.text("source", extra.get("source") or "datasheet: " + self.row[csv_id]["source"])
        return str(t)

    def nvlink(self, generation, switched, name="nvlink"):
        """NVLink of a generation, wired directly or through NVSwitch."""
        link = f"nvlink{generation}-per-link"
        if generation == 1:
            return self.table(name, "nvlink", link, 18.195, COPY_P100, 17.4, TARTAN_P100, 9.6, PEER_COPY_LATENCY.replace("transferred", "measured"))
        if generation == 2 and not switched:
            return self.table(name, "nvlink", link, 23.94, COPY_V100, 22.84, VTRAIN_V100, 9.6, PEER_COPY_LATENCY)
        copy = {2: (23.94, "transferred: " + COPY_V100.removeprefix("measured: ")), 3: (20.0, NCCL),
                4: (390 / 18, "measured: GPU-to-GPU copy of 390 GB/s over 18 links (H100 nvbandwidth log)"), 5: (40.1, NCCL)}[generation]
        boxes = {2: ("DGX-2", 0.82), 3: ("HGX A100", 0.79), 4: ("HGX H100/H200 without in-switch reduction", 0.81),
                 5: ("HGX B200 without in-switch reduction", 0.757)}[generation]
        line = float(self.row[link]["theoretical_gb_s_per_dir"])
        latency = (9.6, PEER_COPY_LATENCY) if generation < 4 else (2.75, H100_COPY_LATENCY)
        source = SWITCH + boxes[0] if switched else "transferred: as through NVSwitch, " + boxes[0]
        return self.table(name, "nvlink", link, copy[0], copy[1], line * boxes[1], source, *latency)

    def pcie(self, generation, lanes=16, peer_access=True, switched=False, plain=False):
        """PCIe of a generation between GPU, switch and CPU. `plain`: of a host that any board may stand in."""
        row = self.row[f"pcie-{generation}.0-x{lanes}"]
        full = self.row[f"pcie-{generation}.0-x16"]
        line = float(row["theoretical_gb_s_per_dir"])
        achieved = row["typical_achieved_gb_s_per_dir"]
        source = NCCL if generation == 3 else "measured: " + row["source"].removeprefix("arithmetic from the line rate; ")
        if not achieved:
            achieved = line * float(full["typical_achieved_gb_s_per_dir"]) / float(full["theoretical_gb_s_per_dir"])
            source = f"transferred: the fraction that {full['name']} reaches"
        staged, staged_source = 6.0, STAGED if generation == 3 else "transferred: PCIe 3.0, " + STAGED.removeprefix("fitted: ")
        if plain or not peer_access:  # peers copy through host memory between sockets only, as published of four A100
            staged, staged_source = STAGED_REFUSED.get(generation, (staged, staged_source))
        latency = (4.875, HOST_COPY) if switched else (7.4, HOST_COPY_DIRECT)
        return self.table("pcie", "pcie", row["id"], achieved, source, line * 0.785, PEER_SM, *latency, peer_access=peer_access, staged=staged,
                          staged_source=staged_source)

    def cpu_link(self, csv_id, peer_access=False, links=1):
        """Link between the two sockets; `peer_access`: GPUs may read each other across it. `links`: that one wire stands for; QPI
        alone is described by the link, of which two join the sockets."""
        row = self.row[csv_id]
        effective = float(row["typical_achieved_gb_s_per_dir"])
        if csv_id == "cpu-link-intel-qpi-broadwell":  # copies were measured over two links
            line = links * float(row["theoretical_gb_s_per_dir"]) if links > 1 else None
            return self.table("qpi", "cpu_link", csv_id, links * 5.0, QPI_COPY + ", over two links", links * 4.35, QPI_SM, "", "",
                              bandwidth=line)
        line = row["theoretical_gb_s_per_dir"]
        source = "datasheet: " + row["source"] if line else f"assumed: line rate not published here, the effective rate stands in ({NCCL})"
        return self.table("cpu_link", "cpu_link", csv_id, effective, NCCL, effective, NCCL, "", "",
                          bandwidth=line or effective, source=source, **({"peer_access": True} if peer_access else {}))

    def xgmi(self, csv_id):
        """Infinity Fabric between two GPUs of AMD. No copy over it is published here: it reaches the shares of NVLink4 behind a switch."""
        line = float(self.row[csv_id]["theoretical_gb_s_per_dir"])
        return self.table("xgmi", "xgmi", csv_id, line * 390 / 450, "transferred: the share that a copy reaches over NVLink4 (390 of 450 GB/s, H100 nvbandwidth log)",
                          line * 0.81, "transferred: the share that rings reach over NVLink4 (HGX H100/H200 without in-switch reduction)", 2.75, H100_COPY_LATENCY)

    def c2c(self):
        """CPU to GPU inside a superchip."""
        return self.table("c2c", "internal", "nvlink-c2c-grace-hopper-blackwell", "", "", "", "", "", "", peer_access=True)
