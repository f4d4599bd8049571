#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph build(const std::string& name) {
  const auto entry = find_network(name, "");
  if (!entry) FAIL(to_text(entry.error()));
  auto graph = build_network(**entry, {});
  if (!graph) FAIL(to_text(graph.error()));
  return std::move(*graph);
}

std::int64_t parameters(const std::string& name) { return build(name).parameter_elements(); }
double millions(const std::string& name) { return static_cast<double>(parameters(name)) / 1e6; }

}  // namespace

// GNMT: printed by NVIDIA's training script. LSTM: 66 M in Zaremba et al. NCF: 31,832,577 in NVIDIA's log. U-Net: weights and
// biases of its 23 convolutions. The others: sums over the published layers.
TEST_CASE("networks of other tasks have the published number of parameters") {
  CHECK(parameters("gnmt") == 160671297);
  CHECK_THAT(millions("lstm_lm"), Catch::WithinAbs(66.0, 0.1));
  CHECK(parameters("ncf") == 31832577);
  CHECK(parameters("unet") == 31030658);
  // DLRM: rows of the tables of each source, and the layers between the dense features, the products of pairs and the score.
  const std::int64_t bottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
  const std::int64_t top = 1024 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 256 + 1;
  CHECK(parameters("dlrm-mlperf") == std::int64_t{187767399} * 128 + bottom + 479 * 1024 + 1024 + top);
  CHECK(parameters("dlrm") == std::int64_t{32709138} * 128 + bottom + 480 * 1024 + 1024 + top);
  CHECK(parameters("dlrm-kaggle") == std::int64_t{33762577} * 16 + 13 * 512 + 512 + 512 * 256 + 256 + 256 * 64 + 64 + 64 * 16 +
                                         16 + 367 * 512 + 512 + 512 * 256 + 256 + 256 + 1);
  CHECK(parameters("dlrm-torchbench") ==
        std::int64_t{8000000} * 64 + 512 * 512 + 512 + 512 * 64 + 64 + 100 * 1024 + 1024 + 2 * (1024 * 1024 + 1024) + 1024 + 1);
  CHECK_THAT(millions("faster_rcnn"), Catch::WithinAbs(47.5, 0.1));
  // torchvision's fasterrcnn_resnet50_fpn has 41.76 million, of which the first 0.23 are not trained here.
  CHECK_THAT(millions("faster_rcnn_r50"), Catch::WithinAbs(41.5, 0.1));
  // torchvision prints 44,401,393 for maskrcnn_resnet50_fpn; the first convolution (9,408) and the first stage (212,992)
  // are not trained.
  CHECK(parameters("mask_rcnn") == 44401393 - 9408 - 212992);
  CHECK_THAT(millions("a3c"), Catch::WithinAbs(0.68, 0.005));
  CHECK_THAT(millions("sockeye"), Catch::WithinAbs(27.73, 0.05));
  // 7.49 M of the critic and 8.54 M of the generator.
  CHECK_THAT(millions("wgan_gp"), Catch::WithinAbs(7.49 + 8.54, 0.1));
}

TEST_CASE("Sockeye's weights, array by array") {
  const std::int64_t lstm1 = 2 * (4 * 256 * (512 + 256) + 8 * 256), lstm2 = 4 * 512 * 1024 + 8 * 512,
                     lstm3 = 4 * 512 * 1536 + 8 * 512;
  const std::int64_t embeddings = (17192 + 7710) * 512, attention = 2 * 512 * 512 + 512, start = 4 * (512 * 512 + 512);
  const std::int64_t merge = 1024 * 512 + 512, output = 7710 * 512 + 7710;
  CHECK(parameters("sockeye") == embeddings + lstm1 + 2 * lstm2 + lstm3 + attention + start + merge + output);
}

TEST_CASE("Deep Speech 2: 672 features into seven bidirectional layers, or 1312 into three") {
  const OpGraph mxnet = build("deep_speech_2@mxnet");
  std::int64_t recurrent = 0;
  for (const Parameter& p : mxnet.parameters)
    if (mxnet.op(p.op).kind == OpKind::gru) recurrent += elements(p.shape);
  const std::int64_t h = 1760, biases = 2 * 2 * 3 * h;
  CHECK(recurrent == 2 * 3 * h * (672 + h) + 6 * (2 * 3 * h * (2 * h + h)) + 7 * biases);
  for (const Op& op : build("deep_speech_2@pytorch").ops)
    if (op.name == "rnn0") CHECK(op.attributes.index() > 0);
  // deepspeech.pytorch's layers by hand: 1312 features into three layers of 2560 whose directions are added up.
  const std::int64_t w = 2560, cell = 2 * 3 * w;
  std::int64_t layers = 0;
  const OpGraph pytorch = build("deep_speech_2@pytorch");
  for (const Parameter& p : pytorch.parameters)
    if (pytorch.op(p.op).kind == OpKind::gru) layers += elements(p.shape);
  CHECK(layers == cell * (1312 + w) + 2 * cell * (w + w) + 3 * 2 * cell);
  CHECK(mxnet.parts_per_sample == 12.3);
  CHECK(mxnet.part_unit == "audio second");
}

TEST_CASE("the generator does not learn while the critic does") {
  const OpGraph graph = build("wgan_gp");
  for (const Op& op : graph.ops) {
    if (op.name == "step0.generator.tanh") CHECK_FALSE(graph.tensor(op.output).needs_gradient);
    if (op.name == "generator.tanh") CHECK(graph.tensor(op.output).needs_gradient);
    if (op.name == "step4.on_real.score") CHECK(graph.tensor(op.output).needs_gradient);
  }
  CHECK(graph.default_optimizer == "adam");
}

TEST_CASE("layers as the TBD suite counts them") {
  CHECK((*find_network("bert-large", ""))->layers == "24");
  CHECK((*find_network("wgan_gp", ""))->layers == "14+14");
  CHECK((*find_network("deep_speech_2@mxnet", ""))->layers == "9");
  CHECK((*find_network("faster_rcnn", ""))->layers == "101");
  CHECK((*find_network("sockeye", ""))->layers == "5");
}
