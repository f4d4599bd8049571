#include <fmt/format.h>

#include <array>

#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

constexpr const char* kSsd = "Liu et al., arXiv:1512.02325, as in NVIDIA DeepLearningExamples, PyTorch/Detection/SSD (ResNet-50)";
constexpr const char* kFaster = "Ren et al., arXiv:1506.01497, ResNet-101, as in apache/mxnet example/rcnn";
constexpr const char* kFasterTorchvision = "Ren et al., arXiv:1506.01497, torchvision 0.14, fasterrcnn_resnet50_fpn";
constexpr const char* kMask = "He et al., arXiv:1703.06870, torchvision 0.14, maskrcnn_resnet50_fpn";

TensorId normed(GraphBuilder& g, TensorId x, ConvolutionAttributes a, const std::string& name) {
  return g.relu(g.batch_norm(g.convolution(x, a, name), name + ".norm"), name + ".relu", true);
}

/// Adds one map's boxes and class scores to the lists.
struct SsdHeads {
  std::vector<TensorId> boxes, scores;
  void append(GraphBuilder& g, TensorId x, std::int64_t shapes) {
    constexpr std::int64_t kClasses = 81, kCorners = 4;
    const std::string p = fmt::format("heads.{}.", boxes.size());
    boxes.push_back(
        g.flatten(g.convolution(x, same_convolution(shapes * kCorners, 3, 1, 1, true), p + "boxes"), p + "boxes_flat"));
    scores.push_back(
        g.flatten(g.convolution(x, same_convolution(shapes * kClasses, 3, 1, 1, true), p + "scores"), p + "scores_flat"));
  }
};

Result<OpGraph> build_ssd(const ZooEntry& entry, const ZooOptions& options) {
  GraphBuilder g = image_builder(entry, options);
  // The third stage keeps its resolution: maps of 38 x 38 at 300 pixels.
  TensorId x = resnet_trunk(g, {"resnet50", 3, 1, false}).back();
  SsdHeads heads;
  heads.append(g, x, 4);
  struct Extra {
    std::int64_t inner, out, stride, shapes;
  };
  constexpr std::array kExtras = {Extra{256, 512, 2, 6}, Extra{256, 512, 2, 6}, Extra{128, 256, 2, 6}, Extra{128, 256, 1, 4},
                                  Extra{128, 256, 1, 4}};
  for (std::size_t i = 0; i < kExtras.size(); ++i) {
    const Extra& e = kExtras[i];
    const std::string p = fmt::format("extra.{}.", i);
    x = normed(g, x, same_convolution(e.inner, 1), p + "reduce");
    x = normed(g, x, e.stride == 2 ? same_convolution(e.out, 3, 2) : valid_convolution(e.out, 3), p + "conv");
    heads.append(g, x, e.shapes);
  }
  g.add(OpKind::element_loss, {g.concat(heads.boxes, "boxes")}, {}, "boxes.loss");
  g.softmax_loss(g.concat(heads.scores, "scores"), "scores.loss");
  return std::move(g).finish();
}

/// Regions' maps stand on top of each other: C x (regions size) x size to regions x (C size size), or to regions x C means.
TensorId regions_first(GraphBuilder& g, TensorId x, std::int64_t regions, const std::string& p) {
  const Shape y = g.shape(x);
  if (y.size() != 3) return x;  // only after an earlier problem
  const std::int64_t pixels = y[1] * y[2] / regions;
  const TensorId parts = g.transpose(g.reshape(x, {y[0], regions, pixels}, p + "regions"), {1, 0, 2}, p + "regions_first");
  return g.reshape(parts, {regions, y[0] * pixels}, p + "flat");
}

Result<OpGraph> build_faster(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::int64_t kShapes = 9, kRegions = 128, kClasses = 21;
  GraphBuilder g(entry.name, entry.variant, "image", Shape{3, 600, 1000}, entry.default_batch);
  const TensorId map = resnet_trunk(g, {"resnet101", 3, 2, false}).back();
  const TensorId search = g.relu(g.convolution(map, same_convolution(512, 3, 1, 1, true), "rpn_conv"), "rpn_relu");
  const TensorId found = g.convolution(search, same_convolution(2 * kShapes, 1, 1, 1, true), "rpn_scores");
  const TensorId moved = g.convolution(search, same_convolution(4 * kShapes, 1, 1, 1, true), "rpn_boxes");
  g.softmax_loss(found, "rpn_scores_loss");
  g.add(OpKind::element_loss, {moved}, {}, "rpn_boxes_loss");
  const TensorId boxes = g.add(OpKind::proposals, {found, moved}, ProposalAttributes{12000, 2000}, "proposals");
  TensorId x = g.add(OpKind::roi_pool, {map, g.add(OpKind::gather, {boxes}, GatherAttributes{kRegions}, "sampled")},
                     RoiPoolAttributes{kRegions, 14}, "roi_pool");
  x = resnet_stage(g, x, "resnet101", 4, 2);
  const Shape y = g.shape(x);
  if (y.size() == 3) {
    const TensorId parts = g.reshape(x, {y[0], kRegions, y[1] * y[2] / kRegions}, "regions");
    x = g.transpose(g.add(OpKind::reduce, {parts}, ReduceAttributes{2}, "mean"), {1, 0}, "regions_first");
  }
  g.softmax_loss(g.linear(x, kClasses, "scores"), "scores_loss");
  g.add(OpKind::element_loss, {g.linear(x, 4 * kClasses, "boxes")}, {}, "boxes_loss");
  return std::move(g).finish();
}

/// A pyramid of maps with 256 channels, finest first: each coarser one is enlarged and added to the next finer.
std::vector<TensorId> feature_pyramid(GraphBuilder& g, const std::vector<TensorId>& stages) {
  constexpr std::int64_t kChannels = 256;
  std::vector<TensorId> maps(stages.size());
  TensorId above{};
  for (std::size_t i = stages.size(); i-- > 0;) {
    TensorId x = g.convolution(stages[i], same_convolution(kChannels, 1, 1, 1, true), fmt::format("fpn.inner.{}", i));
    if (i + 1 < stages.size())
      x = g.plus(x, g.add(OpKind::upsample, {above}, UpsampleAttributes{2}, fmt::format("fpn.up.{}", i)),
                 fmt::format("fpn.add.{}", i));
    above = x;
    maps[i] = g.convolution(x, same_convolution(kChannels, 3, 1, 1, true), fmt::format("fpn.layer.{}", i));
  }
  maps.push_back(g.pool(maps.back(), square_pool(PoolKind::max, 1, 2), "fpn.pool"));
  return maps;
}

/// The region proposal head runs on every map with the same weights.
TensorId propose(GraphBuilder& g, const std::vector<TensorId>& maps, std::int64_t kept) {
  constexpr std::int64_t kShapes = 3;
  std::vector<TensorId> scores, boxes;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (i > 0) g.set_weights(GraphBuilder::Weights::shared);
    const std::string p = fmt::format("rpn.{}.", i);
    const TensorId x = g.relu(g.convolution(maps[i], same_convolution(256, 3, 1, 1, true), p + "conv"), p + "relu");
    scores.push_back(g.flatten(g.convolution(x, same_convolution(kShapes, 1, 1, 1, true), p + "scores"), p + "scores_flat"));
    boxes.push_back(g.flatten(g.convolution(x, same_convolution(4 * kShapes, 1, 1, 1, true), p + "boxes"), p + "boxes_flat"));
  }
  g.set_weights(GraphBuilder::Weights::own);
  const TensorId all_scores = g.concat(scores, "rpn.scores"), all_boxes = g.concat(boxes, "rpn.boxes");
  g.add(OpKind::element_loss, {all_scores}, {}, "rpn.scores_loss");
  g.add(OpKind::element_loss, {all_boxes}, {}, "rpn.boxes_loss");
  return g.add(OpKind::gather, {g.add(OpKind::proposals, {all_scores, all_boxes}, ProposalAttributes{8000, 2000}, "proposals")},
               GatherAttributes{kept}, "sampled");
}

/// The regions of a pyramid: all cut from its finest map, or a quarter from each of four.
TensorId cut(GraphBuilder& g, const std::vector<TensorId>& maps, TensorId boxes, std::int64_t count, std::int64_t side,
             bool levels, const std::string& name) {
  if (!levels) return g.add(OpKind::roi_pool, {maps.front(), boxes}, RoiPoolAttributes{count, side}, name);
  constexpr std::int64_t kLevels = 4;
  std::vector<TensorId> parts;
  for (std::int64_t i = 0; i < kLevels; ++i)
    parts.push_back(g.add(OpKind::roi_pool, {maps[static_cast<std::size_t>(i)], boxes}, RoiPoolAttributes{count / kLevels, side},
                          fmt::format("{}.{}", name, i)));
  // Put where their boxes stand in the list.
  return g.transpose(g.add(OpKind::concat, parts, ConcatAttributes{1}, name + ".joined"), {0, 1, 2}, name);
}

void mask_head(GraphBuilder& g, TensorId m, std::int64_t classes) {
  for (int i = 1; i <= 4; ++i) {
    const std::string name = fmt::format("mask.fcn{}", i);
    m = g.relu(g.convolution(m, same_convolution(256, 3, 1, 1, true), name), name + ".relu");
  }
  m = g.add(OpKind::transposed_convolution, {m}, ConvolutionAttributes{256, 2, 2, 2, 2, 0, 0, 1, 1, true}, "mask.conv5");
  m = g.convolution(g.relu(m, "mask.conv5.relu"), same_convolution(classes, 1, 1, 1, true), "mask.logits");
  g.add(OpKind::element_loss, {m}, {}, "mask.loss");
}

/// Mask R-CNN and Faster R-CNN, which has no masks. The first convolution and the first stage do not learn
/// (trainable_backbone_layers = 3, FREEZE_CONV_BODY_AT = 2). 512 regions are sampled, a quarter of them on objects; these get
/// masks. "mask_rcnn" takes the largest image; torchvision's names take the mean one of COCO, 640 x 480 enlarged to 800 x 1066
/// and padded to a multiple of 32.
Result<OpGraph> build_mask(const ZooEntry& entry, const ZooOptions&) {
  constexpr std::int64_t kRegions = 512, kObjects = 128, kClasses = 91, kLargest = 1344, kMean = 1088;
  const bool largest = entry.name == "mask_rcnn", levels = !largest;
  GraphBuilder g(entry.name, entry.variant, "image", Shape{3, 800, largest ? kLargest : kMean}, entry.default_batch);
  const std::vector<TensorId> maps = feature_pyramid(g, resnet_trunk(g, {"resnet50", 4, 2, true, 1}));
  const TensorId boxes = propose(g, maps, kRegions);
  TensorId x = regions_first(g, cut(g, maps, boxes, kRegions, 7, levels, "roi.box"), kRegions, "roi.");
  for (const char* name : {"box.fc6", "box.fc7"}) x = g.relu(g.linear(x, 1024, name), std::string(name) + ".relu");
  g.softmax_loss(g.linear(x, kClasses, "box.scores"), "box.scores_loss");
  g.add(OpKind::element_loss, {g.linear(x, 4 * kClasses, "box.boxes")}, {}, "box.boxes_loss");
  if (entry.name != "fasterrcnn_resnet50_fpn") mask_head(g, cut(g, maps, boxes, kObjects, 14, levels, "roi.mask"), kClasses);
  return std::move(g).finish();
}

}  // namespace

void append_detection(std::vector<ZooEntry>& entries) {
  const auto add = [&](const char* name, const char* variant, const char* dataset, int image, int batch, const char* layers,
                       const char* source, Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&)) {
    ZooEntry entry = image_classifier(name, variant, source, build, image);
    entry.application = "object detection";
    entry.dataset = dataset;
    entry.default_batch = batch;
    entry.layers = layers;
    entries.push_back(std::move(entry));
  };
  add("ssd300", "pytorch", "COCO 2017", 300, 32, "", kSsd, build_ssd);
  add("faster_rcnn", "mxnet", "Pascal VOC 2007", 600, 1, "101", kFaster, build_faster);
  add("mask_rcnn", "torchvision", "COCO 2017", 800, 2, "", kMask, build_mask);
  add("maskrcnn_resnet50_fpn", "torchvision", "COCO 2017", 800, 2, "", kMask, build_mask);
  add("fasterrcnn_resnet50_fpn", "torchvision", "COCO 2017", 800, 2, "", kFasterTorchvision, build_mask);
}

}  // namespace tbdsim
