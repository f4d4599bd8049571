#!/usr/bin/env python3
"""systems.csv, topologies.csv -> hardware/systems/<id>.toml and hardware/hosts/<id>.toml.
Usage: systems.py DATA_FOLDER [HARDWARE_FOLDER]
"""
import os
import re
import sys

import cpus
from link_types import LinkTypes
from toml_text import Table, rows, write
from wiring import Wiring, from_rows, join_sockets, named_cpu_link, nvlink_generation, plain_pcie

MESH = {"aws-p3.16xlarge", "aws-p3dn.24xlarge", "azure-nd40rs-v2", "lambda-gpu-8x-v100-n", "dgx1-v100-32gb"}
SAME_WIRING = {"dgx1-v100-32gb": "dgx1", "dgx-a100-80gb": "dgx-a100-40gb", "dgx-h200": "dgx-h100"}
# Names of systems.csv that gpus.csv spells otherwise; two of them leave the variant open.
HALF_OF = {"pcie-4x-rtx-4090": "pcie-8x-rtx-4090"}
GPU_NAMES = {"Tesla V100 16GB": "v100-sxm2-16gb", "Tesla V100 SXM2": "v100-sxm2-16gb", "Tesla P100 SXM2 16GB": "p100-sxm2-16gb"}
CLOUD_V100 = (1312, "measured: SM clock of V100 boards in clouds under training load (0.86 of boost); also habitat devices.yml")
HOST_PART_ONLY = "host part only"  # these rent figures leave the GPUs out
# Boxes that only topologies.csv lists: device, GPUs.
ONLY_WIRED = {"vm-8x-v100": ("v100-sxm2-16gb", 8), "pcie-8x-rtx-4090": ("rtx-4090", 8), "pcie-8x-a100-bridged": ("a100-pcie-80gb", 8)}
PATCHED = "-patched-driver"  # a second entry of these boxes, as they were measured: a driver that allows peer access
MEASURED_PATCHED = ("pcie-4x-rtx-4090", "pcie-8x-rtx-4090")
# CPUs that systems.csv lacks, and where they are from.
CPUS = {"dgx-station": ("1x Intel Xeon E5-2698 v4 2.2 GHz, 20-core", "20", "NVIDIA DGX Station data sheet (recalled)"),
        "aws-p2.16xlarge": ("2x Intel Xeon E5-2686 v4, 64 vCPU", "32", "CPU: recalled; of the p3.16xlarge " + cpus.AWS_2019),
        "aws-p3.16xlarge": ("2x Intel Xeon E5-2686 v4, 64 vCPU", "32", "CPU: " + cpus.AWS_2019),
        "aws-p5en.48xlarge": ("2x Intel Xeon Platinum 8488C, 192 vCPU", "96", "CPU: " + cpus.AWS_P5EN),
        "gcp-a2-highgpu-8g": ("2x Intel Xeon Platinum 8273CL, 96 vCPU", "48", "CPU: " + cpus.GOOGLE),
        "gcp-a2-megagpu-16g": ("2x Intel Xeon Platinum 8273CL, 96 vCPU", "48", "CPU: " + cpus.GOOGLE),
        "gcp-a2-ultragpu-8g": ("2x Intel Xeon Platinum 8273CL, 96 vCPU", "48", "CPU: " + cpus.GOOGLE),
        "gcp-a3-highgpu-8g": ("2x Intel Xeon Platinum 8481C, 208 vCPU", "104", "CPU: " + cpus.GOOGLE),
        "gcp-a3-megagpu-8g": ("2x Intel Xeon Platinum 8481C, 208 vCPU", "104", "CPU: " + cpus.GOOGLE + "; as many as of the a3-highgpu-8g"),
        "gcp-a3-ultragpu-8g": ("2x Intel Xeon Platinum 8581C, 224 vCPU", "112", "CPU: " + cpus.GOOGLE),
        "gcp-a4-highgpu-8g": ("2x Intel Xeon Platinum 8581C, 224 vCPU", "112", "CPU: " + cpus.GOOGLE),
        "nebius-gpu-h100-sxm-8x": ("Intel Xeon (Sapphire Rapids), 128 vCPU", "64", "CPU: " + cpus.NEBIUS),
        "nebius-gpu-h200-sxm-8x": ("Intel Xeon (Sapphire Rapids), 128 vCPU", "64", "CPU: " + cpus.NEBIUS),
        "nebius-gpu-b200-sxm-8x": ("2x Intel Xeon Platinum 8580, 160 vCPU", "80", "CPU: " + cpus.NEBIUS_B200),
        "azure-nd96isr-mi300x-v5": ("Intel Xeon Scalable (Sapphire Rapids), 96 vCPU", "48", "CPU: " + cpus.AZURE_MI300X)}
# Prices that systems.csv lacks: USD, when, where.
PRICES = {"dgx1": (149000, "2017-05", "paper: list price at its announcement, https://www.tweaktown.com/news/57488/nvidia-tesla-v100-single-slot-150w-dual-300w/index.html; it includes software support"),
          "dgx1-p100": (129000, "2016-04", "paper: price of the DGX-1 at its announcement, https://aiwiki.ai/wiki/nvidia_dgx_b300 (read 2026-11-23)"),
          "dgx-h100": (317000, "2024-08", "paper: Thinkmate's quotation of a machine with eight H100 and its InfiniBand adapters, not the maker's own; https://docs.google.com/spreadsheets/d/1Ft3RbeZ-w43kYSiLfYc1vxO41mK5lmJpcPC9GOYHAWc (read 2026-11-23)"),
          "dgx-b200": (515000, "2025-03-16", "paper: about, https://vengineer.hatenablog.com/entry/2025/03/16/080000 (read 2026-11-23)"),
          "gb200-nvl72": (3100000, "2026", "paper: about, https://fetchlogic.net/memory-now-costs-more-than-the-processor-in-ai-chips-and-that-changes-everything-about-who-can-afford-to-compete/ (read 2026-11-23)")}
# Rents that systems.csv lacks: USD an hour, when, where.
RENTS = {"gcp-a3-highgpu-8g": (88.49, "2026", "paper: https://deploybase.ai/articles/azure-vs-google-cloud (read 2026-11-23)")}
# Most that a node draws: W, where.
POWER = {"dgx1-p100": (3200, "datasheet: DGX-1, https://en.wikipedia.org/wiki/Nvidia_DGX"), "dgx1": (3500, "datasheet: DGX-1 user guide (recalled, not read again)"),
         "dgx2": (10000, "datasheet: DGX-2 (recalled, not read again)"), "dgx2h": (12000, "datasheet: DGX-2H (recalled, not read again)"),
         "dgx-a100-40gb": (6500, "datasheet: 6.5 kW at most, https://pcnews.ru/news/vycislitelnaa_sistema_nvidia_dgx_a100_ampere_osnasaetsa_sestu_blokami_pitania_po_3_kvt-985106.html (after the maker's user guide; read 2026-11-24)"), "dgx-a100-80gb": (6500, "datasheet: 6.5 kW at most, https://pcnews.ru/news/vycislitelnaa_sistema_nvidia_dgx_a100_ampere_osnasaetsa_sestu_blokami_pitania_po_3_kvt-985106.html (after the maker's user guide; read 2026-11-24)"),
         "dgx-h100": (10200, "datasheet: 10.2 kW at most, https://unanswered.io/guide/nvidia-dgx-power-consumption-watts (after the maker's user guide; read 2026-11-24)"), "dgx-h200": (10200, "datasheet: 10.2 kW at most, https://unanswered.io/guide/nvidia-dgx-power-consumption-watts (after the maker's user guide; read 2026-11-24)"),
         "dgx-b200": (14300, "datasheet: https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html (14.3 kW at most; read 2026-11-24)"),
         "dgx-b300": (14000, "datasheet: four to a rack of about 56 kW, https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html (read 2026-11-23)"),
         "gb200-nvl72": (120000, "datasheet: about 120 kW, https://awesomeagents.ai/hardware/nvidia-gb200-nvl72 (read 2026-11-24)")}
# Everything of a workstation but its three GPUs: USD, when, where.
PLAIN_HOST = (2630, "2019-01-31", "paper: receipt of a workstation, 6200 USD less 3570 USD for its three GPUs, https://l7.curtisnorthcutt.com/build-pro-deep-learning-workstation")
PROVIDERS = {"aws": "AWS", "azure": "Azure", "gcp": "GCP", "lambda": "Lambda", "nebius": "Nebius", "oci": "OCI"}
NO_PEER = {"rtx-2070", "rtx-2080-ti", "rtx-3070", "rtx-3080", "rtx-3090", "rtx-4090", "rtx-5090"}
# Links between the GPUs of AMD's platforms: rows of interconnects.csv. MI350X and MI355X differ in clock and power alone.
XGMI = {"mi300x": "xgmi-mi300x-mi325x-per-link", "mi325x": "xgmi-mi300x-mi325x-per-link", "mi350x": "xgmi-mi355x-per-link", "mi355x": "xgmi-mi355x-per-link"}
# Tiers beyond a node as the maker's reference clusters build them: name, nodes of a unit (any number: ""), taper, a switch for each port of a node.
SUPERPOD = "https://docs.nvidia.com/dgx-superpod/"
EVEN = ": a leaf switch for each port of a node, as many cables up as down"


def superpod(nodes, page, rails=True, source="datasheet: %s (read 2026-11-23): scalable units of %d" + EVEN):
    told = source % (page, nodes)
    return [("rail" if rails else "leaf", nodes, "", rails, told), ("spine", "", "", False, told)]


ASSUMED_EVEN = "datasheet: %s (read 2026-11-23): scalable units of %d; assumed, as of the DGX B200" + EVEN
H100_POD = superpod(32, "https://cidian.kuaisou.com/dgx-superpod-reference-architecture-dgx-h100", source=ASSUMED_EVEN)
META = "paper: The Llama 3 Herd of Models, arXiv:2407.21783, section 3.3.1; https://glennklockwood.com/garden/systems/meta's-h100-clusters (read 2026-11-23)"
FABRICS = {
    "dgx-h100": H100_POD, "dgx-h200": H100_POD,
    "dgx-b200": superpod(32, SUPERPOD + "reference-architecture-scalable-infrastructure-b200/latest/dgx-superpod-architecture.html"),
    "dgx-b300": superpod(72, SUPERPOD + "reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html"),
    # A rack is a node here, whose 72 ports share the switches of four rails.
    "gb200-nvl72": superpod(8, SUPERPOD + "reference-architecture-scalable-infrastructure-gb200/latest/network-fabrics.html", False, ASSUMED_EVEN),
    "grand-teton-h100": [("rack", 2, "", False, META), ("pod", 384, "", False, META), ("spine", "", 7, False, META)],
}
RACKS = {"gb200-nvl72", "gb300-nvl72"}
# 18 nodes of 4 GPUs: mlcommons/training_results_v5.1, NVIDIA/systems/tyche_ngpu72_ngc25.09_nemo.json; B300 page of glennklockwood.com.
RACK_GPUS, RACK_CPUS, RACK_NICS, RACK_HOSTS = 72, 36, 72, 18


def slug(text):
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


def host_of(row):
    """(id, name, sockets, cores, clock MHz or '', source) of a system's CPU entry."""
    cpus = row["cpus"]
    cores, vcpu = row["cpu_cores_total"], re.search(r"(\d+) vCPU", cpus)
    if not cpus:
        return None
    source = "datasheet: " + row["source"]
    if not cores:
        cores = int(vcpu.group(1)) // 2
        source += "; two hardware threads a core"
    count = re.match(r"(\d+)x ", cpus)
    sockets = int(count.group(1)) if count else 2
    if not count:
        source += "; assumed: two sockets, as nodes of this size have"
    clock = re.search(r"([\d.]+) GHz", cpus)
    return slug(re.split(r",| [\d.]+ GHz|, ", cpus)[0]), cpus, sockets, int(float(cores)), float(clock.group(1)) * 1000 if clock else "", source


def write_host(out, host, generation):
    """Of a CPU that nothing names, the speed is that of servers with PCIe of this generation."""
    ident, name, sockets, cores, clock, source = host
    t = Table().text("name", name).integer("sockets", sockets).integer("cores", cores)
    t.amount("clock", clock, "MHz").text("source", source)
    memory = cpus.memory(name, sockets)
    if memory:
        t.amount("dram_bandwidth", memory[0], "GB/s").text("dram_bandwidth_source", memory[1])
    speed, where = cpus.single_thread(name) or cpus.plain(generation)
    t.fraction("single_thread", speed).text("single_thread_source", where)
    write(os.path.join(out, "hosts", ident + ".toml"), "systems.py", str(t))


def write_plain_hosts(out, types):
    """Hosts for a bare device name; their link tables say how its GPUs are attached."""
    for generation, link in ((3, "cpu-link-intel-qpi-broadwell"), (4, "cpu-link-amd-inter-socket"), (5, "cpu-link-amd-inter-socket")):
        t = Table().text("name", f"plain PCIe {generation}.0 host").integer("sockets", 2).integer("cores", 32)
        t.amount("clock", 2200, "MHz")  # at which decoding was timed (inputs.toml), so that nothing is scaled unasked
        t.amount("price", PLAIN_HOST[0], "USD").text("price_date", PLAIN_HOST[1]).text("price_source", PLAIN_HOST[2])
        t.text("source", "assumed: two sockets of 16 cores at 2.2 GHz, each with half of the GPUs; nothing names the machine")
        rate, source = cpus.plain_memory(generation, 2)
        t.amount("dram_bandwidth", rate, "GB/s").text("dram_bandwidth_source", source)
        speed, source = cpus.plain(generation)
        t.fraction("single_thread", speed).text("single_thread_source", source)
        text = f"{t}\n{types.pcie(generation, plain=True)}\n{types.cpu_link(link, peer_access='amd' in link, links=2)}"
        write(os.path.join(out, "hosts", f"plain-pcie-{generation}.toml"), "systems.py", text)


def network_of(row):
    """(network id or '', NICs): the first group of `4 x 100 (InfiniBand EDR); 10 Ethernet`."""
    match = re.match(r"(\d+) x (\d+) \(?(.*?)[);]", row["nics"] + ";")
    if not match:
        return "", 0
    count, rate, kind = int(match.group(1)), match.group(2), match.group(3)
    if "RoCE" in kind:
        return f"ethernet-{rate}g-roce", count
    if "InfiniBand" in kind:
        return "infiniband-" + re.search(r"(FDR|EDR|HDR|NDR|XDR)", kind).group(1).lower(), count
    for word in ("EFA", "TCPX"):
        if word in kind:
            return f"{word.lower()}-{rate}g", count
    return f"ethernet-{rate}g", count


def patched_notice(ident):
    """What the user of a box must know that exists with the maker's driver and with a patched one."""
    if ident in MEASURED_PATCHED:
        return (f"{ident}: with the maker's driver, which refuses peer access between these boards; copies go through host memory. "
                f"With a patched driver, as this name meant before, it is {ident}{PATCHED}")
    if ident.endswith(PATCHED):
        return f"{ident}: needs a driver that is patched to allow peer access; with the maker's it is {ident.removesuffix(PATCHED)}"
    return ""


def fabric(tiers):
    text = ""
    for name, nodes, taper, rails, source in tiers:
        t = Table(f"[fabric.{name}]").integer("nodes", nodes)
        if taper:
            t.fraction("oversubscription", taper)
        text += f"\n{t.flag('rails', True) if rails else t}" + str(Table().text("source", source))
    return text


class Systems:
    def __init__(self, data):
        self.topologies, self.pairs = {}, {}
        for row in rows(data, "hardware", "topologies.csv"):
            self.topologies.setdefault(row["id"], []).append(row)
        self.devices = {row["id"]: row for row in rows(data, "hardware", "gpus.csv")}
        self.by_name = {row["name"]: row["id"] for row in self.devices.values()} | GPU_NAMES
        self.types = LinkTypes(rows(data, "hardware", "interconnects.csv"))
        self.rows = {row["id"]: row for row in rows(data, "hardware", "systems.csv")}
        # PCIe switch pairs of the DGX-1P, which NVIDIA's own description gives otherwise than the wiring table.
        pairs = [(row["gpu_a"], row["gpu_b"]) for row in rows(data, "seeds", "dgx1_links.csv")
                 if row["system"] == "DGX-1P" and "PIX" in row["pcie_relation"]]
        self.pairs["dgx1-p100"] = {f"gpu{g}": f"pcie_switch{i}" for i, pair in enumerate(pairs) for g in pair}

    def wiring(self, ident, device, gpus, nics, sockets, row):
        w = Wiring()
        cpus, intra = row["cpus"], row["intra_node"]
        spec = self.devices[device]
        generation = int(float(spec["pcie_gen"]))
        peer = device not in NO_PEER or ident.endswith(PATCHED)
        ident = ident.removesuffix(PATCHED)
        listed = self.topologies.get(SAME_WIRING.get(ident, HALF_OF.get(ident, ident)))
        if ident in HALF_OF:
            listed = [r for r in listed if not r["a"].startswith("gpu") or int(r["a"][3:]) < gpus]
        if ident in RACKS:
            return self.rack(w, spec, self.topologies["gb200-nvl72"])
        if listed:
            from_rows(w, self.types, listed, spec, self.pairs.get(ident, {}), cpus, peer)
        elif ident in MESH or ident == "dgx-station":
            mesh = [r for r in self.topologies["dgx1"] if r["kind"] == "nvlink" and max(int(r["a"][3:]), int(r["b"][3:])) < gpus]
            from_rows(w, self.types, mesh, spec, {}, cpus, peer)
            w.source = "assumed: NVLinks as GPUs 0-%d of DGX-1V, because the description says %s" % (gpus - 1, intra)
        elif "xGMI" in intra:
            w.tables["xgmi"] = self.types.xgmi(XGMI[device])
            for i in range(gpus):
                for j in range(i):
                    w.add("xgmi", f"gpu{j}", f"gpu{i}")
            w.source = f"assumed: a link between each two GPUs, because the description says {intra}"
        elif "NVLink" in intra:
            w.nvswitches = 1
            w.tables["nvlink"] = self.types.nvlink(nvlink_generation(spec), True)
            for i in range(gpus):
                w.add("nvlink", f"gpu{i}", "nvswitch0", int(spec["nvlink_links"]))
            w.source = f"assumed: every link of a GPU to one NVSwitch plane, because the description says {intra}"
        if "pcie" not in w.wires:
            lanes = 8 if "x8" in intra else 16
            plain_pcie(w, self.types, gpus, nics, sockets, generation, lanes, peer, cpus)
            w.source += ("; " if w.source else "") + f"assumed: GPUs and NICs on the PCIe of their CPU, {'all on its one socket' if sockets == 1 else 'half on each socket'} ({intra or 'nothing said'})"
        elif sockets > 1 and not any(k in w.wires for k in ("qpi", "cpu_link")):
            join_sockets(w, self.types, named_cpu_link(cpus, generation), sockets)
            w.source += "; assumed: the link between the sockets, by the CPU's generation"
        return w

    def rack(self, w, spec, listed):
        w.nvswitches = 1
        w.tables = {"nvlink": self.types.nvlink(5, True), "c2c": self.types.c2c(), "pcie": self.types.pcie(5)}
        for i in range(RACK_GPUS):
            w.add("nvlink", f"gpu{i}", "nvswitch0", int(spec["nvlink_links"]))
            w.add("c2c", f"gpu{i}", f"cpu{i * RACK_CPUS // RACK_GPUS}")
        for i in range(RACK_NICS):
            w.add("pcie", f"nic{i}", f"cpu{i * RACK_CPUS // RACK_NICS}")
        w.source = "datasheet: " + "; ".join(dict.fromkeys(part for row in listed for part in row["source"].split("; "))) + "; assumed: one NIC per GPU on its CPU's PCIe"
        return w

    def body(self, ident, device, gpus, host, sockets, row):
        network, nics = network_of(row)
        w = self.wiring(ident, device, gpus, nics, sockets, row)
        nics = len({end for wires in w.wires.values() for a, b, _ in wires for end in (a, b) if end.startswith("nic")})
        t = Table().text("name", row["name"]).text("device", device).integer("gpus", gpus)
        if ident in RACKS:
            t.integer("hosts", RACK_HOSTS)
        t.text("host", host)
        t.amount("host_memory", row["host_mem_gb"], "GB").text("network", network)
        for key, count in (("nics", nics), ("pcie_switches", w.pcie_switches), ("nvswitches", w.nvswitches)):
            if count:
                t.integer(key, count)
        if ident.split("-")[0] in ("aws", "azure", "lambda", "vm") and device.startswith("v100"):
            t.amount("sustained_clock", CLOUD_V100[0], "MHz").text("sustained_clock_source", CLOUD_V100[1])
        t.text("provider", PROVIDERS.get(ident.split("-")[0], ""))
        usd, seen, where = PRICES.get(ident, (row["price_usd"], row["date"], ""))
        let = HOST_PART_ONLY not in row["notes"] and "host part" not in row["notes"] and row["usd_per_hour"]
        rent = row["usd_per_hour"] if let else ""
        if ident in RENTS:
            rent, seen, where = RENTS[ident]
            let = True
        t.amount("price", usd, "USD").amount("rent", rent, "USD/h")
        if usd or let:
            t.text("price_date", seen).text("price_source", where)
        if ident in POWER:
            t.amount("power", POWER[ident][0], "W").text("power_source", POWER[ident][1])
        t.text("storage", row["storage"]).text("date", row["date"])
        t.text("source", "datasheet: " + row["source"]).text("wiring_source", w.source)
        # What was measured with the patched driver says nothing of the other.
        t.text("notes", "" if ident in MEASURED_PATCHED else row["notes"]).text("notice", patched_notice(ident))
        return f"{t}{fabric(FABRICS.get(ident, []))}{w.text()}"


def main():
    data = sys.argv[1]
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), "..")
    systems = Systems(data)
    write_plain_hosts(out, systems.types)
    entries = [(ident, systems.by_name[row["gpu"]], int(row["n_gpus"]), row) for ident, row in systems.rows.items()]
    for ident, (device, gpus) in ONLY_WIRED.items():
        topology = systems.topologies[ident]
        entries.append((ident, device, gpus, dict.fromkeys(systems.rows["dgx1"], "") | {"name": topology[0]["system"], "source": topology[0]["source"]}))
    for ident, device, gpus, row in list(entries):
        if ident in MEASURED_PATCHED:
            entries.append((ident + PATCHED, device, gpus, row | {"name": row["name"] + ", driver patched for peer access"}))
    written = set()
    for ident, device, gpus, row in entries:
        base = systems.rows.get(SAME_WIRING.get(ident, ""), row)
        full = {**base, **{key: value for key, value in row.items() if value and not value.startswith("as dgx")}} | {"id": ident}
        if ident in CPUS:
            cpu, cores, source = CPUS[ident]
            full |= {"cpus": cpu, "cpu_cores_total": cores, "source": f"{full['source']}; {source}"}
        host = host_of(full)
        generation = int(float(systems.devices[device]["pcie_gen"]))
        if host and host[0] not in written:
            write_host(out, host, generation)
            written.add(host[0])
        ident_host = host[0] if host else f"plain-pcie-{generation}"
        sockets = host[2] if host else 2
        write(os.path.join(out, "systems", ident + ".toml"), "systems.py", systems.body(ident, device, gpus, ident_host, sockets, full))


if __name__ == "__main__":
    main()
