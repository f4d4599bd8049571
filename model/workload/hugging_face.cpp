#include "model/workload/hugging_face.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/input/file_kind.hpp"
#include "model/workload/hugging_face_families.hpp"

namespace tbdsim {
namespace {

/// Fields without a part in what a training step costs, of any family: tokens, initial values, constants of formulas (norms,
/// rotary angles, routing), what only generation or the loss over experts uses, and how a file came about.
constexpr std::string_view kHarmless[] = {"_attn_implementation_autoset",
                                          "_name_or_path",
                                          "add_bias_linear",
                                          "architectures",
                                          "attention_probs_dropout_prob",
                                          "attention_softmax_in_fp32",
                                          "attn_logit_softcapping",
                                          "auto_map",
                                          "aux_loss_alpha",
                                          "bad_words_ids",
                                          "begin_suppress_tokens",
                                          "bias_dropout_fusion",
                                          "bos_token_id",
                                          "cache_implementation",
                                          "chat_template",
                                          "classifier_dropout",
                                          "decoder_start_token_id",
                                          "dtype",
                                          "eos_token_id",
                                          "ep_size",
                                          "eoi_token_index",
                                          "boi_token_index",
                                          "finetuning_task",
                                          "id2label",
                                          "image_token_index",
                                          "image_token_id",
                                          "initial_context_length",
                                          "initializer_factor",
                                          "initializer_range",
                                          "label2id",
                                          "layer_norm_eps",
                                          "layer_norm_epsilon",
                                          "license",
                                          "masked_softmax_fusion",
                                          "max_length",
                                          "mm_tokens_per_image",
                                          "model_max_length",
                                          "model_type",
                                          "n_ctx",
                                          "name_or_path",
                                          "norm_topk_prob",
                                          "offset_alibi",
                                          "original_max_position_embeddings",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "output_router_logits",
                                          "pad_token_id",
                                          "partial_rotary_factor",
                                          "prefix",
                                          "pretraining_tp",
                                          "problem_type",
                                          "query_pre_attn_scalar",
                                          "reorder_and_upcast_attn",
                                          "return_dict",
                                          "rms_norm_eps",
                                          "rope_interleave",
                                          "rope_local_base_freq",
                                          "rope_parameters",
                                          "rope_scaling",
                                          "rope_theta",
                                          "rotary_emb_base",
                                          "rotary_pct",
                                          "routed_scaling_factor",
                                          "router_aux_loss_coef",
                                          "router_jitter_noise",
                                          "scale_attn_by_inverse_layer_idx",
                                          "scale_attn_weights",
                                          "scoring_func",
                                          "seq_aux",
                                          "skip_bias_add",
                                          "skip_bias_add_qkv",
                                          "slow_but_exact",
                                          "summary_activation",
                                          "summary_first_dropout",
                                          "summary_proj_to_labels",
                                          "summary_type",
                                          "summary_use_proj",
                                          "swiglu_limit",
                                          "task_specific_params",
                                          "torch_dtype",
                                          "transformers_version",
                                          "unk_token_id",
                                          "use_cache",
                                          "use_mrope",
                                          "use_bfloat16",
                                          "use_bidirectional_attention",
                                          "word_embed_proj_dim_scale"};

/// Fields that stand for a part of the weights that is not predicted, with what to tell of it.
struct LeftOut {
  std::string_view field, notice;
};
constexpr LeftOut kLeftOut[] = {
    {"vision_config", "the text part alone is predicted, without what sees images"},
    {"audio_config", "the text part alone is predicted, without what hears"},
    {"quantization_config", "weights of the file are quantised; training is predicted in --precision"},
};

/// What a sum of sizes cannot be: heads that do not divide, experts beyond their number.
void check_sizes(JsonObject& c, const TransformerNetwork& n, std::int64_t length) {
  const TransformerLayers& t = n.layer;
  if (t.head_width == 0 && t.latent.kv_rank == 0 && t.width % t.heads != 0)
    c.problem("", fmt::format("{} heads do not divide a width of {}; say head_dim", t.heads, t.width));
  if (t.kv_heads > 0 && t.heads % t.kv_heads != 0)
    c.problem("num_key_value_heads", fmt::format("{} heads do not share {} of keys and values evenly", t.heads, t.kv_heads));
  if (t.experts.count > 0 && t.experts.per_token > t.experts.count)
    c.problem("num_experts_per_tok", fmt::format("a token cannot go to {} of {} experts", t.experts.per_token, t.experts.count));
  if (n.positions > 0 && length > n.positions)
    c.problem("", fmt::format("{} positions are too few for a length of {}", n.positions, length));
  if (const auto trouble = too_large(n, length)) c.problem("", *trouble);
}

/// Notices of what the file has that no field above asked for.
void tell_unread(const JsonObject& c, const std::string& file, std::vector<std::string>& notices) {
  std::vector<std::string> unknown;
  for (const std::string& key : c.unread()) {
    const auto* const left_out =
        std::find_if(std::begin(kLeftOut), std::end(kLeftOut), [&](const auto& row) { return row.field == key; });
    if (left_out != std::end(kLeftOut)) {
      if (c.has(key)) notices.push_back(fmt::format("{}: {}: {}", file, key, left_out->notice));
    } else if (c.has(key) && std::find(std::begin(kHarmless), std::end(kHarmless), key) == std::end(kHarmless)) {
      unknown.push_back(key);
    }
  }
  if (!unknown.empty())
    notices.push_back(
        fmt::format("{}: not understood, and without effect on the prediction: {}", file, fmt::join(unknown, ", ")));
}

/// What the file says of the network beside its sizes, where that is not what is predicted.
void tell_unlike(JsonObject& root, JsonObject& c, const std::string& file, std::vector<std::string>& notices) {
  constexpr std::int64_t kMostLayers = 1000;
  if (c.integer_or("num_nextn_predict_layers", 0, 0, kMostLayers) > 0)
    notices.push_back(fmt::format("{}: num_nextn_predict_layers: layers that predict further tokens are left out", file));
  constexpr std::string_view kSpeaks[] = {"ForCausalLM", "LMHeadModel", "ForConditionalGeneration"};
  for (const std::string& name : root.texts_or_empty("architectures"))
    if (std::none_of(std::begin(kSpeaks), std::end(kSpeaks), [&](std::string_view ending) { return name.ends_with(ending); }))
      notices.push_back(
          fmt::format("{}: architectures: {} has another end than the language model that is predicted", file, name));
}

/// In which type the weights of the file are kept: "bfloat16".
std::string stored_type(JsonObject& c) {
  for (const char* const key : {"dtype", "torch_dtype"})
    if (std::string type = c.text_or(key, ""); !type.empty()) return type;
  return "";
}

/// The object that describes the network of text, and its family. A part within a larger model may leave its family out.
std::pair<JsonObject, std::string> text_part(JsonObject root) {
  std::string family = root.text_or("model_type", "");
  auto text = root.object_if("text_config");
  if (!text) return {std::move(root), std::move(family)};
  family = text->text_or("model_type", family);
  return {std::move(*text), std::move(family)};
}

}  // namespace

std::vector<std::string_view> hugging_face_families() {
  std::vector<std::string_view> names;
  names.reserve(language_families().size());
  for (const LanguageFamily& family : language_families()) names.push_back(family.model_type);
  return names;
}

Result<ConfiguredNetwork> read_hugging_face(std::string_view text, const std::string& file, const std::string& name,
                                            std::optional<std::int64_t> length, bool fused_attention) {
  if (auto form = check_form(text, TextForm::json, file); !form) return tl::make_unexpected(form.error());
  auto json = JsonFile::parse(text, file);
  if (!json) return tl::make_unexpected(json.error());
  JsonObject root = json->root();
  auto [config, type] = text_part(root);
  const std::string wanted = type;
  const auto family = std::find_if(language_families().begin(), language_families().end(),
                                   [&](const LanguageFamily& row) { return row.model_type == wanted; });
  if (family == language_families().end()) {
    config.problem(
        "model_type",
        fmt::format("expected one of {}, got {}; a [transformer] table of a network file describes others",
                    fmt::join(hugging_face_families(), ", "), wanted.empty() ? "none" : fmt::format("\"{}\"", wanted)));
    return tl::make_unexpected(json->errors());
  }
  TransformerNetwork network;
  family->read(config, network);
  if (config.path() != root.path()) network.tied = root.boolean_or("tie_word_embeddings", network.tied);
  network.layer.fused_attention = fused_attention;
  constexpr std::int64_t kUsualLength = 4096;
  const std::int64_t longest = network.positions > 0
                                   ? network.positions
                                   : config.integer_or("max_position_embeddings", kUsualLength, 1, std::int64_t{1} << 40);
  const std::int64_t tokens = length.value_or(std::min(longest, kUsualLength));
  if (json->errors().empty()) check_sizes(config, network, tokens);
  std::vector<std::string> notices;
  tell_unlike(root, config, file, notices);
  std::string stored = stored_type(root), own = stored_type(config);
  if (stored.empty()) stored = std::move(own);
  if (Errors errors = json->errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  tell_unread(config, file, notices);
  if (config.path() != root.path()) tell_unread(root, file, notices);
  GraphBuilder graph(name, "pytorch", "sequence", Shape{tokens}, 1);
  graph.counts_in("token", static_cast<double>(tokens));
  transformer_network(graph, network);
  auto built = std::move(graph).finish();
  if (!built) {
    for (Error& error : built.error()) error.where.file = file;
    return tl::make_unexpected(std::move(built.error()));
  }
  return ConfiguredNetwork{std::move(*built), std::move(notices), std::move(stored)};
}

}  // namespace tbdsim
