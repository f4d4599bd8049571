#include "model/hardware/hardware_formats.hpp"

namespace tbdsim {
namespace {

constexpr KeyMeaning kGpu[] = {
    {"", "**`schema`**", "1", ""},
    {"", "**`name`**, `vendor`, `compute_capability`", "texts; `vendor` is `NVIDIA` or `AMD`, the last for NVIDIA only", "empty"},
    {"", "`architecture`", "a name of `architectures.toml` (Volta, Blackwell, CDNA, ...), with or without a revision",
     "another one"},
    {"", "`board_class`", "`consumer`: runs above its listed boost clock as power allows; `professional`: keeps to it",
     "`professional`"},
    {"", "**`multiprocessors`**", "SMs; compute units for AMD", ""},
    {"", "**`fp32_lanes`**", "fp32 cores of one multiprocessor", ""},
    {"", "`tensor_cores`", "of the whole GPU", "not known"},
    {"", "`base_clock`, `boost_clock`", "nominal clocks", "not known"},
    {"", "`sustained_clock`, `sustained_clock_source`", "what a long training run keeps, a share of `boost_clock`", "not known"},
    {"", "`board_sharing`, `board_sharing_source`",
     "of a board with two GPUs: compute time that one adds to the other, relative, at most 1", "0"},
    {"", "**`peak_fp32`**", "vector rate at boost clock, a multiply-add being 2 FLOP", ""},
    {"", "`peak_fp32_tensor`", "dense rate of units that multiply fp32 matrices (AMD's matrix cores)", "no such unit"},
    {"", "`peak_tf32_tensor`, `peak_fp16_tensor`, `peak_bf16_tensor`, `peak_fp8_tensor`", "dense matrix rates", "no such unit"},
    {"", "`peak_fp16_vector`, `peak_fp64`", "vector rates", "not published"},
    {"", "**`memory_capacity`**", "as sold", ""},
    {"", "`memory_reported`", "as the driver reports it", "not known"},
    {"", "`memory_kind`, `memory_bus_bits`, `memory_clock`", "\"HBM2\"; width; half the data rate of a pin", "not known"},
    {"", "**`memory_bandwidth`**", "peak", ""},
    {"", "`l2_capacity`", "last-level cache", "not known"},
    {"", "`address_translations`, `address_translations_source`", "a second, of addresses beyond the reach of the chip's buffers",
     "no limit"},
    {"", "`shared_memory_per_multiprocessor`, `registers_per_multiprocessor`, `max_threads_per_multiprocessor`",
     "limits of one multiprocessor", "not known"},
    {"", "`pcie_generation`, `pcie_lanes`", "host interface", "3, 16"},
    {"", "`pcie_peer_access`, `pcie_peer_access_source`", "the driver allows peer access over PCIe", "true"},
    {"", "`nvlink_links`, `nvlink_bandwidth`", "number; of one link, one direction", "none"},
    {"", "`mounted_in`", "system whose baseboard wires several of these, where only the GPU is named", "PCIe slots"},
    {"", "`power_limit`, `launch_price`, `launch_date`", "board power; list price", "not known"},
    {"", "`launch_price_date`, `launch_price_source`", "when and where the price was seen", "`launch_date`; `source`"},
    {"", "`anchor_products`, `anchor_attention`, `anchor_memory`, `anchor_exchange`, `anchor_host`",
     "times of these parts of a step over those predicted, from steps of your own (`calibrate anchor`)", "1"},
    {"", "`collective_pace`", "latencies of collectives behind a switch over those of the architecture", "1"},
    {"", "`copy_to_device`, `copy_to_host`", "large copies of pinned memory, where the GPU alone is named", "of its PCIe"},
    {"", "`launch_interval`", "between empty kernels issued one by one: no operator's host time is below its kernels'", "none"},
    {"", "`overlap_cost`", "of a second of all-reduce, what the kernels beside it lose",
     "by the multiprocessors it takes and, over PCIe, by `beside`"},
    {"", "`own_source`", "of the keys from `anchor_products` on", "empty"},
    {"", "**`source`**, `notes`", "texts", ""},
    {"[[calibration]]", "**`family`**, **`precision`**",
     "which kernels: one table for each pair, fitted from samples of this GPU", ""},
    {"[[calibration]]", "**`compute_efficiency`**, **`bandwidth_efficiency`**", "fractions of peak", ""},
    {"[[calibration]]", "**`launch`**", "floor of short kernels", ""},
    {"[[calibration]]", "**`spread`**", "standard deviation of ln(measured / predicted)", ""},
    {"[[calibration]]", "**`samples`**", "how many; 0: transferred", ""},
    {"[[calibration]]", "`compute_sigma`, `bandwidth_sigma`, `launch_sigma`",
     "standard deviations of the logarithm of the fitted values", "0"},
    {"[[calibration]]", "`call_overhead`, `call_floor`, `call_per_shape`",
     "of single calls from the host: until the kernel starts; of the whole call, however short its kernel; what each shape run "
     "before adds",
     "0"},
    {"[[calibration]]", "`sustained_efficiency`",
     "fraction of peak that the power limit sustains in long tensor-core products, boards since Ampere", "as relatives tell"},
    {"[[calibration]]", "`quantize_bandwidth`",
     "fraction of the memory bandwidth that the passes reach which turn 16-bit numbers into fp8 before a product",
     "as relatives tell"},
    {"[[calibration]]", "**`source`**", "text", ""},
};

constexpr KeyMeaning kHost[] = {
    {"", "**`name`**, **`source`**", "texts", ""},
    {"", "**`sockets`**, **`cores`**", "whole numbers; cores are physical, of all sockets", ""},
    {"", "`clock`, `memory_capacity`", "of the processors; of the node", "not known"},
    {"", "`dram_bandwidth`, `dram_bandwidth_source`",
     "of all sockets: channels times their line rate; `assumed:` at the beginning of the source says that nothing names the CPU",
     "by the generation of PCIe, with a wider range; `source`"},
    {"", "`dispatch_scale`", "time of one dispatched operator against the host on which the stack was measured", "1"},
    {"", "`single_thread`",
     "speed of one thread against the reference host of the stacks' `[host.issue]`; `calibrate host` measures it",
     "that of a plain host with the GPU's PCIe, assumed, with a wider range"},
    {"", "`single_thread_source`", "where it is from; `assumed:` at its beginning says that nothing names the CPU", "`source`"},
    {"", "`price`", "of all of a node but its GPUs", "not known"},
    {"", "`price_date`, `price_source`", "when and where the price was seen", "empty; `source`"},
    {"", "`power`, `power_source`", "drawn in use by all of a node but its GPUs",
     "that of the system less its GPUs, else half of the GPUs' limits; `source`"},
};

constexpr KeyMeaning kSystem[] = {
    {"", "**`schema`**", "1", ""},
    {"", "**`name`**", "text", ""},
    {"", "**`device`**", "id of a GPU, a file beside this one, or a table with a GPU's keys", ""},
    {"", "**`gpus`**", "GPUs of one node", ""},
    {"", "`host`", "id, file or table", "a plain host of the GPU's PCIe generation"},
    {"", "`hosts`",
     "machines of one node, such as trays of a rack: each has a way to storage of its own, fails and is replaced by itself; "
     "divides `gpus`",
     "1"},
    {"", "`host_memory`", "of the node", "that of the host"},
    {"", "`network`", "id, file or table: the default between nodes", "none"},
    {"", "`power`, `power_source`", "most that one node draws, as its maker prints it",
     "that of its GPUs and its host; `source`"},
    {"", "`nics`, `pcie_switches`, `nvswitches`", "how many vertices of that kind", "0"},
    {"", "`joined_nodes`", "so many such nodes, joined by their NVSwitches, count as one", "1"},
    {"", "`sustained_clock`, `sustained_clock_source`", "of these GPUs in this system", "that of the GPU"},
    {"", "`price`", "of one node: an hour costs it over three years of use", "GPUs at `launch_price` and the host's `price`"},
    {"", "`rent`",
     "of one node, or which of the catalogue's rents to take (`on_demand`, `spot`, `spot_min`, `spot_max`, `capacity_block`); "
     "before `price`, but what `--set` gives comes first",
     "not known; for a GPU that is named alone, the cheapest `on_demand` instance with it"},
    {"", "`price_date`, `price_source`", "when and where price or rent was seen", "empty; `source`"},
    {"", "`provider`", "who lets the node: rents of others are not taken for it", "none"},
    {"", "`notice`", "told whenever the system is used", "none"},
    {"", "`storage`, `date`, `notes`", "texts", "empty"},
    {"", "**`source`**, `wiring_source`", "of the table; of the wires", "`wiring_source` = `source`"},
};

constexpr KeyMeaning kFabricTier[] = {
    {"[fabric.NAME]", "`nodes`", "that one unit of the tier joins; a multiple of those of the tier below",
     "any number, in one tier alone"},
    {"[fabric.NAME]", "`oversubscription`", "what the units below may send over what their links into this tier carry", "1"},
    {"[fabric.NAME]", "`rails`",
     "a switch for each port of a node: groups whose members have other indices in one node than in the next take the next tier",
     "false"},
    {"[fabric.NAME]", "`latency`", "that its switches add to a message", "0"},
    {"[fabric.NAME]", "`ports`, `bandwidth`",
     "of a node, where the tier has ports of its own (NVLink between nodes); of one, one direction, as it arrives",
     "the `nics` of the system on its `network`"},
    {"[fabric.NAME]", "**`source`**", "text", ""},
};

constexpr KeyMeaning kLinkType[] = {
    {"[link.NAME]", "**`kind`**",
     "`nvlink`, `xgmi`, `pcie`, `cpu_link`, `network`, `storage`, `internal` (CPU and GPU of one package)", ""},
    {"[link.NAME]", "**`bandwidth`**", "line rate of one link, one direction", ""},
    {"[link.NAME]", "`achieved`, `achieved_source`", "as a copy engine reaches it; at most `bandwidth`",
     "0.76 of it for PCIe, 0.957 for NVLink, else all of it"},
    {"[link.NAME]", "`sm_copy`, `sm_copy_source`",
     "as a copy kernel (NCCL) reaches it: the rate of one ring; at most `bandwidth`",
     "`achieved` if given, else 0.785 of `bandwidth` for PCIe, 0.914 for NVLink"},
    {"[link.NAME]", "`latency`, `latency_source`", "this link's share of the start of a copy", "0"},
    {"[link.NAME]", "`peer_access`", "GPUs may read each other across it", "for `pcie` as the GPU says, else false"},
    {"[link.NAME]", "`staged`, `staged_source`", "GPU to GPU through host memory, where peer access is refused",
     "0.38 of `bandwidth` for PCIe"},
    {"[link.NAME]", "**`source`**", "text", ""},
    {"[link.NAME]", "`wires`", "the wires of this type, an array of tables", "none"},
    {"wires", "**`a`**, **`b`**", "the vertices it joins", ""},
    {"wires", "`count`", "parallel links", "1"},
};

constexpr KeyMeaning kNetworkBetweenNodes[] = {
    {"", "**`name`**, **`source`**", "texts", ""},
    {"", "**`bandwidth`**", "line rate of one port, one direction", ""},
    {"", "`achieved`, `achieved_source`", "what arrives of it", "0.8 of `bandwidth`, 0.976 with `rdma`"},
    {"", "`latency`, `latency_source`",
     "of one message; what it exceeds that of its `transport` by is added to every step of a collective",
     "60 us, 0.5 us with `rdma`"},
    {"", "`rdma`", "the adapter reads memory itself", "false"},
    {"", "`transport`", "`[transport.NAME]` of `nccl.toml`", "`rdma` or else `sockets`"},
    {"", "`tcp`, `tcp_latency`", "what TCP reaches, and one message's time, beside another transport",
     "0.8 of `bandwidth`, 0.704 from 100 Gb/s on; at least 60 us"},
    {"", "`notes`", "text", "empty"},
};

constexpr KeyMeaning kStorage[] = {
    {"", "**`name`**, **`source`**", "texts", ""},
    {"", "**`kind`**", "`hdd`, `sata`, `nvme` or `network`", ""},
    {"", "`interface_bandwidth`, `sequential_read`, `random_read`", "rates; the last of single records of about 100 kB",
     "not known"},
    {"", "`access`, `access_source`", "until the first byte of a read elsewhere", "0"},
    {"", "`at_once`", "such reads served side by side", "1"},
    {"", "`shared`", "one for all nodes", "false"},
    {"", "`notes`", "text", "empty"},
};

constexpr KeyMeaning kPrices[] = {
    {"", "**`provider`**", "text", ""},
    {"[[price]]", "`instance`", "its name; must be there for a rent without `system`", "empty"},
    {"[[price]]", "`device`, `gpus`", "id of the catalogue; how many of them", "not known; 1 with `price`"},
    {"[[price]]", "`system`, `host`", "in place of `device`: id of the machine, or of the host, that the row is about", "none"},
    {"[[price]]", "`gpu`, `region`", "the provider's words, for readers of the file", "empty"},
    {"[[price]]", "`notes`", "told with the price", "empty"},
    {"[[price]]", "`kind`",
     "`on_demand`, `spot_min`, `spot_max`, `spot`, `capacity_block`, `..._host_only`; `purchase` with `price`",
     "`on_demand`; `purchase` with `price`"},
    {"[[price]]", "`rent` or `price`", "of the instance, as \"3.06 USD/h\"; for which one board, machine or host is sold", ""},
    {"[[price]]", "**`snapshot`**, **`source`**", "when and where the price was seen", ""},
};

constexpr KeyMeaning kSamplesThatAJobTrainsOn[] = {
    {"[[input]]", "**`name`**, **`source`**", "texts", ""},
    {"[[input]]", "`unit`", "what a sample is called", "`image`"},
    {"[[input]]", "`access`", "`records`: many samples to a file, read in order; `files`: one each, in random order",
     "`records`"},
    {"[[input]]", "`samples`", "of the set", "not known"},
    {"[[input]]", "**`stored`**", "bytes on disk, a sample", ""},
    {"[[input]]", "**`decode`**", "of one sample on one thread, augmentation included", ""},
    {"[[input]]", "`like`", "the input with the same samples in another form: a stack's decode time for it holds here too",
     "none"},
    {"[[input]]", "`clock`", "of the processor that took so long; the time scales with the clock of the host", "not known"},
    {"[[input]]", "**`spread`**", "standard deviation over mean", ""},
    {"[[input]]", "`environment`", "samples are steps of simulations", "false"},
};

constexpr KeyMeaning kOverviewOfBandwidths[] = {
    {"[[stage]]", "**`name`**, **`bandwidth`**, **`source`**", "one row of the table", ""},
    {"[[stage]]", "`notes`", "text", "empty"},
};

constexpr KeyMeaning kRun[] = {
    {"[failures]", "**`gpu`**, **`node`**",
     "mean time between interruptions of a job that one GPU causes, and that the rest of one node causes", ""},
    {"[restart]", "**`time`**", "from an interruption until the job is started again, without reading the checkpoint", ""},
    {"[checkpoint]", "**`node_write`**, **`node_read`**", "of one node while all write or read", ""},
    {"[storage]", "**`bandwidth`**", "of what all nodes share, written or read", ""},
    {"[checkpoint]", "**`stall`**", "share of the time to write for which training waits", ""},
    {"[checkpoint]", "`interval`", "time between checkpoints", "the best one"},
    {"[checkpoint]", "`per_parameter`", "bytes", "the weights that are updated and the optimiser's states"},
    {"[repair]", "**`time`**", "until a node that failed is back", ""},
    {"[energy]", "**`pue`**", "power of the building over that of its machines", ""},
    {"[carbon]", "**`grams_per_kilowatt_hour`**", "of carbon dioxide, from the grid", ""},
    {"[[sustained]]", "**`precisions`**, **`share`**",
     "share of the power that machines may draw which they draw on average while they train so", ""},
    {"each table", "**`source`**", "where the figures are from", ""},
};

constexpr FileFormat kFormats[] = {
    {"GPU", "`hardware/gpus/`, a file given as `--hw`, or `[device]` of a system", kGpu},
    {"Host", "`hardware/hosts/`, or `[host]` of a system. Files may add `[link.NAME]` tables without `wires`", kHost},
    {"System",
     "`hardware/systems/` or a file given as `--hw`. Vertices are called `gpu0`, `cpu0` (one for each socket), `pcie_switch0`, "
     "`nvswitch0`, `nic0`, counted from 0",
     kSystem},
    {"Tier of the network beyond a node", "in a system, the smallest unit first, whatever the order in the file", kFabricTier},
    {"Link type", "in a system or a host", kLinkType},
    {"Network between nodes", "`hardware/networks/`, or `[network]` of a system", kNetworkBetweenNodes},
    {"Storage", "`hardware/storage/`, for `--storage`", kStorage},
    {"Prices", "`hardware/prices/`, or a list of your own given as `--prices`", kPrices},
    {"Samples that a job trains on", "`hardware/inputs.toml`, for `--input`", kSamplesThatAJobTrainsOn},
    {"Run", "`hardware/operations.toml`: what `--tokens` assumes; `--set operations.KEY=VALUE` changes it", kRun},
    {"Overview of bandwidths", "`hardware/data_path.toml`, for `list data-paths`", kOverviewOfBandwidths},
};

}  // namespace

std::span<const FileFormat> hardware_formats() { return kFormats; }

}  // namespace tbdsim
