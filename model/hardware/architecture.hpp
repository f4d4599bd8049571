#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// By whose rule a framework asks for kernels that keep a recurrent layer's weights in registers.
enum class PersistentRule { never, volta, ampere };

/// Whose link rates NCCL's planner takes.
enum class NcclTuning { none, volta, ampere };

/// What feeds the tensor cores of a family and what they take.
struct TensorFacts {
  double operands = 0;           ///< bytes a cycle that those of one multiprocessor get
  double large = INFINITY;       ///< FLOP a cycle and multiprocessor from which on a chip is the family's large one
  std::optional<double> energy;  ///< J per FLOP with which the largest board just keeps its clock; absent: none is short of power
  double cycle_flop = 0;         ///< FLOP a cycle and multiprocessor of that board
};

/// What the models know of a family of chips beyond what a board's description says. Read from hardware/architectures.toml; the
/// values here are those of a family of which nothing is known.
struct Architecture {
  std::string family;             ///< "7.0", "gfx90a"; empty: unknown
  std::string name;               ///< "Volta"
  std::string revision;           ///< "2.0" of "Blackwell 2.0"
  std::optional<int> generation;  ///< NVIDIA's order of appearance; absent: another maker's
  std::string cuda, young_until;  ///< first CUDA release with its kernels, last whose libraries are slower; empty: any, none
  double product_issue = 1.0;     ///< share of the issue slots that multiply-adds get in fp32 products
  bool taps_apart = false;      ///< weight gradients of convolutions on its tensor cores multiply each tap of a filter by itself
  bool slow_integers = false;   ///< lanes beyond those that schedulers feed count for floating point alone
  bool fused_winograd = true;   ///< libraries have fused Winograd kernels for it
  std::string product_kernels;  ///< for whom the matrix products that it runs were written: "maxwell"; empty: not told apart
  std::vector<std::string> product_sets;  ///< all of which there are such, oldest first
  std::string pipelined_products;  ///< for whom its tensor-core products that load ahead were written: "hopper"; empty: none are
  std::vector<std::string> pipelined_sets;  ///< all of which there are such, oldest first
  std::string recurrent_kernels;  ///< constants of recurrent layers under every release: "cuda10"; empty: by the release
  PersistentRule persistent = PersistentRule::never;
  bool relays = false;     ///< NCCL may pass messages on through a third GPU
  bool ll128 = false;      ///< NCCL's LL128 is on over its links
  bool own_links = false;  ///< boards have links to each other of which no description tells
  NcclTuning nccl_tuning = NcclTuning::none;
  bool either_order_8_bit = false;    ///< products in 8 bits read operands in either order; else the left one by rows, the right
                                      ///< one by columns
  bool scales_blocks = false;         ///< tensor cores multiply 8-bit numbers that share a scale with 31 others (mxfp8)
  double exponentials = 16.0;         ///< a clock and multiprocessor
  double cache_reach = 1.05;          ///< part of the last-level cache up to which a working set stays there
  double warp_products = 1.0;         ///< share of the tensor rate that instructions of one warp reach
  Seconds reverse_access{0.21e-6};    ///< of an uncached load and store
  std::optional<Joules> lane_energy;  ///< of a multiply-add lane in a cycle at the listed clock; absent: never short of power
  std::optional<TensorFacts> tensor;  ///< absent: not known
};

/// A compute capability such as "7.0" as 70, so that 10.0 follows 9.0; 0 when it is empty or no such number.
[[nodiscard]] int capability_number(const std::string& text);

/// Whether the compiler and libraries of a CUDA release ("11.1") know the family; true where either names no version.
[[nodiscard]] bool knows_family(const std::string& cuda, const Architecture& chip);
/// Whether a CUDA release is one whose libraries are slower on the family than later ones (`young_until`), or an earlier one.
[[nodiscard]] bool is_young_for(const std::string& cuda, const Architecture& chip);

/// Every family of the catalogue.
class Architectures {
 public:
  /// Errors: all problems of the file.
  [[nodiscard]] static Result<Architectures> read(TomlFile file);
  /// Reads hardware/architectures.toml of a catalogue.
  [[nodiscard]] static Result<Architectures> load(const std::string& catalogue_root);

  [[nodiscard]] const std::vector<Architecture>& families() const { return families_; }
  /// Names without revisions, in the order of the file, each once.
  [[nodiscard]] std::vector<std::string> names() const;

  /// The family with the highest capability that is not above `capability`; where that is empty, the one that `text` names with
  /// its revision ("Blackwell 2.0"), else the first of that name ("Ada Lovelace"). One of which nothing is known where there is
  /// none, or where the capability is of another architecture than `text` names.
  [[nodiscard]] const Architecture& find(std::string_view text, const std::string& capability) const;
  /// The row of a name that begins `text` and ends there or at a space; null if it is none of the file.
  [[nodiscard]] const Architecture* named(std::string_view text) const;

  /// The family whose capability is `capability` if that is of another architecture than `text` names; else null.
  [[nodiscard]] const Architecture* contradicted(std::string_view text, const std::string& capability) const;

  /// The key `architecture`, empty where it is missing, spelled as the file spells it ("volta" is Volta).
  /// Problems: no architecture of the file, with a suggestion.
  [[nodiscard]] std::string read_name(TomlTable& table) const;

 private:
  std::vector<Architecture> families_;
};

/// For whom a board is sold: consumer boards (GeForce, TITAN) run above the boost clock that they list, others keep to it.
enum class BoardClass { professional, consumer };
[[nodiscard]] std::string_view name(BoardClass board_class);

/// The key `board_class`; professional where it is missing, since boards of that class keep to what they list.
/// Problems: another word, with a suggestion.
[[nodiscard]] BoardClass read_board_class(TomlTable& table);

}  // namespace tbdsim
