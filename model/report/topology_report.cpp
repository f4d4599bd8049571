#include "model/report/topology_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80;

std::string word(const PairRelation& pair) { return pair.nvlinks > 0 ? fmt::format("NV{}", pair.nvlinks) : pair.pcie; }

/// Columns `from` to `to` of the matrix of relations.
std::string matrix_block(const TopologySurvey& s, std::size_t from, std::size_t to) {
  std::vector<TextTable::Column> columns{{""}};
  // "gpu" is said once a line; sixteen columns fit only without it.
  constexpr std::size_t kManyGpus = 10;
  for (std::size_t j = from; j < to; ++j)
    columns.push_back({s.gpus.size() > kManyGpus ? s.gpus[j].substr(s.gpus[j].find_first_of("0123456789")) : s.gpus[j]});
  TextTable table(columns);
  for (std::size_t i = 0; i < s.gpus.size(); ++i) {
    std::vector<std::string> row{s.gpus[i]};
    for (std::size_t j = from; j < to; ++j) row.push_back(i == j ? "X" : word(s.pairs[i][j]));
    table.add(std::move(row));
  }
  return table.text();
}

/// Whether every pair of GPUs is joined alike.
bool uniform(const TopologySurvey& s) {
  const std::string first = word(s.pairs[0][1]);
  for (std::size_t i = 0; i < s.gpus.size(); ++i) {
    for (std::size_t j = 0; j < s.gpus.size(); ++j) {
      if (i != j && word(s.pairs[i][j]) != first) return false;
    }
  }
  return true;
}

std::string matrix(const TopologySurvey& s) {
  constexpr std::size_t kBlock = 16;  // columns on a line of 80
  if (s.gpus.size() <= kBlock) return matrix_block(s, 0, s.gpus.size());
  if (uniform(s)) return fmt::format("{} between any two of {} to {}\n", word(s.pairs[0][1]), s.gpus.front(), s.gpus.back());
  std::string text;
  for (std::size_t from = 0; from < s.gpus.size(); from += kBlock)
    text += (from == 0 ? "" : "\n") + matrix_block(s, from, std::min(from + kBlock, s.gpus.size()));
  return text;
}

std::string relays(const TopologySurvey& s) {
  TextTable table({{"pair"}, {"hops"}, {"relays"}});
  for (std::size_t i = 0; i < s.gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < s.gpus.size(); ++j) {
      const PairRelation& pair = s.pairs[i][j];
      if (pair.nvlinks > 0 || pair.hops == 0) continue;
      table.add({fmt::format("{} {}", s.gpus[i], s.gpus[j]), std::to_string(pair.hops),
                 fmt::format("{}", fmt::join(s.relays[i][j], " "))});
    }
  }
  return table.empty() ? "" : "\nPairs without a direct link, over NVLink\n" + table.text(2);
}

std::string rings(const TopologySurvey& s) {
  if (s.gpus.size() < 2) return "";
  if (s.ring_orders.empty()) return "\nNo ring joins these GPUs\n";
  const RingSet& set = s.rings;
  std::string text =
      fmt::format("\n{:g} ring{} over {}, {} each, {} together{}\n", set.effective_rings, set.effective_rings == 1.0 ? "" : "s",
                  set.over_nvlink ? "NVLink" : "PCIe and host", format(set.bandwidth), format(s.ring_bandwidth),
                  s.nccl.empty() ? "" : fmt::format(" (NCCL {})", s.nccl));
  for (const auto& order : s.ring_orders)
    text += fmt::format("  {}\n", wrapped(fmt::format("{}", fmt::join(order, " ")), kWidth, 2));
  return set.relayed ? text + "  (in brackets: a relay)\n" : text;
}

/// Copies of pairs in GB/s: each alone, and how slow they get together. Not for GPUs that are all joined alike.
std::string copies(const TopologySurvey& s) {
  constexpr std::size_t kMostColumns = 10;
  const std::size_t n = s.gpus.size();
  if (n < 2 || n > kMostColumns) return "";
  std::vector<TextTable::Column> columns{{""}};
  for (const std::string& gpu : s.gpus) columns.push_back({gpu, Align::right});
  TextTable table(columns);
  const TransferShare* slowest = nullptr;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::string> row{s.gpus[i]};
    for (std::size_t j = 0; j < n; ++j) {
      const TransferShare& copy = s.copies[i][j];
      const bool way = copy.alone > BytesPerSecond(0.0);
      row.push_back(i == j ? "X" : way ? fmt::format("{:.1f}{}", copy.alone.base() / 1e9, copy.staged ? "*" : "") : "");
      if (way && (slowest == nullptr || copy.contended < slowest->contended)) slowest = &copy;
    }
    table.add(std::move(row));
  }
  if (slowest == nullptr) return "";
  return "\nCopy from row to column, alone, GB/s (*: through host memory)\n" + table.text() +
         fmt::format("All of them at once: the slowest gets {}\n", format(slowest->contended));
}

/// Without --bytes there are rates and latencies, but no time.
std::string together(const std::vector<SharedTransfer>& transfers) {
  const bool timed = transfers.front().bytes > Bytes(0.0);
  TextTable table({{"from"},
                   {"to"},
                   {"alone", Align::right},
                   {"together", Align::right},
                   {"share", Align::right},
                   {timed ? "time" : "latency", Align::right},
                   {"vertices"}});
  for (const SharedTransfer& t : transfers)
    table.add({t.vertices.front(), t.vertices.back(), format(t.share.alone), format(t.share.contended),
               percent_text(t.share.contended / t.share.alone), format(t.share.time),
               fmt::format("{}", fmt::join(t.vertices, " "))});
  return (timed ? format(transfers.front().bytes) + " each, all" : "All") + " started together; links shared max-min fairly\n" +
         table.text(2);
}

std::string transfer(const std::vector<TransferWay>& ways) {
  const bool timed = ways.front().bytes > Bytes(0.0);
  std::vector<TextTable::Column> columns{{"way"}, {"bandwidth", Align::right}, {"latency", Align::right}};
  if (timed) columns.push_back({"time", Align::right});
  columns.push_back({"vertices"});
  TextTable table(columns);
  for (const TransferWay& way : ways) {
    std::vector<std::string> row{way.via, format(way.bandwidth), format(way.latency)};
    if (timed) row.push_back(format(way.time));
    row.push_back(fmt::format("{}", fmt::join(way.vertices, " ")));
    table.add(std::move(row));
  }
  std::string text = fmt::format("{}{} to {}, alone on the links\n", timed ? format(ways.front().bytes) + " from " : "From ",
                                 ways.front().vertices.front(), ways.front().vertices.back()) +
                     table.text(2);
  for (const TransferWay& way : ways)
    if (timed && !way.staged_at.empty())
      text += "  " +
              wrapped(fmt::format(
                          "copied whole to {0} and fetched from there, as MXNet's stores do: {1}, with a buffer of {2} on {0}",
                          way.staged_at, format(way.staged_time), format(way.bytes)),
                      kTextWidth - 2, 4) +
              "\n";
  return text;
}

/// Whether another way would have taken visibly less time.
bool chosen_badly(const CollectiveRow& row) {
  constexpr double kVisible = 1.02;
  return row.time.value > kVisible * row.least;
}

/// The library plans with times of its own, which are not those that its calls take.
std::string bad_choices(const CollectiveSurvey& c) {
  const CollectiveRow* worst = nullptr;
  for (const CollectiveRow& row : c.rows) {
    if (chosen_badly(row) && (worst == nullptr || row.time.value / row.least > worst->time.value / worst->least)) worst = &row;
  }
  if (worst == nullptr) return "";
  return paragraph(
      fmt::format("*: as NCCL's own plan chooses, which is not always the fastest: {} with {} would take {} for {:.0f} bytes",
                  name(c.kind), name(worst->fastest), format(worst->least), worst->bytes.base()));
}

}  // namespace

std::string topology_table(const TopologySurvey& s, const Transfers& transfers) {
  std::string text = paragraph(fmt::format("{}: {} x {}; {} of {} ordered pairs with peer access", s.system, s.gpus.size(),
                                           s.device, s.peer_pairs, s.gpus.size() * (s.gpus.size() - 1))) +
                     '\n';
  // Who asks for ways wants these alone; the wiring is one command without --route away.
  if (!transfers.ways.empty()) return text + transfer(transfers.ways);
  if (!transfers.together.empty()) return text + together(transfers.together);
  text += matrix(s);
  text += "(NVn: n links; PIX: one PCIe switch; PHB: one CPU; SYS: across CPUs)\n";
  return text + relays(s) + copies(s) + rings(s);
}

std::string collective_table(const CollectiveSurvey& c) {
  const std::string nodes = c.nodes > 1 ? fmt::format(" on {} nodes of {}, {}", c.nodes, c.system, c.network) : " of " + c.system;
  const std::string text = paragraph(fmt::format("{} over {} x {}{}; NCCL {}, {}", name(c.kind), c.gpus, c.device, nodes, c.nccl,
                                                 c.plan.description.empty() ? "no ring" : c.plan.description)) +
                           '\n';
  TextTable table({{"bytes", Align::right},
                   {"time", Align::right},
                   {"algorithm GB/s", Align::right},
                   {"bus GB/s", Align::right},
                   {"80 % range", Align::right},
                   {"algorithm"},
                   {"protocol"}});
  for (const CollectiveRow& row : c.rows) {
    table.add({fmt::format("{:.0f}", row.bytes.base()), format(row.time.value), number_text(row.algorithm_bandwidth.base() / 1e9),
               number_text(row.bus_bandwidth.value / 1e9),
               fmt::format("{} to {}", number_text(row.bus_bandwidth.low / 1e9), number_text(row.bus_bandwidth.high / 1e9)),
               std::string(name(row.algorithm)), fmt::format("{}{}", name(row.protocol), chosen_badly(row) ? "*" : "")});
  }
  return text + table.text() + bad_choices(c);
}

std::string collective_csv(const CollectiveSurvey& c) {
  std::string text = csv_line({"bytes", "time_s", "low_s", "high_s", "algorithm_bandwidth_bytes_per_s",
                               "bus_bandwidth_bytes_per_s", "algorithm", "protocol"});
  for (const CollectiveRow& row : c.rows)
    text += csv_line({fmt::format("{:.0f}", row.bytes.base()), fmt::format("{}", row.time.value.base()),
                      fmt::format("{}", row.time.low.base()), fmt::format("{}", row.time.high.base()),
                      fmt::format("{}", row.algorithm_bandwidth.base()), fmt::format("{}", row.bus_bandwidth.value),
                      std::string(name(row.algorithm)), std::string(name(row.protocol))});
  return text;
}

std::string topology_csv(const TopologySurvey& s) {
  std::string text = csv_line({"from", "to", "relation", "nvlinks", "pcie", "peer_access", "hops", "relays"});
  for (std::size_t i = 0; i < s.gpus.size(); ++i) {
    for (std::size_t j = 0; j < s.gpus.size(); ++j) {
      if (i == j) continue;
      const PairRelation& pair = s.pairs[i][j];
      text += csv_line({s.gpus[i], s.gpus[j], word(pair), std::to_string(pair.nvlinks), pair.pcie,
                        pair.peer_access ? "true" : "false", std::to_string(pair.hops),
                        fmt::format("{}", fmt::join(s.relays[i][j], " "))});
    }
  }
  return text;
}

}  // namespace tbdsim
