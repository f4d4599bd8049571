"""Which vertices a node has and how they are wired: lists of (a, b, count) per link type."""
import re


class Wiring:
    """Wires of one node, link tables already rendered, and where both come from."""

    def __init__(self):
        self.wires = {}   # link type -> [(a, b, count)]
        self.tables = {}  # link type -> TOML text of its [link.NAME] table
        self.pcie_switches = 0
        self.nvswitches = 0
        self.source = ""

    def add(self, link, a, b, count=1):
        self.wires.setdefault(link, []).append((a, b, count))

    def text(self):
        parts = []
        for link, table in self.tables.items():
            wires = "".join(f'  {{a = "{a}", b = "{b}"' + (f", count = {count}" if count > 1 else "") + "},\n"
                            for a, b, count in self.wires[link])
            parts.append(f"\n{table}wires = [\n{wires}]\n")
        return "".join(parts)


def nvlink_generation(device):
    version = device["nvlink_version"]
    return int(float(version)) if version else None


def cpu_link_id(pcie_generation):
    """Socket link of a host of that PCIe generation, where nothing names the CPU."""
    return {3: "cpu-link-intel-qpi-broadwell", 4: "cpu-link-amd-inter-socket", 5: "cpu-link-intel-upi-sapphire-rapids"}[pcie_generation]


def named_cpu_link(cpus, pcie_generation):
    for words, link in (("E5-26", "cpu-link-intel-qpi-broadwell"), ("EPYC", "cpu-link-amd-inter-socket"),
                        ("8480", "cpu-link-intel-upi-sapphire-rapids"), ("4th Gen Xeon", "cpu-link-intel-upi-sapphire-rapids"),
                        ("8481C", "cpu-link-intel-upi-sapphire-rapids"), ("8488C", "cpu-link-intel-upi-sapphire-rapids"),
                        ("(Sapphire Rapids)", "cpu-link-intel-upi-sapphire-rapids"), ("858", "cpu-link-intel-upi-emerald-rapids"),
                        ("8570", "cpu-link-intel-upi-emerald-rapids"), ("8559", "cpu-link-intel-upi-emerald-rapids"),
                        ("Platinum 81", "cpu-link-intel-upi-skylake"), ("Platinum 82", "cpu-link-intel-upi-skylake")):
        if words in cpus:
            return link
    return cpu_link_id(pcie_generation)


def link_name(csv_id):
    return "qpi" if csv_id == "cpu-link-intel-qpi-broadwell" else "cpu_link"


def join_sockets(w, types, csv_id, sockets, peer_access=False):
    if sockets < 2:
        return
    name = link_name(csv_id)
    w.tables[name] = types.cpu_link(csv_id, peer_access)
    w.add(name, "cpu0", "cpu1", 2 if name == "qpi" else 1)


def plain_pcie(w, types, gpus, nics, sockets, generation, lanes, peer_access, cpus):
    """GPUs and NICs straight on the CPUs, the first half on cpu0."""
    w.tables["pcie"] = types.pcie(generation, lanes, peer_access)
    for prefix, count in (("gpu", gpus), ("nic", nics)):
        for i in range(count):
            w.add("pcie", f"{prefix}{i}", f"cpu{i * sockets // count}")
    # NCCL copies between peers at any distance on AMD's CPUs, on Intel's only below a PCIe switch (src/graph/paths.cc).
    join_sockets(w, types, named_cpu_link(cpus, generation), sockets, peer_access and "EPYC" in cpus)


def from_rows(w, types, topology, device, switch_pairs, cpus, peer_access):
    """Wiring that topologies.csv lists. `switch_pairs` replaces the PCIe switch of each GPU where another source gives it."""
    switched = any("pcie_switch" in row["a"] + row["b"] for row in topology)
    for row in topology:
        a, b, kind, count = row["a"], row["b"], row["kind"], int(row["links"] or 1)
        if b == "fabric":
            continue
        if kind.startswith("nvlink"):
            if a.startswith("nvswitch"):
                continue  # the trunk between two boards of switches is as wide as their ports: one switch stands for both
            b = re.sub(r"^nvswitch.*", "nvswitch0", b)
            w.nvswitches = max(w.nvswitches, int(b == "nvswitch0"))
            w.tables.setdefault("nvlink", types.nvlink(nvlink_generation(device), b == "nvswitch0"))
            w.add("nvlink", a, b, count)
        elif kind.startswith("pcie"):
            if a in switch_pairs and b.startswith("pcie_switch"):
                b = switch_pairs[a]
            w.tables.setdefault("pcie", types.pcie(int(kind[4]), 16, peer_access, switched))
            w.add("pcie", a, b, count)
        else:
            csv_id = named_cpu_link(cpus, 4) if kind == "inter_socket" else "cpu-link-intel-qpi-broadwell"
            w.tables[link_name(csv_id)] = types.cpu_link(csv_id, kind == "inter_socket" and peer_access)
            w.add(link_name(csv_id), a, b, count)
    w.pcie_switches = len({end for _, end, _ in w.wires.get("pcie", []) if end.startswith("pcie_switch")}
                          | {end for end, _, _ in w.wires.get("pcie", []) if end.startswith("pcie_switch")})
    w.source = "datasheet: " + "; ".join(dict.fromkeys(part for row in topology for part in row["source"].split("; ")))
