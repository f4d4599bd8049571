#include "model/workload/network_file.hpp"

#include <fstream>
#include <iterator>

#include "model/workload/network_format.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

Result<OpGraph> read(const std::string& text) {
  auto file = TomlFile::parse(text, "net.toml");
  REQUIRE(file);
  return read_network(std::move(*file));
}

Result<OpGraph> open(const std::string& name) {
  auto file = TomlFile::open(std::string(TBDSIM_SOURCE_DIR) + "/tests/data/networks/" + name);
  REQUIRE(file);
  return read_network(std::move(*file));
}

/// Messages without source lines, for a network of these layers on 3x8x8 images.
std::string problems(const std::string& layers) {
  const auto graph = read("schema = 1\nname = \"n\"\ninput = [3, 8, 8]\n" + layers);
  if (graph) return "accepted";
  std::string all;
  for (const Error& error : graph.error()) all += std::to_string(error.where.line) + ": " + error.message + "\n";
  return all;
}

}  // namespace

TEST_CASE("the worked example of the README") {
  const auto graph = open("small_cnn.toml");
  REQUIRE(graph);
  CHECK(graph->name == "small_cnn");
  CHECK(graph->variant == "file");
  CHECK(graph->input_unit == "image");
  CHECK(graph->default_batch == 64);
  CHECK(graph->ops.size() == 10);  // the input, eight layers and the loss that was appended
  CHECK(graph->ops.back().name == "loss");
  CHECK(graph->ops[3].inplace);
  // 3*16*9; 2*16; 16*16*9 + 16; 16*16*16*10 + 10
  CHECK(graph->parameter_elements() == 432 + 32 + 2320 + 40970);
  const MacCounts macs = macs_per_sample(*graph);
  CHECK(macs.forward == 32 * 32 * 432 + 32 * 32 * 2304 + 40960);
  CHECK(macs.backward == 32 * 32 * 432 + 2 * (32 * 32 * 2304 + 40960));
}

TEST_CASE("layers may stand in any order, a loss may be given") {
  const auto graph = open("lstm_language_model.toml");
  REQUIRE(graph);
  std::string names;
  for (const Op& op : graph->ops) names += op.name + " ";
  CHECK(names == "input encoder rnn drop decoder loss ");
  CHECK(to_text(graph->tensors.back().shape) == "35x10000");
}

TEST_CASE("every mistake of a file is reported at once, with its place") {
  const auto graph = open("ten_mistakes.toml");
  REQUIRE_FALSE(graph);
  std::string text = to_text(graph.error());
  const std::string folder = std::string(TBDSIM_SOURCE_DIR) + "/tests/data/networks/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
  CHECK(text == R"(ten_mistakes.toml:4:9: batch: expected a whole number from 1 to 1000000, got 0
   4 | batch = 0
     |         ^
ten_mistakes.toml:8:6: layer[0].op: unknown operator "convolutoin", did you mean "convolution"?
   8 | op = "convolutoin"
     |      ^~~~~~~~~~~~~
ten_mistakes.toml:14:9: layer[1].input: unknown layer "inptu", did you mean "input"?
  14 | input = "inptu"
     |         ^~~~~~~
ten_mistakes.toml:16:1: layer[1].kernell: unknown key, did you mean "kernel"?
ten_mistakes.toml:19:8: layer[2].name: "conv2" is already the name of layer[1]
  19 | name = "conv2"
     |        ^~~~~~~
ten_mistakes.toml:21:9: layer[2].input: "conv2": kernel 9x9 is larger than the padded input 8x8
  21 | input = "input"
     |         ^~~~~~~
ten_mistakes.toml:28:8: layer[3].kind: unknown activation "rellu", did you mean "relu"?
  28 | kind = "rellu"
     |        ^~~~~~~
ten_mistakes.toml:29:9: layer[3].input: layers form a cycle: "left" -> "right" -> "left"
  29 | input = "right"
     |         ^~~~~~~
ten_mistakes.toml:44:10: layer[6].inputs: "sum": shapes 3x4x4 and 3x8x8 differ
  44 | inputs = ["small", "input"]
     |          ^~~~~~~~~~~~~~~~~~
)");
}

TEST_CASE("single mistakes") {
  const std::string relu = "[[layer]]\nname = \"a\"\nop = \"activation\"\n";
  CHECK(problems(relu) == "accepted");
  CHECK(problems(relu + "[[layer]]\nname = \"b\"\nop = \"batch_norm\"\ninput = \"input\"\n") ==
        "5: layer[0].name: nothing uses layer \"a\"\n");
  CHECK(problems(relu + "[[layer]]\nname = \"b\"\nop = \"softmax_loss\"\ninput = \"input\"\n") ==
        "5: layer[0].name: nothing uses layer \"a\"\n");
  CHECK(problems("[[layer]]\nname = \"input\"\nop = \"identity\"\n") ==
        "5: layer[0].name: \"input\" is the name of the network's input\n");
  CHECK(problems(relu + "input = \"a\"\n") == "7: layer[0].input: layers form a cycle: \"a\" -> \"a\"\n");
  CHECK(problems(relu + "input = \"input\"\ninputs = [\"input\"]\n") ==
        "8: layer[0].inputs: give either input or inputs, not both\n");
  CHECK(problems(relu + "inputs = []\n") == "7: layer[0].inputs: \"a\": activation takes 1 input, got 0\n");
  CHECK(problems("[[layer]]\nname = \"fc\"\nop = \"linear\"\nfeatures = 2\n") ==
        "4: layer[0]: \"fc\": expects a vector or a sequence, got 3x8x8; flatten it first\n");
  CHECK(problems("[[layer]]\nname = \"p\"\nop = \"pool\"\nkind = \"mean\"\n") ==
        "7: layer[0].kind: unknown pool \"mean\"; known are: max, average\n");
  CHECK(problems("[[layer]]\nname = \"c\"\nop = \"convolution\"\nchannels = 1000000\nkernel = 8\ngroups = 1\n") == "accepted");
  CHECK(problems("[[layer]]\nname = \"p\"\nop = \"pad\"\ntop = 1000000\nleft = 1000000\n") ==
        "4: layer[0]: \"p\": too large to simulate: output 3x1000008x1000008, 0 weights\n");
}

TEST_CASE("a network needs an input and layers") {
  const auto graph = read("schema = 1\nname = \"n\"\ninput = [3, 0]\n");
  REQUIRE_FALSE(graph);
  CHECK(to_text(graph.error()) == R"(net.toml:1:1: layer: expected at least one [[layer]]
net.toml:3:9: input: expected one to three dimensions of 1 to 1000000, such as [3, 224, 224] (channels, height, width)
   3 | input = [3, 0]
     |         ^~~~~~
)");
}

TEST_CASE("sizes beyond any network are refused as too large, and nothing else is said of them") {
  const auto wide = read("schema = 1\nname = \"n\"\ninput = [3, 1000000, 1000000]\n[[layer]]\nkind = \"relu\"\n");
  REQUIRE_FALSE(wide);
  CHECK(wide.error().front().message == "input: expected at most 1e+12 numbers in all");
  std::string text = "schema = 1\nname = \"n\"\ninput = [3, 8, 8]\n";
  for (int i = 0; i < 50001; ++i) text += "[[layer]]\nkind = \"activation\"\n";
  const auto deep = read(text);
  REQUIRE_FALSE(deep);
  REQUIRE(deep.error().size() == 1);
  CHECK(deep.error().front().message == "layer: expected at most 50000 layers, got 50001");
}

TEST_CASE("a cycle behind other layers is found") {
  const std::string text = R"(
[[layer]]
name = "start"
op = "identity"
[[layer]]
name = "behind"
op = "identity"
input = "c"
[[layer]]
name = "a"
op = "add"
inputs = ["start", "c"]
[[layer]]
name = "b"
op = "identity"
input = "a"
[[layer]]
name = "c"
op = "identity"
input = "b"
)";
  CHECK(problems(text) == "15: layer[2].inputs: layers form a cycle: \"a\" -> \"b\" -> \"c\" -> \"a\"\n");
}

TEST_CASE("the README shows the example file as it is") {
  const auto text = [](const std::string& path) {
    std::ifstream in(std::string(TBDSIM_SOURCE_DIR) + path);
    REQUIRE(in);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string readme = text("/model/workload/README.md");
  CHECK(readme.find("```toml\n" + text("/tests/data/networks/small_cnn.toml") + "```") != std::string::npos);
}

TEST_CASE("the page of file formats tells of every operator") {
  const std::string page = formats_markdown(network_format());
  for (const OperatorRow& row : op_kinds()) {
    if (!row.in_files) continue;
    INFO(row.name);
    CHECK(page.find("`" + std::string(row.name) + "`") != std::string::npos);
  }
}

// Wolf et al.'s GPT2LMHeadModel has 124,439,808 parameters; BART-base's layers are counted by hand.
TEST_CASE("a transformer by its hyper-parameters: the catalogue's, layer by layer, or any other") {
  const auto file = open("transformer.toml");
  REQUIRE(file);
  const ZooEntry& entry = **find_network("gpt2", "");
  const OpGraph zoo = build_network(entry, {}).value();
  CHECK(file->parameter_elements() == 124439808);
  REQUIRE(file->ops.size() == zoo.ops.size());
  for (std::size_t i = 0; i < zoo.ops.size(); ++i) {
    CHECK(file->ops[i].name == zoo.ops[i].name);
    CHECK(file->output_shape(file->ops[i]) == zoo.output_shape(zoo.ops[i]));
  }
  const auto llama = open("llama.toml");
  REQUIRE(llama);
  const OpGraph catalogued = build_network(**find_network("llama-3.2-1b", ""), {}).value();
  CHECK(llama->parameter_elements() == catalogued.parameter_elements());
  REQUIRE(llama->ops.size() == catalogued.ops.size());
  for (std::size_t i = 0; i < catalogued.ops.size(); ++i) {
    CHECK(llama->ops[i].kind == catalogued.ops[i].kind);
    CHECK(llama->output_shape(llama->ops[i]) == catalogued.output_shape(catalogued.ops[i]));
  }
  const auto graph = [](const std::string& keys) {
    return read("schema = 1\nname = \"n\"\n[transformer]\nwidth = 768\nheads = 12\nwords = 1000\nlength = 16\n" + keys);
  };
  const std::int64_t d = 768, attention = 4 * d * d + 4 * d, block = 8 * d * d + 5 * d, norm = 2 * d, table = 1000 * d;
  const std::int64_t layer = attention + block + 2 * norm;
  CHECK(graph("encoder_layers = 3")->parameter_elements() == 3 * layer + norm + table);
  CHECK(graph("decoder_layers = 3")->parameter_elements() == 3 * layer + norm + table);
  CHECK(graph("encoder_layers = 3\nnorm_first = false\ntied = false")->parameter_elements() == 3 * layer + 2 * table);
  CHECK(graph("encoder_layers = 2\ndecoder_layers = 6\npositions = 20")->parameter_elements() ==
        8 * layer + 6 * (attention + norm) + 2 * norm + table + 2 * 20 * d);
  // Root-mean-square norms have no shift.
  CHECK(graph("decoder_layers = 3\nnorm = \"rms\"")->parameter_elements() == 3 * (layer - 2 * d) + d + table);
  const auto refused = [&](const std::string& keys) {
    const auto result = graph(keys);
    return result ? std::string("accepted") : result.error().front().message;
  };
  // A gate is a third product, as wide as the first.
  CHECK(graph("decoder_layers = 3\ngated = true")->parameter_elements() == 3 * (layer + 4 * d * d + 4 * d) + norm + table);
  CHECK(graph("decoder_layers = 3\nfeed_forward_bias = false")->parameter_elements() == 3 * (layer - 5 * d) + norm + table);
  // A quarter of the heads for keys and values: two of the four projections are a quarter as wide.
  CHECK(graph("decoder_layers = 3\nkv_heads = 3")->parameter_elements() == 3 * (layer - 2 * (d * d + d) * 3 / 4) + norm + table);
  CHECK(graph("decoder_layers = 3\nattention_bias = false\noutput_bias = true")->parameter_elements() ==
        3 * (layer - 3 * d) + norm + table);
  // Rotary positions own nothing, and words need no others.
  CHECK(graph("decoder_layers = 3\nrotary = true")->parameter_elements() == 3 * layer + norm + table);
  CHECK(refused("decoder_layers = 1\nrotary = true\npositions = 20") ==
        "transformer.positions: give either positions or rotary, not both");
  // A head of 64 has a norm for queries and one for keys; a window and sinks: a score for each head.
  CHECK(graph("decoder_layers = 3\nhead_norm = true\nwindow = 8\nfull_every = 3\nsinks = true")->parameter_elements() ==
        3 * (layer + 2 * 64 + 12) + norm + table);
  CHECK(graph("decoder_layers = 3\nparallel = true\nshared_norm = true\nscores_bias = true")->parameter_elements() ==
        3 * (layer - norm) + norm + table + 1000);
  CHECK(graph("decoder_layers = 3\nalibi = true\nembedding_norm = true\npost_norm = true\nscaled_embedding = true\n"
              "capped_scores = true")
            ->parameter_elements() == 3 * (layer + 2 * norm) + 2 * norm + table);
  // Two of three layers have 8 experts of width 100, a shared one beside them and a router.
  const std::int64_t expert = 2 * d * 100;
  CHECK(graph("decoder_layers = 3\nfeed_forward_bias = false\n[transformer.experts]\ncount = 8\nper_token = 2\nfilter = 100\n"
              "shared = 1\nfirst_dense = 1")
            ->parameter_elements() == 3 * (layer - 5 * d) + 2 * (9 * expert + 8 * d - 8 * d * d) + norm + table);
  const std::string latent =
      "decoder_layers = 1\nrotary = true\nattention_bias = false\n[transformer.latent]\nkv_rank = 32\nquery_rank = 48\n"
      "nope_width = 16\nrope_width = 8\nvalue_width = 24";
  CHECK(graph(latent)->parameter_elements() ==
        d * 48 + 48 + 48 * 12 * 24 + d * 40 + 32 + 32 * 12 * 40 + 12 * 24 * d + block + 2 * norm + norm + table);
  CHECK(refused("decoder_layers = 1\n[transformer.experts]\ncount = 4\nper_token = 5") ==
        "transformer.experts.per_token: a token cannot go to 5 of 4 experts");
  const auto groups = [&](const char* text) {
    return refused(std::string("decoder_layers = 1\n[transformer.experts]\ncount = 8\nper_token = 3\n") + text);
  };
  CHECK(groups("groups = 3\ngroups_per_token = 2") == "transformer.experts.groups: 8 experts do not divide over 3 groups");
  CHECK(groups("groups = 4\ngroups_per_token = 5") == "transformer.experts.groups: a token cannot go to 5 of 4 groups");
  CHECK(groups("groups = 4\ngroups_per_token = 1") ==
        "transformer.experts.groups: the 3 experts of a token do not fit 1 of 4 groups with 2 experts each");
  CHECK(refused("decoder_layers = 1\n[transformer.latent]\nkv_rank = 32\nnope_width = 16\nrope_width = 8\nvalue_width = 24") ==
        "transformer.latent: expected rotary = true beside it");
  CHECK(refused("decoder_layers = 1\nfull_every = 2") == "transformer.full_every: expected a window beside it");
  CHECK(refused("decoder_layers = 1\nencoder_layers = 1\nsinks = true") ==
        "transformer.sinks: expected a decoder alone, got encoder_layers");
  CHECK(refused("decoder_layers = 1\nalibi = true\nrotary = true") ==
        "transformer.alibi: give one of positions, rotary and alibi");
  CHECK(refused("decoder_layers = 1\nshared_norm = true") == "transformer.shared_norm: expected parallel = true beside it");
  CHECK(refused("decoder_layers = 1\nnorm_first = false\npost_norm = true") ==
        "transformer.post_norm: expected norm_first = true beside it");
  CHECK(refused("decoder_layers = 1\nkv_heads = 5") == "transformer.kv_heads: 12 heads do not share 5 of keys and values evenly");
  CHECK(refused("decoder_layers = 1\nnorm = \"batch\"") == "transformer.norm: expected \"layer\" or \"rms\", got \"batch\"");
  CHECK(refused("") == "transformer: expected encoder_layers, decoder_layers or both");
  CHECK(refused("decoder_layers = 1\npositions = 15") == "transformer.positions: 15 positions are too few for a length of 16");
  CHECK(refused("decoder_layers = 1\npositions = 16").substr(0, 8) == "accepted");
  CHECK(refused("decoder_layers = 1\nactivation = \"gelu2\"") ==
        "transformer.activation: unknown activation \"gelu2\", did you mean \"gelu\"?");
  CHECK(refused("layers = 3\ndecoder_layers = 1").find("transformer.layers: unknown key") == 0);
  CHECK(refused("decoder_layers = 1\nattention = \"flash\"") ==
        "transformer.attention: expected \"framework\" or \"separate\", got \"flash\"");
}

TEST_CASE("layers of one code of attention are there for stacks that run it") {
  const std::string header = "schema = 1\nname = \"n\"\ninput = [16, 64]\n";
  const auto names = [&](const std::string& layers, bool fused) {
    auto file = TomlFile::parse(header + layers, "n.toml");
    REQUIRE(file);
    const auto graph = read_network(std::move(*file), fused);
    std::string all;
    if (!graph)
      for (const Error& error : graph.error()) all += error.message + "\n";
    else
      for (const Op& op : graph->ops) all += op.name + " ";
    return all;
  };
  const std::string query = "[[layer]]\nname = \"query\"\nop = \"linear\"\nfeatures = 64\n";
  const std::string one =
      "[[layer]]\nname = \"one\"\nop = \"attention\"\nheads = 4\ninputs = [\"query\", \"query\", \"query\"]\n"
      "attention = \"framework\"\n";
  const std::string scores =
      "[[layer]]\nname = \"scores\"\nop = \"matmul\"\ntranspose_b = true\ninputs = [\"query\", \"query\"]\n"
      "attention = \"separate\"\n";
  const std::string output = "[[layer]]\nname = \"output\"\nop = \"linear\"\nfeatures = 64\n";
  // `output` follows the layer before it that is there.
  CHECK(names(query + one + scores + output, true) == "input query one output loss ");
  CHECK(names(query + one + scores + output, false) == "input query scores output loss ");
  const std::string named = output + "input = \"scores\"\n";
  CHECK(names(query + one + scores + named, false) == "input query scores output loss ");
  CHECK(names(query + one + scores + named, true)
            .find("layer[3].input: layer \"scores\" has attention = \"separate\", this one has not\n") != std::string::npos);
  CHECK(names(output + "attention = \"separate\"\n", true) == "layer: expected a layer without attention = \"separate\"\n");
  CHECK(names(output + "attention = \"flash\"\n", true) ==
        "layer[0].attention: expected \"framework\" or \"separate\", got \"flash\"\n");
  // A value that would change nothing is refused.
  const auto set_heads = [&](bool fused) {
    auto file = TomlFile::parse(header + query + one + scores + output, "n.toml");
    REQUIRE(file);
    const Edits edits{{{"model.layer[1].heads", "8", "model.one.heads=8", 1, 17}}, nullptr};
    file->edit(edits, "model");
    const auto graph = read_network(std::move(*file), fused);
    return graph ? "accepted" : graph.error().front().message;
  };
  CHECK(set_heads(true) == "accepted");
  CHECK(set_heads(false) ==
        "layer[1].heads: has no effect: \"one\" has attention = \"framework\", and the stack does not fuse attention");
}

TEST_CASE("a transformer calls the framework's attention where there is one, unless it writes it out") {
  const auto attentions = [](const std::string& keys, bool fused) {
    const std::string text = "schema = 1\nname = \"n\"\n[transformer]\nwidth = 64\nheads = 4\nwords = 100\nlength = 16\n" + keys;
    auto file = TomlFile::parse(text, "n.toml");
    const OpGraph graph = read_network(std::move(*file), fused).value();
    std::vector<bool> causal;
    for (const Op& op : graph.ops)
      if (op.kind == OpKind::attention) causal.push_back(std::get<AttentionAttributes>(op.attributes).causal);
    return causal;
  };
  CHECK(attentions("decoder_layers = 2", true) == std::vector<bool>{true, true});
  CHECK(attentions("decoder_layers = 2", false).empty());
  CHECK(attentions("decoder_layers = 2\nattention = \"separate\"", true).empty());
  // Of an encoder and towards it padding is hidden, which no kernel skips.
  CHECK(attentions("encoder_layers = 1", true) == std::vector<bool>{false});
  CHECK(attentions("encoder_layers = 1\ndecoder_layers = 1", true) == std::vector<bool>{false, true, false});
}
