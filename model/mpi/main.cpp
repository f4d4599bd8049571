// tbdsim-mpi: `sweep` over many machines. Each rank predicts a shard of the grid into a file of its own beside the output;
// the first rank then adds them up. Rows do not depend on the number of ranks.
#define OMPI_SKIP_MPICXX  // the C interface alone
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>

#include "model/cli/catalogue_location.hpp"
#include "model/cli/output.hpp"
#include "model/cli/parse_arguments.hpp"
#include "model/cli/sweep_run.hpp"
#include "model/configuration/threads.hpp"
#include "model/input/output_file.hpp"
#include "model/support/out_of_memory.hpp"

namespace tbdsim {
namespace {

struct Ranks {
  int rank = 0, count = 1;
  [[nodiscard]] bool first() const { return rank == 0; }

  [[nodiscard]] static long long sum(long long mine) {
    long long all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }
};

/// Where a rank keeps its rows until they are added up.
std::string part_of(const std::string& output, int rank) { return fmt::format("{}.rank{}", output, rank); }

/// Adds up what ranks of an earlier, interrupted run left, however many they were, and removes their files.
Result<void> collect_parts(const std::string& output) {
  const std::filesystem::path path(output);
  const std::string begin = path.filename().string() + ".rank";
  std::error_code error;
  std::vector<std::string> parts;
  for (const auto& entry : std::filesystem::directory_iterator(path.has_parent_path() ? path.parent_path() : ".", error)) {
    const std::string name = entry.path().filename().string();
    const bool number = name.size() > begin.size() && name.find_first_not_of("0123456789", begin.size()) == std::string::npos;
    if (number && name.compare(0, begin.size(), begin) == 0) parts.push_back(entry.path().string());
  }
  if (parts.empty()) return {};
  if (const auto rows = merge_sweeps(output, parts); !rows) return tl::make_unexpected(rows.error());
  for (const std::string& part : parts) {
    for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(part + ending, error);
  }
  return {};
}

/// A rank begins with all rows that are there, so that it predicts none of them again.
Result<void> begin_part(const std::string& output, const std::string& part) {
  std::error_code error;
  if (!std::filesystem::exists(output, error)) return {};
  const auto rows = merge_sweeps(part, {output});
  return rows ? Result<void>() : tl::make_unexpected(rows.error());
}

/// The exit code of all ranks; problems are told once, by the first rank that has one.
template <class Value>
bool all_good(const Ranks& ranks, const Result<Value>& mine) {
  int worst = mine ? ranks.count : ranks.rank, teller = 0;
  MPI_Allreduce(&worst, &teller, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (teller == ranks.rank) report(mine.error());
  return teller == ranks.count;
}

int sweep_together(const Ranks& ranks, const SweepArguments& arguments, const Catalogue& catalogue) {
  const bool database = std::filesystem::path(arguments.output).extension() == ".db";
  if (!database || !arguments.words.empty() || arguments.shards > 1 || arguments.pareto) {
    const Result<void> refused =
        fail("tbdsim-mpi sweep: expected options and -o FILE.db; export, merge and --shard are tbdsim's");
    return all_good(ranks, refused) ? kDone : kBadInput;
  }
  if (!all_good(ranks, ranks.first() ? collect_parts(arguments.output) : Result<void>())) return kBadInput;
  const auto begun = ranks.first() ? begin_sweep(arguments, catalogue) : Result<std::int64_t>(0);
  if (!all_good(ranks, begun)) return kBadInput;
  const std::string part = part_of(arguments.output, ranks.rank);
  if (!all_good(ranks, begin_part(arguments.output, part))) return kBadInput;
  const SweepShard shard{static_cast<std::size_t>(ranks.rank), static_cast<std::size_t>(ranks.count)};
  const auto done = sweep_into(part, arguments, catalogue, shard, ranks.first());
  if (!all_good(ranks, done)) return kBadInput;
  // A rank may see one value of an axis alone, so several ranks tell nothing of options without effect.
  const SweepProgress all{static_cast<std::size_t>(Ranks::sum(static_cast<long long>(done->done))),
                          static_cast<std::size_t>(Ranks::sum(static_cast<long long>(done->all))),
                          static_cast<std::size_t>(Ranks::sum(static_cast<long long>(done->predicted))), *begun,
                          ranks.count == 1 ? done->idle : IdleOptions{}};
  if (!all_good(ranks, ranks.first() ? collect_parts(arguments.output) : Result<void>())) return kBadInput;
  return ranks.first() ? tell_sweep(arguments, all) : kDone;
}

int dispatch(const Ranks& ranks, int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "sweep") != 0) {
    const Result<void> refused = fail("tbdsim-mpi: expected the verb sweep, as in mpirun tbdsim-mpi sweep ... -o FILE.db");
    return all_good(ranks, refused) ? kDone : kBadInput;
  }
  const auto arguments = parse_arguments(argc, argv);
  if (!arguments) {
    if (arguments.error().exit_code == kDone) return ranks.first() ? write_result(arguments.error().text) : kDone;
    const Result<void> refused = fail(arguments.error().text);
    return all_good(ranks, refused) ? kDone : kBadInput;
  }
  const auto catalogue = find_catalogue();
  if (!all_good(ranks, catalogue)) return kBadInput;
  return sweep_together(ranks, std::get<SweepArguments>(*arguments), *catalogue);
}

}  // namespace
}  // namespace tbdsim

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tbdsim::report_file_size_limit();
  tbdsim::bound_threads();
  tbdsim::Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  try {
    const int code = tbdsim::dispatch(ranks, argc, argv);
    MPI_Finalize();
    return code;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "tbdsim-mpi: %s\n", tbdsim::words_of(exception));
    MPI_Abort(MPI_COMM_WORLD, tbdsim::kBadInput);
    return tbdsim::kBadInput;
  }
}
