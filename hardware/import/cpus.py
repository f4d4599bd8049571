"""How fast one thread of a CPU is: clock with one core busy, and work per clock of its core.

`single_thread` is relative to the reference host, on which the times of the stacks' [host.issue] tables were measured: a Zen 5
core at 3.8 GHz. Clocks are those of the makers' data sheets for one busy core (Intel: maximum turbo frequency, AMD: maximum boost
clock), recalled. Scores of benchmarks are not used: they differ by release and by memory.
"""

# Work per clock against Broadwell. AMD's stated gains from generation to generation are 15 % (Zen 2), 19 % (Zen 3), 13 % (Zen 4) and
# 16 % (Zen 5), as listed at https://www.indiekings.com/2024/06/amd-zen-5-has-16-ipc-uplift-look-at.html and its page of 2024-05-09.
# Intel's are 18 % (Sunny Cove over Skylake) and 19 % (Golden Cove after it), recalled. That Skylake does 7 % more than Broadwell,
# Zen 2 3 % more than Skylake and Neoverse V2 as much as Zen 4 is assumed.
PER_CLOCK = {"Broadwell": 1.0, "Skylake": 1.07, "Zen 2": 1.10, "Zen 3": 1.31, "Zen 4": 1.48, "Zen 5": 1.72, "Sunny Cove": 1.26,
             "Golden Cove": 1.50, "Neoverse V2": 1.48}
REFERENCE_CORE, REFERENCE_CLOCK = "Zen 5", 3.8

# Pages that name the CPUs of clouds, some with their clocks. Of the A3 machines Google prints 3.8 GHz as the turbo of all cores and
# 2.9 GHz as that of one; they are taken to be swapped.
GOOGLE = "https://docs.cloud.google.com/compute/docs/cpu-platforms (of 2026-04-10, read 2026-11-28)"
NEBIUS = "https://docs.nebius.com/compute/virtual-machines/types, as Nebius' package for vLLM cites it (read 2026-11-28)"
NEBIUS_B200 = "https://raw.githubusercontent.com/mlcommons/inference_results_v6.0/main/closed/Nebius/systems/nebius_b200_n1.json (read 2026-11-28)"
AZURE_MI300X = "https://github.com/MicrosoftDocs/azure-docs/blob/main/articles/virtual-machines/sizes/gpu-accelerated/includes/nd-mi300x-v5-series-specs.md (read 2026-11-28)"
AWS_2019 = "https://aws.amazon.com/ec2/instance-types/ of 2019, as jgwill/nad.previz.blog quotes it (read 2026-11-28)"
AWS_P5EN = "Sapphire Rapids: aws/aws-cdk:packages/aws-cdk-lib/aws-ec2/lib/instance-types.ts; 8488C: https://github.com/frank622/EC2_CPU_frequency (both read 2026-11-28)"

# Where clocks are from that a page states, or that are another CPU's.
CLOCKS_FROM = {"Platinum 8273CL": GOOGLE, "Platinum 8481C": GOOGLE + ", printed there as the turbo of all cores", "Platinum 8581C": GOOGLE,
               "Platinum 8580": NEBIUS_B200, "(Sapphire Rapids)": "as of the Platinum 8480C; the family alone is named"}

# Words that name a CPU: its core, GHz of one busy core. Emerald Rapids has the cores of Sapphire Rapids.
CPUS = {"E5-2698 v4": ("Broadwell", 3.6), "E5-2600 v4": ("Broadwell", 3.6), "E5-2686 v4": ("Broadwell", 3.0),
        "Platinum 8168": ("Skylake", 3.7), "Platinum 8174": ("Skylake", 3.9), "Platinum 8175M": ("Skylake", 3.5),
        "Platinum 8273CL": ("Skylake", 3.7), "Platinum 8275CL": ("Skylake", 3.9), "Platinum 8480": ("Golden Cove", 3.8),
        "Platinum 8481C": ("Golden Cove", 3.8), "Platinum 8488C": ("Golden Cove", 3.8), "4th Gen Xeon": ("Golden Cove", 3.8),
        "(Sapphire Rapids)": ("Golden Cove", 3.8), "Platinum 8559C": ("Golden Cove", 4.0), "Platinum 8570": ("Golden Cove", 4.0),
        "Platinum 8580": ("Golden Cove", 4.0), "Platinum 8581C": ("Golden Cove", 4.0), "Xeon 6776P": ("Golden Cove", 4.6),
        "EPYC 7742": ("Zen 2", 3.4), "EPYC 7R32": ("Zen 2", 3.3), "EPYC 7V12": ("Zen 2", 3.3), "EPYC 7502": ("Zen 2", 3.35),
        "EPYC 7R13": ("Zen 3", 3.6), "EPYC 7763": ("Zen 3", 3.5), "EPYC 9374F": ("Zen 4", 4.3), "EPYC 9575F": ("Zen 5", 5.0),
        "5995WX": ("Zen 3", 4.5), "i9-7920X": ("Skylake", 4.3), "3970X": ("Zen 2", 4.5), "i7-9750H": ("Skylake", 4.5),
        "i7-10875H": ("Skylake", 5.1), "Grace": ("Neoverse V2", 3.2)}

# Hosts that nothing names, by the generation of PCIe that they have: what such servers usually hold.
PLAIN = {3: ("Broadwell", 3.6), 4: ("Zen 2", 3.4), 5: ("Golden Cove", 3.8)}


# Memory of a socket at its line rate, by words that name a CPU: channels of 8 B, MT/s; Grace prints its rate. Makers' data sheets,
# recalled.
MEMORY = {"E5-2698 v4": (4, 2400), "E5-2600 v4": (4, 2400), "E5-2686 v4": (4, 2400), "Platinum 8168": (6, 2666),
          "Platinum 8174": (6, 2666), "Platinum 8175M": (6, 2666), "Platinum 8273CL": (6, 2933), "Platinum 8275CL": (6, 2933),
          "Platinum 8480": (8, 4800), "Platinum 8481C": (8, 4800), "Platinum 8488C": (8, 4800), "4th Gen Intel Xeon": (8, 4800),
          "4th Gen Xeon": (8, 4800), "(Sapphire Rapids)": (8, 4800), "Platinum 8559C": (8, 5600), "Platinum 8570": (8, 5600),
          "Platinum 8580": (8, 5600), "Platinum 8581C": (8, 5600), "Xeon 6776P": (8, 6400), "EPYC 7742": (8, 3200),
          "EPYC 7R32": (8, 3200), "EPYC 7V12": (8, 3200), "EPYC 7R13": (8, 3200), "EPYC 9374F": (12, 4800), "EPYC 9575F": (12, 6000),
          "Grace": (64, 1000)}
PLAIN_MEMORY = {3: (4, 2400), 4: (8, 3200), 5: (8, 4800)}


def memory(words, sockets):
    """(GB/s, source) of the memory of all sockets; None if the words name no CPU that is known."""
    for name, (channels, rate) in MEMORY.items():
        if name in words:
            way = "512 GB/s" if name == "Grace" else f"{channels} channels x {rate} MT/s x 8 B"
            return round(sockets * channels * rate * 8 / 1000, 1), f"datasheet: {way} a socket (recalled)"
    return None


def plain_memory(generation, sockets):
    channels, rate = PLAIN_MEMORY[generation]
    return round(sockets * channels * rate * 8 / 1000, 1), f"assumed: {channels} channels x {rate} MT/s x 8 B a socket, as servers with PCIe {generation}.0 often have; nothing names the CPU"


def relative(core, clock):
    return round(clock * PER_CLOCK[core] / (REFERENCE_CLOCK * PER_CLOCK[REFERENCE_CORE]), 3)


def single_thread(words):
    """(speed, source) of the CPU that the words name; None if they name none that is known."""
    for name, (core, clock) in CPUS.items():
        if name in words:
            page = CLOCKS_FROM.get(name, "recalled")
            return relative(core, clock), f"datasheet: {clock} GHz with one core busy ({page}); work per clock of {core}: hardware/import/cpus.py"
    return None


def plain(generation):
    core, clock = PLAIN[generation]
    return relative(core, clock), f"assumed: {core} at {clock} GHz, as servers with PCIe {generation}.0 often have; nothing names the CPU"
