#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSource = "facebookresearch/Detectron, configs/12_2017_baselines and detectron/modeling";
// Images of 800 pixels on the short side and at most 1333 on the long one, padded to multiples of the coarsest map's stride:
// 32, RetinaNet 128.
constexpr std::int64_t kHeight = 800, kWidth = 1344, kRetinaHeight = 896, kRetinaWidth = 1408;
constexpr std::int64_t kRegions = 512, kObjects = 128, kClasses = 81, kPyramid = 256;
constexpr std::size_t kLevels = 4;  // of a pyramid, from which regions are cut

/// A backbone with batch norms as constant scales; convolution 1 and the second stage are not trained.
struct Backbone {
  const char* name;
  std::array<int, 4> blocks;
  std::int64_t groups, width_per_group;
  bool strides_first;  ///< the stride is that of the first convolution of a block, not of the 3x3 one
};
constexpr std::array kBackbones = {Backbone{"r50", {3, 4, 6, 3}, 1, 64, true}, Backbone{"r101", {3, 4, 23, 3}, 1, 64, true},
                                   Backbone{"x101_64x4d", {3, 4, 23, 3}, 64, 4, false},
                                   Backbone{"x101_32x8d", {3, 4, 23, 3}, 32, 8, false}};

enum class Head { rpn, fast, faster, mask, keypoint, retina };

TensorId scaled(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name, bool inplace) {
  return g.add(OpKind::multiply, {g.convolution(x, a, name)}, {}, name + "_bn", inplace);
}

TensorId block(GraphBuilder& g, TensorId x, const Backbone& b, int stage, std::int64_t stride, bool last, const std::string& p) {
  const std::int64_t inner = b.groups * b.width_per_group << (stage - 2), outer = std::int64_t{256} << (stage - 2);
  const std::int64_t first = b.strides_first ? stride : 1, second = b.strides_first ? 1 : stride;
  TensorId y = g.relu(scaled(g, x, same_convolution(inner, 1, first), p + "_branch2a", true), p + "_branch2a_relu", true);
  y = g.relu(scaled(g, y, same_convolution(inner, 3, second, b.groups), p + "_branch2b", true), p + "_branch2b_relu", true);
  y = scaled(g, y, same_convolution(outer, 1), p + "_branch2c", false);
  TensorId shortcut = x;
  if (g.shape(x).front() != outer) shortcut = scaled(g, x, same_convolution(outer, 1, stride), p + "_branch1", false);
  // Only the last sum of a stage, which others read, has an array of its own.
  const TensorId sum = g.add(OpKind::add, {y, shortcut}, {}, p + "_sum", !last);
  return g.relu(sum, p + "_sum_relu", true);
}

TensorId stage_of(GraphBuilder& g, TensorId x, const Backbone& b, int stage, std::int64_t stride) {
  const int blocks = b.blocks[static_cast<std::size_t>(stage - 2)];
  for (int i = 0; i < blocks; ++i)
    x = block(g, x, b, stage, i == 0 ? stride : 1, i + 1 == blocks, fmt::format("res{}_{}", stage, i));
  return x;
}

/// The maps after stages 2 to `last`.
std::vector<TensorId> body(GraphBuilder& g, const Backbone& b, int last) {
  g.set_weights(GraphBuilder::Weights::frozen);
  TensorId x = g.relu(scaled(g, g.input(), same_convolution(64, 7, 2), "conv1", true), "conv1_relu", true);
  x = g.pool(x, square_pool(PoolKind::max, 3, 2, 1), "pool1");
  std::vector<TensorId> maps{stage_of(g, x, b, 2, 1)};
  g.set_weights(GraphBuilder::Weights::own);
  for (int stage = 3; stage <= last; ++stage) maps.push_back(stage_of(g, maps.back(), b, stage, 2));
  return maps;
}

/// Maps of 256 channels, finest first, from `stages` on; each coarser one is enlarged and added to the next finer.
std::vector<TensorId> pyramid(GraphBuilder& g, const std::vector<TensorId>& stages, int finest) {
  std::vector<TensorId> maps(stages.size());
  TensorId above{};
  for (std::size_t i = stages.size(); i-- > 0;) {
    const std::string p = fmt::format("fpn_inner_{}", finest + static_cast<int>(i));
    TensorId x = g.convolution(stages[i], same_convolution(kPyramid, 1, 1, 1, true), p + "_lateral");
    if (i + 1 < stages.size()) x = g.plus(x, g.add(OpKind::upsample, {above}, UpsampleAttributes{2}, p + "_topdown"), p);
    above = x;
    maps[i] = g.convolution(x, same_convolution(kPyramid, 3, 1, 1, true), fmt::format("fpn_{}", finest + static_cast<int>(i)));
  }
  return maps;
}

/// Scores and boxes of regions on every map, by the same weights, as lists.
std::vector<TensorId> propose(GraphBuilder& g, const std::vector<TensorId>& maps, std::int64_t channels, std::int64_t shapes) {
  std::vector<TensorId> all;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (i > 0) g.set_weights(GraphBuilder::Weights::shared);
    const std::string p = fmt::format("rpn{}_", i);
    const TensorId x = g.relu(g.convolution(maps[i], same_convolution(channels, 3, 1, 1, true), p + "conv"), p + "relu", true);
    const TensorId scores = g.convolution(x, same_convolution(shapes, 1, 1, 1, true), p + "scores");
    const TensorId boxes = g.convolution(x, same_convolution(4 * shapes, 1, 1, 1, true), p + "boxes");
    g.add(OpKind::element_loss, {scores}, {}, p + "scores_loss");
    g.add(OpKind::element_loss, {boxes}, {}, p + "boxes_loss");
    all.push_back(scores);
    all.push_back(boxes);
  }
  g.set_weights(GraphBuilder::Weights::own);
  return all;
}

/// The regions that a step trains on.
TensorId sampled(GraphBuilder& g, const std::vector<TensorId>& found) {
  std::vector<TensorId> lists;
  for (std::size_t i = 0; i < found.size(); ++i) lists.push_back(g.flatten(found[i], fmt::format("rpn_flat{}", i)));
  const TensorId kept = g.add(OpKind::proposals, {g.concat(lists, "rpn_all")}, ProposalAttributes{12000, 2000}, "proposals");
  return g.add(OpKind::gather, {kept}, GatherAttributes{kRegions}, "rois");
}

void classify(GraphBuilder& g, TensorId x) {
  g.softmax_loss(g.linear(x, kClasses, "cls_score"), "cls_loss");
  g.add(OpKind::element_loss, {g.linear(x, 4 * kClasses, "bbox_pred")}, {}, "bbox_loss");
}

TensorId regions(GraphBuilder& g, TensorId map, TensorId found, std::int64_t count, std::int64_t side, const std::string& name) {
  return g.add(OpKind::roi_pool, {map, found}, RoiPoolAttributes{count, side}, name);
}

/// Regions of every level, here as many of each, are joined, then put into the order in which they were sampled.
TensorId pyramid_regions(GraphBuilder& g, const std::vector<TensorId>& maps, TensorId found, std::int64_t count,
                         std::int64_t side, const std::string& name) {
  std::vector<TensorId> levels;
  for (std::size_t i = 0; i < kLevels; ++i)
    levels.push_back(regions(g, maps[i], found, count / static_cast<std::int64_t>(kLevels), side, fmt::format("{}{}", name, i)));
  return g.transpose(g.add(OpKind::concat, levels, ConcatAttributes{1}, name + "_shuffled"), {0, 1, 2}, name);
}

/// C x (regions size) x size as regions x (C size size): a view, since the framework keeps regions first.
TensorId region_rows(GraphBuilder& g, TensorId x, std::int64_t count, const char* name) {
  const Shape y = g.shape(x);
  return y.size() == 3 ? g.reshape(x, {count, y[0] * y[1] * y[2] / count}, name) : x;
}

void box_head(GraphBuilder& g, const std::vector<TensorId>& maps, TensorId found) {
  TensorId x = region_rows(g, pyramid_regions(g, maps, found, kRegions, 7, "roi_feat"), kRegions, "roi_flat");
  for (const char* name : {"fc6", "fc7"}) x = g.relu(g.linear(x, 1024, name), std::string(name) + "_relu", true);
  classify(g, x);
}

void mask_outputs(GraphBuilder& g, TensorId x) {
  const ConvolutionAttributes doubles{kPyramid, 2, 2, 2, 2, 0, 0, 1, 1, true};
  x = g.relu(g.add(OpKind::transposed_convolution, {x}, doubles, "conv5_mask"), "conv5_mask_relu", true);
  g.add(OpKind::element_loss, {g.convolution(x, same_convolution(kClasses, 1, 1, 1, true), "mask_fcn_logits")}, {}, "mask_loss");
}

void mask_head(GraphBuilder& g, const std::vector<TensorId>& maps, TensorId found) {
  TensorId x = pyramid_regions(g, maps, found, kObjects, 14, "mask_roi_feat");
  for (int i = 1; i <= 4; ++i) {
    const std::string name = fmt::format("mask_fcn{}", i);
    x = g.relu(g.convolution(x, same_convolution(kPyramid, 3, 1, 1, true), name), name + "_relu", true);
  }
  mask_outputs(g, x);
}

/// Heat maps of 17 key points: eight convolutions, then twice as large by weights and twice again by interpolation.
void keypoint_head(GraphBuilder& g, const std::vector<TensorId>& maps, TensorId found) {
  constexpr std::int64_t kPoints = 17, kHidden = 512;
  TensorId x = pyramid_regions(g, maps, found, kObjects, 14, "pose_roi_feat");
  for (int i = 1; i <= 8; ++i) {
    const std::string name = fmt::format("conv_fcn{}", i);
    x = g.relu(g.convolution(x, same_convolution(kHidden, 3, 1, 1, true), name), name + "_relu", true);
  }
  const ConvolutionAttributes doubles{kPoints, 4, 4, 2, 2, 1, 1, 1, 1, true};
  x = g.add(OpKind::transposed_convolution, {x}, doubles, "kps_score_lowres");
  g.add(OpKind::element_loss, {g.add(OpKind::upsample, {x}, UpsampleAttributes{2}, "kps_score")}, {}, "kps_loss");
}

/// Every map answers for itself: towers of four convolutions for classes and for boxes, shared by the levels.
void retina_heads(GraphBuilder& g, const std::vector<TensorId>& maps) {
  constexpr std::int64_t kShapes = 9;
  for (const auto& [tower, outputs] : {std::pair{"cls", (kClasses - 1) * kShapes}, std::pair{"bbox", 4 * kShapes}})
    for (std::size_t i = 0; i < maps.size(); ++i) {
      g.set_weights(i > 0 ? GraphBuilder::Weights::shared : GraphBuilder::Weights::own);
      TensorId x = maps[i];
      for (int n = 0; n < 4; ++n) {
        const std::string name = fmt::format("retnet_{}_conv_n{}_{}", tower, n, i);
        x = g.relu(g.convolution(x, same_convolution(kPyramid, 3, 1, 1, true), name), name + "_relu", true);
      }
      const std::string name = fmt::format("retnet_{}_pred_{}", tower, i);
      g.add(OpKind::element_loss, {g.convolution(x, same_convolution(outputs, 3, 1, 1, true), name)}, {}, name + "_loss");
    }
  g.set_weights(GraphBuilder::Weights::own);
}

/// Labels and, for boxes, targets and two weights of every anchor, on square fields that hold any image of the data set.
double anchor_labels(int finest, int coarsest, double shapes) {
  double pixels = 0;
  for (int level = finest; level <= coarsest; ++level) pixels += static_cast<double>(kWidth >> level) * (kWidth >> level);
  return pixels * shapes * (1 + 3 * 4);
}

void build_pyramid(GraphBuilder& g, const Backbone& backbone, Head head) {
  std::vector<TensorId> maps = pyramid(g, body(g, backbone, 5), 2);
  TensorId found{};
  if (head == Head::fast) {
    found = g.another_input({kRegions, 5}, "rois");
  } else {
    maps.push_back(g.pool(maps.back(), square_pool(PoolKind::max, 1, 2), "fpn_6"));
    g.labels(anchor_labels(2, 6, 3));
    const std::vector<TensorId> lists = propose(g, maps, kPyramid, 3);
    if (head == Head::rpn) return;
    found = sampled(g, lists);
  }
  box_head(g, maps, found);
  if (head == Head::mask) mask_head(g, maps, found);
  if (head == Head::keypoint) keypoint_head(g, maps, found);
}

/// Regions are cut from the fourth stage and go through the fifth, which is a head here.
void build_c4(GraphBuilder& g, const Backbone& backbone, Head head) {
  const TensorId map = body(g, backbone, 4).back();
  TensorId found{};
  if (head == Head::fast) {
    found = g.another_input({kRegions, 5}, "rois");
  } else {
    g.labels(anchor_labels(4, 4, 15));
    const std::vector<TensorId> lists = propose(g, {map}, 1024, 15);
    if (head == Head::rpn) return;
    found = sampled(g, lists);
  }
  const TensorId x = stage_of(g, regions(g, map, found, kRegions, 14, "pool5"), backbone, 5, 2);
  const TensorId parts =
      g.add(OpKind::reduce, {region_rows(g, x, kRegions * 2048, "res5_rows")}, ReduceAttributes{1}, "res5_pool");
  classify(g, g.reshape(parts, {kRegions, 2048}, "res5_flat"));
  if (head != Head::mask) return;
  const Shape y = g.shape(x);
  if (y.size() != 3) return;
  mask_outputs(g, g.add(OpKind::slice, {x}, SliceAttributes{1, 0, y[1] * kObjects / kRegions}, "res5_sliced"));
}

void build_retina(GraphBuilder& g, const Backbone& backbone) {
  std::vector<TensorId> stages = body(g, backbone, 5);
  const TensorId top = stages.back();
  stages.erase(stages.begin());
  std::vector<TensorId> maps = pyramid(g, stages, 3);
  maps.push_back(g.convolution(top, same_convolution(kPyramid, 3, 2, 1, true), "fpn_6"));
  maps.push_back(g.convolution(g.relu(maps.back(), "fpn_6_relu"), same_convolution(kPyramid, 3, 2, 1, true), "fpn_7"));
  retina_heads(g, maps);
}

struct Prefix {
  std::string_view words;
  Head head;
};
constexpr std::array kHeads = {
    Prefix{"rpn", Head::rpn},        Prefix{"fast_rcnn", Head::fast},     Prefix{"faster_rcnn", Head::faster},
    Prefix{"mask_rcnn", Head::mask}, Prefix{"keypoints", Head::keypoint}, Prefix{"retinanet", Head::retina}};

/// With a pyramid unless said otherwise: "faster_rcnn_r50", "faster_rcnn_r50_c4".
std::string detector_name(std::string_view head, std::string_view backbone, bool pyramid) {
  return fmt::format("{}_{}{}", head, backbone, pyramid ? "" : "_c4");
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions&) {
  const bool retina = entry.name.rfind("retinanet", 0) == 0;
  const Shape image = retina ? Shape{3, kRetinaHeight, kRetinaWidth} : Shape{3, kHeight, kWidth};
  GraphBuilder g(entry.name, entry.variant, "image", image, entry.default_batch);
  for (const Backbone& backbone : kBackbones)
    for (const Prefix& prefix : kHeads) {
      if (entry.name == detector_name(prefix.words, backbone.name, false)) build_c4(g, backbone, prefix.head);
      if (entry.name != detector_name(prefix.words, backbone.name, true)) continue;
      if (prefix.head == Head::retina)
        build_retina(g, backbone);
      else
        build_pyramid(g, backbone, prefix.head);
    }
  return std::move(g).finish();
}

}  // namespace

void append_detectron(std::vector<ZooEntry>& entries) {
  const auto add = [&](const Prefix& prefix, const Backbone& backbone, bool pyramid, int batch) {
    ZooEntry entry = image_classifier(detector_name(prefix.words, backbone.name, pyramid), "detectron", kSource, build, kHeight);
    entry.application = "object detection";
    entry.dataset = "COCO 2017";
    entry.default_batch = batch;
    entries.push_back(std::move(entry));
  };
  // Networks whose regions alone nearly fill a device are trained with one image on each.
  for (const Prefix& prefix : kHeads) {
    const bool regions = prefix.head == Head::fast || prefix.head == Head::faster || prefix.head == Head::mask;
    if (regions || prefix.head == Head::rpn) add(prefix, kBackbones.front(), false, regions ? 1 : 2);
    for (const Backbone& backbone : kBackbones) add(prefix, backbone, true, regions && backbone.groups > 1 ? 1 : 2);
  }
}

}  // namespace tbdsim
