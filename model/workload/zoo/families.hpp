#pragma once
#include <string>
#include <vector>

#include "model/workload/graph_builder.hpp"
#include "model/workload/zoo/zoo_entry.hpp"

namespace tbdsim {

/// Every file of this folder that defines networks appends its entries with the function of its name.
void append_alexnet(std::vector<ZooEntry>& entries);
void append_bert(std::vector<ZooEntry>& entries);
void append_convmixer(std::vector<ZooEntry>& entries);
void append_convnext(std::vector<ZooEntry>& entries);
void append_cspdarknet(std::vector<ZooEntry>& entries);
void append_deberta(std::vector<ZooEntry>& entries);
void append_deep_speech(std::vector<ZooEntry>& entries);
void append_densenet(std::vector<ZooEntry>& entries);
void append_detection(std::vector<ZooEntry>& entries);
void append_detectron(std::vector<ZooEntry>& entries);
void append_gemma(std::vector<ZooEntry>& entries);
void append_diffusion_unet(std::vector<ZooEntry>& entries);
void append_dla(std::vector<ZooEntry>& entries);
void append_dpn(std::vector<ZooEntry>& entries);
void append_efficientdet(std::vector<ZooEntry>& entries);
void append_ghostnet(std::vector<ZooEntry>& entries);
void append_googlenet(std::vector<ZooEntry>& entries);
void append_googlenet_plain(std::vector<ZooEntry>& entries);
void append_gpt(std::vector<ZooEntry>& entries);
void append_hugging_face(std::vector<ZooEntry>& entries);
void append_image_transformer(std::vector<ZooEntry>& entries);
void append_inception_bn(std::vector<ZooEntry>& entries);
void append_inception_resnet_v2(std::vector<ZooEntry>& entries);
void append_inception_tf(std::vector<ZooEntry>& entries);
void append_inception_v3(std::vector<ZooEntry>& entries);
void append_inception_v3_mxnet(std::vector<ZooEntry>& entries);
void append_inverted_residual(std::vector<ZooEntry>& entries);
void append_jasper(std::vector<ZooEntry>& entries);
void append_lenet(std::vector<ZooEntry>& entries);
void append_llama(std::vector<ZooEntry>& entries);
void append_megatron(std::vector<ZooEntry>& entries);
void append_mixtures(std::vector<ZooEntry>& entries);
void append_mnasnet(std::vector<ZooEntry>& entries);
void append_mobilenet_v2(std::vector<ZooEntry>& entries);
void append_mobilenet_v3(std::vector<ZooEntry>& entries);
void append_nfnet(std::vector<ZooEntry>& entries);
void append_other_tasks(std::vector<ZooEntry>& entries);
void append_overfeat(std::vector<ZooEntry>& entries);
void append_phi(std::vector<ZooEntry>& entries);
void append_patch_mixers(std::vector<ZooEntry>& entries);
void append_preresnet(std::vector<ZooEntry>& entries);
void append_recurrent_translation(std::vector<ZooEntry>& entries);
void append_regnet(std::vector<ZooEntry>& entries);
void append_repvgg(std::vector<ZooEntry>& entries);
void append_res2net(std::vector<ZooEntry>& entries);
void append_resnet(std::vector<ZooEntry>& entries);
void append_resnet_mxnet(std::vector<ZooEntry>& entries);
void append_resnet_tf(std::vector<ZooEntry>& entries);
void append_shufflenet_v2(std::vector<ZooEntry>& entries);
void append_squeezenet(std::vector<ZooEntry>& entries);
void append_swin(std::vector<ZooEntry>& entries);
void append_t5(std::vector<ZooEntry>& entries);
void append_tacotron2(std::vector<ZooEntry>& entries);
void append_text_encoders(std::vector<ZooEntry>& entries);
void append_tnt(std::vector<ZooEntry>& entries);
void append_torchbench(std::vector<ZooEntry>& entries);
void append_dlrm(std::vector<ZooEntry>& entries);
void append_transformer(std::vector<ZooEntry>& entries);
void append_transformer_xl(std::vector<ZooEntry>& entries);
void append_vgg(std::vector<ZooEntry>& entries);
void append_vision_transformer(std::vector<ZooEntry>& entries);
void append_waveglow(std::vector<ZooEntry>& entries);
void append_whisper(std::vector<ZooEntry>& entries);
void append_xlnet(std::vector<ZooEntry>& entries);

/// An ImageNet classifier of the zoo; batch 32, the default of every CNN here.
[[nodiscard]] ZooEntry image_classifier(std::string name, std::string variant, std::string source,
                                        Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&), int image = 224);

/// A network of sequences, whose default length is `seq_len`.
[[nodiscard]] ZooEntry sequence_entry(std::string name, std::string variant, std::string application, std::string dataset,
                                      int seq_len, int batch, std::string source,
                                      Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&));

/// The wanted or the entry's length of a sequence.
[[nodiscard]] std::int64_t sequence_length(const ZooEntry& entry, const ZooOptions& options);

/// A builder whose input are the tokens of one sequence.
[[nodiscard]] GraphBuilder token_builder(const ZooEntry& entry, const ZooOptions& options, std::string input_unit);

/// A builder whose input is a square image of the wanted or the entry's side.
[[nodiscard]] GraphBuilder image_builder(const ZooEntry& entry, const ZooOptions& options, std::int64_t channels = 3);

/// torchvision's ResNet without its classifier.
struct ResNetTrunk {
  std::string_view name;     ///< "resnet50"
  int stages = 4;            ///< of 4, after the first pool
  std::int64_t stride = 2;   ///< of the last of these stages
  bool frozen_norm = false;  ///< batch norms are constants: a scale and a shift
  int frozen_stages = 0;     ///< that do not learn, and with them all before; 0: all learns
};
/// The maps after each stage.
[[nodiscard]] std::vector<TensorId> resnet_trunk(GraphBuilder& g, const ResNetTrunk& trunk);
/// One stage (1 to 4) alone.
TensorId resnet_stage(GraphBuilder& g, TensorId x, std::string_view name, int stage, std::int64_t stride);

/// The maps after each stage of a network of inverted residual blocks: "tf_efficientnet_b1".
[[nodiscard]] std::vector<TensorId> inverted_residual_stages(GraphBuilder& g, std::string_view name);

/// Average pool to `side` x `side`, as PyTorch's AdaptiveAvgPool2d where its windows are equal: stride in/side, and the
/// kernel that reaches the edge. An input smaller than `side` is a problem of the graph.
TensorId adaptive_average_pool(GraphBuilder& graph, TensorId x, std::int64_t side, std::string name);

/// A square convolution without bias whose padding keeps the size at stride 1 (odd kernels).
[[nodiscard]] constexpr ConvolutionAttributes same_convolution(std::int64_t channels, std::int64_t kernel,
                                                               std::int64_t stride = 1, std::int64_t groups = 1,
                                                               bool bias = false) {
  return {channels, kernel, kernel, stride, stride, kernel / 2, kernel / 2, 1, groups, bias};
}

/// A square convolution without padding.
[[nodiscard]] constexpr ConvolutionAttributes valid_convolution(std::int64_t channels, std::int64_t kernel,
                                                                std::int64_t stride = 1, bool bias = false) {
  return {channels, kernel, kernel, stride, stride, 0, 0, 1, 1, bias};
}

/// A square pool.
[[nodiscard]] constexpr PoolAttributes square_pool(PoolKind kind, std::int64_t kernel, std::int64_t stride, std::int64_t pad = 0,
                                                   bool ceil_mode = false) {
  return {kind, kernel, kernel, stride, stride, pad, pad, ceil_mode};
}

/// `value` rounded to a multiple of 8, never more than 10 % down (as MobileNet and MNASNet scale their widths).
[[nodiscard]] std::int64_t round_to_eight(double value);

}  // namespace tbdsim
