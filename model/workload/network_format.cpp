#include "model/workload/network_format.hpp"

#include <fmt/format.h>

#include <deque>
#include <string>
#include <vector>

#include "model/workload/operators/operator_row.hpp"
#include "model/workload/transformer_file.hpp"

namespace tbdsim {
namespace {

constexpr KeyMeaning kNetwork[] = {
    {"", "**`schema`**", "1", ""},
    {"", "**`name`**", "what the network is called", ""},
    {"", "`transformer`", "a table in place of `input` and the layers: a transformer by its hyper-parameters", ""},
    {"", "**`input`**", "dimensions of one sample, one to three, each 1 to 1,000,000", ""},
    {"", "`input_unit`", "what one sample is called in output", "`\"sample\"`"},
    {"", "`batch`", "default batch per GPU", "32"},
    {"", "`variant`",
     "whose definition it is: names of its arrays, what its backward pass keeps; `mxnet`, `tf`, `torchvision`, ...", "`file`"},
    {"", "`optimizer`", "what it is trained with", "`sgd-momentum` for images, `adam` else"},
    {"", "`part_unit`, `parts_per_sample`", "throughput is also told in these, such as `token` and 25.0", "nothing else"},
    {"", "`labels`", "numbers of a sample that come with the input and are no layer's", "0"},
};

constexpr KeyMeaning kLayer[] = {
    {"[[layer]]", "**`name`**", "unique; `input` is the network's input", ""},
    {"[[layer]]", "**`op`**", "one of the operators below", ""},
    {"[[layer]]", "`input`, `inputs`", "name of one layer, or an array of names, or `\"input\"`", "the layer before in the file"},
    {"[[layer]]", "`attention`",
     "the layer is part of one code of attention: `framework`, where the stack fuses attention; `separate`, where it does not. "
     "Elsewhere it is not there, and the layer before it is that of the next one",
     "both"},
    {"[[layer]]", "`weights`",
     "`own`; `shared`: those of a layer before it, trained through both; `frozen`: its own, never trained; `borrowed`: those of "
     "a "
     "layer before it, not trained through this one",
     "`own`"},
    {"[[layer]]", "`unused`", "that no layer takes its output is meant", "false"},
};

/// Keys of the file, of a transformer, of every layer, then a row for each operator.
struct Page {
  std::deque<std::string> texts;
  std::vector<KeyMeaning> keys;
  FileFormat format;
};

Page page() {
  Page page;
  for (const std::span<const KeyMeaning> keys : {std::span<const KeyMeaning>(kNetwork), transformer_keys(), {kLayer}})
    page.keys.insert(page.keys.end(), keys.begin(), keys.end());
  for (const OperatorRow& row : op_kinds()) {
    if (!row.in_files) continue;
    const std::string& table = page.texts.emplace_back(fmt::format("[[layer]], `op`: `{}`", row.name));
    const std::string& takes = page.texts.emplace_back(fmt::format("takes {}", row.takes));
    page.keys.push_back({table, "", takes, row.keys});
  }
  page.format = {"Network", "a file given as `--model`; at most 50,000 layers", page.keys};
  return page;
}

}  // namespace

std::span<const FileFormat> network_format() {
  static const Page kPage = page();
  return {&kPage.format, 1};
}

}  // namespace tbdsim
