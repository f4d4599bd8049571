// Layers of a pipeline's stages by hand: of its ends, or of all.
#include "model/configuration/choose_stages.hpp"

#include "model/configuration/configure.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

using Layers = std::vector<int>;

std::string trouble(int layers, int ranks, int parts, std::optional<int> first, std::optional<int> last) {
  const auto stages = stages_by_ends(layers, ranks, parts, first, last);
  return stages ? "" : stages.error().front().message;
}

/// gpt2 has 12 layers.
PredictOptions stages(int ranks) {
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "gpt2";
  options.batch = 1;
  options.pipeline_parallel = ranks;
  options.accumulate = 2 * ranks;
  return options;
}

Result<Configuration> configured(const PredictOptions& options) {
  static const std::shared_ptr<Session> kSession = open_session({TBDSIM_SOURCE_DIR});
  return configure(*kSession, options);
}

std::string refused(const PredictOptions& options) {
  const auto configuration = configured(options);
  return configuration ? "" : to_text(configuration.error());
}

}  // namespace

// Source: Megatron-LM, transformer_block.py: layers of the ends are of a rank, the other ranks share the rest evenly.
TEST_CASE("the ends of a pipeline have the layers that are said, the GPUs between share the rest, parts those of their GPU") {
  CHECK(stages_by_ends(14, 4, 1, 3, 3).value() == Layers{3, 4, 4, 3});
  CHECK(stages_by_ends(126, 16, 1, 7, 7).value() == Layers{7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7});
  CHECK(stages_by_ends(11, 3, 1, 3, std::nullopt).value() == Layers{3, 4, 4});
  CHECK(stages_by_ends(11, 3, 1, std::nullopt, 3).value() == Layers{4, 4, 3});
  CHECK(stages_by_ends(9, 2, 1, 4, 5).value() == Layers{4, 5});
  CHECK(stages_by_ends(20, 3, 2, 4, 4).value() == Layers{2, 6, 2, 2, 6, 2});
}

TEST_CASE("ends that leave no whole number of layers are refused") {
  CHECK(trouble(12, 4, 1, 3, 4) ==
        "--first-stage-layers 3 --last-stage-layers 4: 5 of 12 layers are left for 2 GPUs, expected as many for each");
  CHECK(trouble(12, 4, 1, 12, std::nullopt) ==
        "--first-stage-layers 12: 0 of 12 layers are left for 3 GPUs, expected as many for each");
  CHECK(trouble(12, 4, 1, std::nullopt, 20) ==
        "--last-stage-layers 20: 0 of 12 layers are left for 3 GPUs, expected as many for each");
  CHECK(trouble(12, 2, 1, 4, 5) ==
        "--first-stage-layers 4 --last-stage-layers 5: 9 layers together, expected the 12 of the network");
  CHECK(trouble(12, 2, 1, 4, 8).empty());
  CHECK(
      trouble(12, 3, 2, 3, 3) ==
      "--first-stage-layers 3 --last-stage-layers 3: 3 layers of a GPU do not divide over its 2 parts; --stage-layers says each");
}

TEST_CASE("stages by hand go with a pipeline, as many numbers as stages, which add up to the layers") {
  PredictOptions options = stages(4);
  options.stage_layers = "2,4,4,2";
  CHECK(configured(options)->layout.stage_layers == Layers{2, 4, 4, 2});
  CHECK(ends_of(*configured(options))->first == 2);
  CHECK(ends_of(*configured(options))->last == 2);
  options.stage_layers = "1,4,5,2";
  CHECK_FALSE(ends_of(*configured(options)));
  options.stage_layers = "2,4,4";
  CHECK(refused(options) == "--stage-layers 2,4,4: 3 numbers, expected one for each of the 4 stages of --pipeline-parallel 4\n");
  options.stage_layers = "2,4,4,3";
  CHECK(refused(options) == "--stage-layers 2,4,4,3: 13 layers together, and gpt2 has 12\n");
  for (const char* const wrong : {"2,4,,6", "0,4,4,4", "2 4 4 2", "a"}) {
    options.stage_layers = wrong;
    CHECK(refused(options) ==
          std::string("--stage-layers ") + wrong + ": expected whole numbers of at least 1 between commas, such as 3,4,4,3\n");
  }
  options.virtual_stages = 2;
  options.stage_layers = "2,4,4,2";
  CHECK(refused(options) ==
        "--stage-layers 2,4,4,2: 4 numbers, expected one for each of the 8 stages of --pipeline-parallel 4 with 2 parts a GPU\n");
  options.stage_layers = "1,2,2,2,1,2,1,1";
  CHECK(refused(options).empty());
  options.first_stage_layers = 2;
  CHECK(refused(options) ==
        "--first-stage-layers 2 --stage-layers 1,2,2,2,1,2,1,1: give the layers of the ends or of all stages\n");
  options = stages(4);
  options.first_stage_layers = 0;
  CHECK(refused(options) == "--first-stage-layers 0: expected at least 1\n");
  options.first_stage_layers = 3;
  options.schedule = "zb-v";
  CHECK(refused(options) ==
        "--first-stage-layers 3: one GPU holds both ends of the network under this schedule; use --stage-layers\n");
  options = stages(4);
  options.first_stage_layers = 3;
  options.pipeline_parallel.reset();
  CHECK(refused(options) == "--first-stage-layers 3: of the stages of a pipeline; add --pipeline-parallel 2 or more\n");
  options.first_stage_layers.reset();
  options.stage_layers = "3,9";
  CHECK(refused(options) == "--stage-layers 3,9: of the stages of a pipeline; add --pipeline-parallel 2 or more\n");
}

TEST_CASE("a rank of a pipeline holds a stage in turn, there and back, or with the rank at the other end") {
  PredictOptions options = stages(4);
  const auto ranks = [&] {
    const auto configuration = configured(options);
    REQUIRE(configuration);
    return ranks_of_stages(*configuration);
  };
  CHECK(ranks() == std::vector<int>{0, 1, 2, 3});
  options.virtual_stages = 2;
  CHECK(ranks() == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3});
  options.schedule = "zb-v";
  CHECK(ranks() == std::vector<int>{0, 1, 2, 3, 3, 2, 1, 0});
  options.schedule = "dualpipe";
  CHECK(ranks() == std::vector<int>{0, 1, 1, 0});
}
