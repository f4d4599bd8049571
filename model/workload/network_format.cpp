#include "model/workload/network_format.hpp"

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
    {"[transformer]", "`encoder_layers`, `decoder_layers`", "at least one of both; a decoder alone is GPT's", "0"},
    {"[transformer]", "**`width`**, **`heads`**, `head_width`, `filter`", "of the layers; of the feed-forward block",
     "`head_width`: width over heads; `filter`: 4 times the width"},
    {"[transformer]", "**`words`**, **`length`**",
     "of the vocabulary; tokens of a sequence (an encoder and decoder have as many each)", ""},
    {"[transformer]", "`positions`", "learned ones", "sinusoids"},
    {"[transformer]", "`embedding`", "width of a word's vector", "that of the layers"},
    {"[transformer]", "`norm_first`, `activation`", "layer norm before a block rather than after it; as of layers",
     "true, `gelu`"},
    {"[transformer]", "`attention_bias`, `fused_projection`",
     "biases of the four projections; queries, keys and values from one product", "true, false"},
    {"[transformer]", "`dropout`, `attention_dropout`", "probabilities", "0.1, as `dropout`"},
    {"[transformer]", "`attention`",
     "`framework`: its one kernel where the stack has it (scaled_dot_product_attention since PyTorch 2.0), as "
     "nn.MultiheadAttention and Hugging Face's transformers since 4.36 call it; `separate`: products and a softmax of their own, "
     "as older libraries",
     "`framework`"},
    {"[transformer]", "`tied`", "words are scored with the table of their vectors", "true"},
    {"[[layer]]", "**`name`**", "unique; `input` is the network's input", ""},
    {"[[layer]]", "**`op`**", "one of the operators below", ""},
    {"[[layer]]", "`input`, `inputs`", "name of one layer, or an array of names, or `\"input\"`", "the layer before in the file"},
    {"[[layer]]", "`weights`", "`own`; `shared`: those of a layer before it; `frozen`: never trained", "`own`"},
    {"[[layer]]", "`unused`", "that no layer takes its output is meant", "false"},
    {"[[layer]], `op`: `input`", "", "takes nothing", "`shape`: one more input of the network"},
    {"[[layer]], `op`: `convolution`", "", "takes image",
     "`channels`; `kernel` (1), `stride` (1), `pad` (0), each also as `_h` and `_w`; `dilation` (1), `groups` (1), `bias` "
     "(true)"},
    {"[[layer]], `op`: `linear`", "", "takes vector, sequence",
     "`features`; `bias` (true), `tied` (false): the weight is another layer's"},
    {"[[layer]], `op`: `batch_norm`", "", "takes any", "`scale` (true): has a gamma"},
    {"[[layer]], `op`: `activation`", "", "takes any",
     "`kind` (`relu`; `relu6 tanh sigmoid gelu hardswish hardsigmoid silu`), `inplace` (false)"},
    {"[[layer]], `op`: `pool`", "", "takes image",
     "`kind` (`max`; `average`), `kernel` (2), `stride` (= kernel), `pad` (0), each also as `_h` and `_w`; `ceil_mode` (false)"},
    {"[[layer]], `op`: `global_average_pool`", "", "takes image", ""},
    {"[[layer]], `op`: `add`", "", "takes two or more, equal", "`inplace` (false): overwrites the first"},
    {"[[layer]], `op`: `multiply`", "", "takes one (by a constant), two equal, or an image and `Cx1x1`",
     "`inplace` (false); `keeps_scalar` (false): the constant is an array on the device"},
    {"[[layer]], `op`: `concat`", "", "takes two or more", "`axis` (channels of images, features of sequences)"},
    {"[[layer]], `op`: `slice`", "", "takes any", "`begin`, `end`; `axis` (0)"},
    {"[[layer]], `op`: `reshape`", "", "takes any", "`to` (one dimension): dimensions with as many elements"},
    {"[[layer]], `op`: `transpose`", "", "takes any", "`order`: of the dimensions, such as `[1, 0]`"},
    {"[[layer]], `op`: `dropout`", "", "takes any", "`probability` (0.5)"},
    {"[[layer]], `op`: `local_response_norm`", "", "takes image", "`size` (5)"},
    {"[[layer]], `op`: `channel_shuffle`", "", "takes image", "`groups` (2)"},
    {"[[layer]], `op`: `pad`", "", "takes image", "`top`, `bottom`, `left`, `right` (0)"},
    {"[[layer]], `op`: `softmax_loss`, `element_loss`, `ctc_loss`", "", "takes any",
     "ends of the network: over classes; per element (squared, smooth, binary); over alignments of speech"},
    {"[[layer]], `op`: `softmax`, `layer_norm`, `identity`", "", "takes any", ""},
    {"[[layer]], `op`: `mask`", "", "takes any",
     "adds a constant: a causal or padding mask, fixed positions; `selects` (false): replaces values, so its gradient is a "
     "kernel"},
    {"[[layer]], `op`: `learned_bias`", "", "takes any; a sequence with `rows`",
     "`rows`: a table of positions; without it one vector; `tied` (false)"},
    {"[[layer]], `op`: `prepend_token`", "", "takes sequence", "one trainable row before it"},
    {"[[layer]], `op`: `gather`", "", "takes any", "`rows`: so many of the first dimension"},
    {"[[layer]], `op`: `sequence_reverse`", "", "takes sequence", ""},
    {"[[layer]], `op`: `by_bytes`", "", "takes one or more, any",
     "`to`: dimensions of the result; any other operator, by what it reads and writes"},
    {"[[layer]], `op`: `reduce`", "", "takes any", "`axis` (0): sum or mean over it"},
    {"[[layer]], `op`: `group_norm`", "", "takes image", "`groups` (1)"},
    {"[[layer]], `op`: `pairwise_add`", "", "takes two sequences of equal width",
     "every row plus every row: `TxH` and `SxH` give `TxSxH`"},
    {"[[layer]], `op`: `upsample`", "", "takes image", "`factor` (2)"},
    {"[[layer]], `op`: `transposed_convolution`", "", "takes image", "as `convolution`, one group, no dilation"},
    {"[[layer]], `op`: `proposals`", "", "takes one or two, any",
     "`candidates`, `kept`: boxes before and after overlaps are suppressed"},
    {"[[layer]], `op`: `roi_pool`", "", "takes image, optionally boxes",
     "`regions`, `size`: windows of the map, stacked along the height"},
    {"[[layer]], `op`: `embedding`", "", "takes tokens", "`rows`, `width`; `tied` (false): the table is another layer's"},
    {"[[layer]], `op`: `lstm`, `gru`, `vanilla_rnn`", "", "takes sequence",
     "`hidden`; `layers` (1), `bidirectional` (false), `bias` (true), `state_given` (false): starts from another layer's state"},
    {"[[layer]], `op`: `attention`", "", "takes queries, keys, values: sequences of one width",
     "`heads` (1), `causal` (false); one kernel where the stack fuses attention"},
    {"[[layer]], `op`: `matmul`", "", "takes two matrices or stacks of matrices", "`transpose_b` (false)"},
};

constexpr FileFormat kFormats[] = {
    {"Network", "a file given as `--model`; at most 10,000 layers", kNetwork},
};

}  // namespace

std::span<const FileFormat> network_format() { return kFormats; }

}  // namespace tbdsim
