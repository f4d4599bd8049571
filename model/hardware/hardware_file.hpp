#pragma once
#include <string>

#include "model/hardware/cluster.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// The format of hardware files; another number in `schema` is refused. Every key is defined in hardware/README.md.
inline constexpr int kHardwareSchema = 1;

/// Reads the keys of a GPU from the root of its file or from a [device] table. `id` is the name of the file.
/// Problems are noted in the table's file; the caller asks for them.
[[nodiscard]] Device read_device(TomlTable table, std::string id, const Architectures& architectures);
/// As above, for the root of hosts/*.toml or [host], and of networks/*.toml or [network].
[[nodiscard]] Host read_host(TomlTable table, std::string id);
[[nodiscard]] Network read_network(TomlTable table, std::string id);
/// The [fabric.NAME] tables of a system, innermost tier first. Expects GPUs and network of `system`.
[[nodiscard]] std::vector<FabricTier> read_fabric(TomlTable& root, const System& system);

/// A GPU file as text. Reading it back gives an equal Device, bit by bit; absent fields have no key.
[[nodiscard]] std::string to_toml(const Device& device);

/// A GPU file from memory; `file` is what messages call it. Errors: every problem of the text.
[[nodiscard]] Result<Device> parse_device(const Architectures& architectures, std::string text, const std::string& file);
/// A system file from memory. GPUs, hosts and networks that it names are looked up beside `file`, then in the
/// catalogue. Errors: every problem of the text and of the files it names, dangling link ends and GPUs without a link
/// among them.
[[nodiscard]] Result<System> parse_system(const Catalogue& catalogue, std::string text, const std::string& file);

}  // namespace tbdsim
