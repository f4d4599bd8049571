#include "model/stack/stack_format.hpp"

namespace tbdsim {
namespace {

constexpr KeyMeaning kStack[] = {
    {"", "**`schema`**", "1", ""},
    {"", "**`name`**, **`framework`**, **`version`**, `variant`", "the id and its parts", ""},
    {"", "`extends`",
     "a stack beside this file or of the catalogue (`pytorch-2.1`, `base/mxnet`), from which all comes that this file does not "
     "say; "
     "a table that changes a value states its `source` anew. `**` marks what must come from the one or the other; none",
     ""},
    {"", "`without`", "tables and keys that are not taken from there: `[\"metric\", \"exchange.cycle\"]`; none", ""},
    {"", "**`zoo_variant`**", "network variant that the framework ships: `mxnet`, `torchvision`, `tf`, `torch7`", ""},
    {"", "`cuda`, `nccl`", "versions, for information", ""},
    {"", "`vendor`, `minimum_compute_capability`", "of the devices it runs on; `NVIDIA`, any", ""},
    {"", "**`source`**", "where its figures are from", ""},
    {"[convolution]", "**`library`**, **`generation`**", "\"cudnn-7.0.5\"; row of `kernels.toml` with its constants", ""},
    {"[convolution]", "**`forward`**, **`backward_data`**, **`backward_weights`**",
     "algorithms offered: `implicit_gemm`, `direct`, `winograd_fused`, `winograd_nonfused`, `fft`", ""},
    {"[convolution]", "`workspace_limit`", "scratch memory of one call; absent: as much as it asks for", ""},
    {"[convolution]", "**`source`**", "where its figures are from", ""},
    {"[parallel]", "`every_job`",
     "the training loop is that of divided networks, also where nothing is divided (Megatron-LM); false", ""},
    {"[parallel]", "`sequence`, `regathers`",
     "sequence parallelism within the tensor axis unless `--sequence-parallel off`; what it gathers is gathered again for "
     "backward, not kept; true, false",
     ""},
    {"[parallel]", "`copies_positions`",
     "positions follow samples in memory, so kernels join the pieces that sequence parallelism gathers, and cut what it divides; "
     "not beside a product (`tensor_overlap`); false",
     ""},
    {"[parallel]", "`tensor_overlap`",
     "`weights`: in backward the tensor axis sums gradients beside the products of weight gradients; `pieces`: it gathers and "
     "divides piece by piece beside the products before and after; `one-product`: the same, but what several products make a "
     "sum of is divided after them; `none`",
     ""},
    {"[parallel]", "`eight_bit_gathers`",
     "under `fp8` and `mxfp8` the tensor axis gathers in 8 bits what products read in 8 bits: `one-scale` of recipes with one "
     "scale for a tensor, `all`; `none`",
     ""},
    {"[parallel]", "`selective_recompute`",
     "what `--recompute selective` computes again: `attention`, or `operators`: all but every second product and attention; "
     "`operators`",
     ""},
    {"[parallel]", "`recompute_stops`",
     "`--recompute block`, `layer` and `full` end where all that backward reads is there again, so the last product of a layer "
     "and what follows it run once; false",
     ""},
    {"[parallel]", "`context_exchange`",
     "keys and values along the context axis: `gather` before attention or `ring` beside it; `all-to-all`: each GPU gets all "
     "positions of a share of the heads; `gather`",
     ""},
    {"[parallel]", "`masters`, `casts_shards`, `gathers_8_bit`",
     "`--precision bf16` and `fp16` keep fp32 weights and states beside 16-bit weights; these are made where weights are "
     "gathered, "
     "and not kept; under `fp8` they are gathered in 8 bits; false, false, false",
     ""},
    {"[parallel]", "`wide_gradients`, `gradient_sum`, `fuses_gradient_sum`",
     "gradients are summed over ranks in fp32; bytes moved for each parameter when the gradient of a micro-batch joins the sum; "
     "the product that makes the gradient moves them beside its arithmetic; true, 0 B: a kernel adds each gradient but the "
     "first, false",
     ""},
    {"[parallel]", "`loss_forward`, `loss_backward`, `loss_operators`, `batch_operators`",
     "bytes moved for each score by a loss of several kernels, and its operators in both passes; operators that read, mask and "
     "embed a micro-batch; one kernel a pass, 0",
     ""},
    {"[parallel]", "`norms_again`, `norm_forward`, `norm_backward`",
     "norms of a layer run once more for backward where the layer is not computed again; bytes moved for each number of a norm "
     "beside its kernel on 16 bits: casts, wider reads and writes; false, 0 B, 0 B",
     ""},
    {"[parallel]", "`reduces_everywhere`, `bucket_copies`",
     "every copy gets all gradients, though some divide the state; bytes moved for each gradient into a bucket and out of it; "
     "false, 0 B",
     ""},
    {"[parallel]", "`expert_spread`",
     "how unlike experts are asked for, over what tokens that choose alike would do by chance; 0: balance is forced; 1", ""},
    {"[parallel]", "`dispatch`, `expert_capacity`",
     "to other nodes go `rows`, one for each expert of a token, or a token `once-per-node`; rows that an expert takes, over the "
     "mean, those beyond being dropped, 0: all; `rows`, 0",
     ""},
    {"[parallel]", "`overlaps_gradients`, `overlaps_parameters`, `broadcasts_parameters`, `bucket`, `bucket_per_rank`",
     "gradients leave while the last backward runs; updated weights are gathered while the next forward runs; each rank "
     "broadcasts "
     "what it has updated, one after the other; bytes that leave together, and at least so many for each copy of the network; "
     "true, false, false, as [exchange] says, 0 B",
     ""},
    {"[parallel]", "`blocking_hops`, `scatters_hops`",
     "a stage of a pipeline waits until what it sends has arrived; without sequence parallelism each GPU of the tensor axis "
     "sends "
     "a share of the rows to the next stage, whose GPUs gather them; false, false",
     ""},
    {"[parallel]", "`clips`, `update_moves`",
     "gradients are read for their norm and scaled; bytes that the update of a parameter moves; true, as [update] says", ""},
    {"[parallel]", "`zero`, `shard_ranks`, `shards_stages`",
     "stage of sharding without `--zero`; neighbouring copies over which it divides, all if absent; whether weights may be "
     "sharded (`--zero 3`) beside a pipeline; 0, false",
     ""},
    {"[parallel]", "`shards_units`, `copies_units`",
     "layers are gathered and their gradients divided one by one from `--zero 2` on, which keeps them gathered from forward to "
     "backward; there is no `--zero 1` (FSDP); kernels copy gathered arrays to their places, and gradients into the call that "
     "divides them; false",
     ""},
    {"[parallel]", "`most_zero`, `schedules`",
     "what `plan` searches: the highest stage of sharding, and the schedules of pipelines between blanks, that the framework "
     "has; 3, all",
     ""},
    {"[parallel]", "`offloads_states`, `offloads_weights`, `offloads_parts`, `offloads_activations`",
     "what the framework can keep on the host (`--offload`): fp32 weights and optimiser states; with them divided weights and "
     "their gradients; a part of the states; what layers keep for backward; false",
     ""},
    {"[parallel]", "`offload_overlaps`, `host_gradient`, `host_weight`, `host_update_moves`",
     "gradients are copied beside the last `backward`, or both copies beside the host's `update`, or `none`; bytes of a "
     "parameter "
     "that travel to the host and back; and that its update moves in the host's memory; `backward`, 2 B, 2 B, 30 B",
     ""},
    {"[parallel]", "**`source`**", "where its figures are from", ""},
    {"[features]", "`amp`", "the framework trains in mixed precision by itself; false", ""},
    {"[features]", "`casts_weights`", "under `amp` 16-bit copies of weights last only while a step needs them (autocast); false",
     ""},
    {"[features]", "`byte_states`", "there are optimisers with states of 8 bits; false", ""},
    {"[features]", "`shards_states`", "ranks may divide the optimiser's state, gradients and weights (`--zero`); false", ""},
    {"[features]", "`gradients_from_start`", "gradients exist before the first backward pass; false", ""},
    {"[features]", "`loader_per_rank`",
     "every rank of a node loads for itself; false: one set of threads feeds all GPUs of a node", ""},
    {"[features]", "**`source`**", "where its figures are from", ""},
    {"[host]", "**`coupling`**",
     "`queued`: the host runs ahead; `serialized`: the device idles while the host handles each operator or operation of its "
     "engine",
     ""},
    {"[host]", "`eager`",
     "kernels are issued as the script reaches them (PyTorch): host time grows with an operator's kind, loops call every kernel, "
     "slices are views; false: from a graph known before",
     ""},
    {"[host]", "`waits_each_step`", "the script waits for the device after every step, as loops that time single steps do; false",
     ""},
    {"[host]", "**`dispatch`**, **`update_dispatch`**", "host time per operator; per parameter array of the update", ""},
    {"[host]", "**`start_up`**", "of one run, outside steady iterations", ""},
    {"[host.issue]", "**`forward`**, **`backward`**",
     "tables of the framework's own host time for an operator of the classes `view`, `elementwise`, `dropout`, `row_norm`, "
     "`batch_norm`, `convolution`, `product`, `attention`, on the reference host (`eager` only). Absent: every operator takes "
     "`dispatch`. With it, `dispatch` is what an elementwise operator takes, and others in proportion",
     ""},
    {"[host.issue]", "**`module`**", "call of a module and look-up of its children, beside the operator", ""},
    {"[host.issue]", "**`kernel`**, **`convolution`**, **`batch_norm`**, **`product`**",
     "below the framework: a kernel of its own; a call of the library's convolution, batch norm, matrix product", ""},
    {"[host.issue]", "**`cast`**, **`update`**, **`listed`**, **`replica`**",
     "an array that autocast casts; a kernel of an optimiser's loop; an array in an optimiser over lists; an array of a replica "
     "of `nn.DataParallel`",
     ""},
    {"[host.issue]", "**`source`**", "where its figures are from", ""},
    {"[host]", "**`source`**", "where its figures are from", ""},
    {"[engine]", "**`operation`**, **`operators`**",
     "a dependency engine's own host time for each of its operations, after which the host waits for the device; operators that "
     "one holds (`serialized` only). Absent: every operator is one, at no further cost",
     ""},
    {"[engine]", "`stops_at_arrays`", "an operator with arrays of its own begins an operation; true", ""},
    {"[engine]", "**`source`**", "where its figures are from", ""},
    {"[metric]", "**`operators`**, **`copies`**",
     "of a training loop that evaluates every batch: operators over the outputs, on the GPU, and copies of results to host "
     "memory, for which the script waits. Absent: it evaluates none",
     ""},
    {"[metric]", "**`source`**", "where its figures are from", ""},
    {"[operators]", "`fuses_batch_norm_relu`",
     "the ReLU after a batch norm costs nothing, with channels last also one after a sum with its result; false", ""},
    {"[operators]", "`fuses_elementwise`",
     "kernels of norms, dropout and the like take on activations and additions beside them. These then cost what they move "
     "beyond that kernel; false",
     ""},
    {"[operators]", "`reads_results_back`",
     "the gradient of such an activation reads its result (TensorFlow's ReLU); false: it is computed again", ""},
    {"[operators]", "`fuses_softmax`, `fuses_residual`",
     "scale, mask and softmax of scores are one kernel; dropout and the residual sum after it are one kernel; false", ""},
    {"[operators]", "`composes_rows`, `composes_rotary`",
     "RMS norm, rotary embedding and gates are chains of elementwise kernels; rotary embedding alone is (complex numbers, which "
     "Inductor compiles no kernels for); false, as `composes_rows`",
     ""},
    {"[operators]", "`compiles_kernels`",
     "kernels beside the libraries' are a compiler's (XLA), which load several numbers at once; false", ""},
    {"[operators]", "`inplace_activation`, `channels_last`",
     "true; false: convolutions on tensor cores turn what they read around first", ""},
    {"[operators]", "`channels_last_in_16_bits`", "convolutions in 16 bits have channels last, others not (XLA); false", ""},
    {"[operators]", "`separate_bias`", "a convolution's bias is a kernel of its own; true", ""},
    {"[operators]", "`library_sums_bias`",
     "the library sums the gradient of a convolution's bias, a block for each channel; false: the framework does", ""},
    {"[operators]", "`turns_filters`",
     "filters lie with channels last and every pass of a convolution turns them around for the library; false", ""},
    {"[operators]", "`batch_norm_forward_passes`, `batch_norm_backward_passes`", "over the tensor; 3, 5 (cuDNN)", ""},
    {"[operators]", "`fuses_linear_bias`", "a linear layer's bias is added inside its product; false", ""},
    {"[operators]", "`dropout_forward_passes`, `dropout_backward_passes`, `softmax_backward_passes`",
     "over the tensor, by all kernels that the framework composes them of; 3, 3, 3", ""},
    {"[operators]", "`norm_column_loads`",
     "a layer norm runs a block of threads for each row; the gradients of its scale and shift load so many elements of a column "
     "at "
     "once, with a block for each 32 columns. 0: bytes alone limit it",
     ""},
    {"[operators]", "`norm_splits_rows`",
     "above 65,536 rows, columns that keep less than half of the multiprocessors busy are shared by many blocks; false", ""},
    {"[operators]", "`vectorizes_16_bit`",
     "elementwise kernels load several 16-bit numbers at once; if not, boards with much bandwidth for each multiprocessor do not "
     "reach it in 16 bits; true",
     ""},
    {"[operators]", "`casts_singly`", "kernels that change the width of elements load and store one at a time; false", ""},
    {"[operators]", "`copies_promoted`",
     "under `amp` a narrow operand of a wide sum or product is cast by a kernel of its own (apex O1); false", ""},
    {"[operators]", "`narrow_norms`",
     "under `amp` layer norms cast what they read to 16 bits and write 16 bits (apex's under autocast); false: they run in fp32",
     ""},
    {"[operators]", "`amp_16_bit`",
     "under `amp` weights are 16-bit copies and only loss and update run in fp32 (apex O2); false: operators that sum run in "
     "fp32 between casts, and weights are cast where they are used (autocast, apex O1)",
     ""},
    {"[operators]", "`fused_attention`",
     "attention layers run as one kernel that keeps the scores on the chip; false: products, softmax and dropout apart", ""},
    {"[operators]", "`attention_kernel`",
     "that kernel, for 16-bit numbers; `flash-2` on devices that lack it: `flash-1`, `flash-2`, `flash-3`, `cudnn-9`, `fmha`, "
     "`aiter` and "
     "others "
     "of `kernels.toml`; `general`",
     ""},
    {"[operators]", "`fp8_recipe`",
     "how `--precision fp8` casts and scales: `tensorwise`, `rowwise`, `blockwise`, `mxfp8` or `delayed`; absent: the stack "
     "refuses it",
     ""},
    {"[operators]", "`compiles_casts`", "its casts are kernels of a compiler; as `compiles_kernels`", ""},
    {"[operators]", "`recurrent`",
     "`library`: recurrent layers are the library's, one call each; `cells`: unrolled cells of the framework's operators; "
     "`library`",
     ""},
    {"[operators]", "`persistent_recurrent`", "16-bit recurrent layers may keep their weights in registers; false", ""},
    {"[operators]", "**`source`**", "where its figures are from", ""},
    {"[update]", "**`kind`**", "`per_array` or `multi_tensor`", ""},
    {"[update]", "**`kernels_per_array`**", "1 to 16", ""},
    {"[update]", "**`passes_sgd_momentum`**, `extra_passes`", "reads and writes of the parameters; copies on top, 0", ""},
    {"[update]", "`fuses_loops`",
     "optimisers that scripts write as loops over arrays (`bert-adam`) run as multi-tensor kernels too; false", ""},
    {"[update]", "`checks_overflow`",
     "under `amp` the host reads back whether a gradient overflowed, so that it waits for backward before the update; false", ""},
    {"[update]", "`gradient_passes`, `gradient_kernels`",
     "over each array while its gradient is made: zeros written, the gradient added to them; in so many kernels an array; 0", ""},
    {"[update]", "**`source`**", "where its figures are from", ""},
    {"[memory]", "**`plan`**, **`context`**",
     "`mxnet` (static plan), `caching_allocator` (PyTorch), `bfc` (TensorFlow) or `blobs` (Caffe2: nothing is given back); "
     "device memory before the first tensor",
     ""},
    {"[memory]", "`context_per_thread`", "and for each thread that the device keeps resident; 0", ""},
    {"[memory]", "`training_start`", "what the first step adds: kernel libraries' handles, communicators; 0", ""},
    {"[memory]", "`batches_on_device`", "the one in use and those that wait there; 1", ""},
    {"[memory]", "`online_loss`, `loss_arrays`, `parallel_loss_arrays`",
     "a compiled loss keeps its 16-bit scores alone and makes their gradient at once; fp32 arrays of all scores that a loss "
     "holds "
     "beside the one it keeps and their gradient; such arrays more, where the loss is divided by words; false, 1, 0",
     ""},
    {"[memory]", "`keeps_gradients`", "gradients stay between steps and new ones are added to them; false", ""},
    {"[memory]", "`adam_arrays`",
     "arrays of a parameter's size that Adam makes besides its states, given back after the update; fused kernels make none; 0",
     ""},
    {"[memory]", "`flattens_gradients`", "an update copies all gradients into one fp32 array; false", ""},
    {"[memory]", "**`source`**", "where its figures are from", ""},
    {"[exchange]", "**`bucket`**", "gradients leave when so many bytes have gathered; `0 B`: every array is a call of its own",
     ""},
    {"[exchange]", "`copies_all_gradients`",
     "every gradient has a place of its own in some bucket all step long (DDP); false: one bucket's memory serves all", ""},
    {"[exchange]", "`overlaps_backward`", "they leave while backward runs; true", ""},
    {"[exchange]", "`first_bucket`", "of a step, where it differs (DDP)", ""},
    {"[exchange]", "`cycle`", "how often the library looks for gradients (Horovod); it is told", ""},
    {"[exchange]", "`amp_16_bit`",
     "under `amp` 16-bit gradients travel, as of a 16-bit copy of the weights; false. A network wholly in 16 bits always "
     "exchanges 16-bit gradients",
     ""},
    {"[exchange]", "`launch`", "how calls are started: `one-process`, `process-per-gpu` or `framework`; not known", ""},
    {"[exchange]", "`overlap_cost`",
     "of a second of exchange, what the kernels beside it lose; the call's share of the multiprocessors and, over PCIe, `beside` "
     "of `hardware/nccl.toml`",
     ""},
    {"[exchange]", "**`source`**", "where its figures are from", ""},
    {"[ranks]", "`spread`", "standard deviation of a rank's compute time, relative; 0.01", ""},
    {"[ranks]", "`input_copy`", "one thread copies samples to the GPUs of a node one after the other, at this rate; none does",
     ""},
    {"[ranks]", "**`source`**", "where its figures are from", ""},
    {"[parameter_server]", "**`sum`**, **`update`**, **`message`**",
     "gradients that a server adds and weights that it updates per second; host time of a message", ""},
    {"[parameter_server]", "`slice`", "largest piece of an array under `ps-p3`", ""},
    {"[parameter_server]", "`reduces_on_device`", "gradients of a node's GPUs meet on a GPU, else on the host; true", ""},
    {"[parameter_server]", "`pulls_at_step`",
     "everything is fetched when a step begins; false: an array as soon as it is updated", ""},
    {"[parameter_server]", "`variables_on_host`", "one node too keeps its variables on the host; false", ""},
    {"[parameter_server]", "**`source`**", "where its figures are from", ""},
    {"[store]", "`unlinked`",
     "MXNet's stores of one machine, copies between GPUs that no link joins: `host`, through its memory, or `two_hop`, whole "
     "arrays to a GPU of the job that is linked to both, which passes them on; `host`",
     ""},
    {"[store]", "`copy_workers`, `keys_per_group`", "copy threads per GPU, 2; arrays per reduce of the nccl store, 16", ""},
    {"[store]", "`p2p_key`, `p2p_key_peer`, `nccl_key_gpu`",
     "host time per array; and per further GPU; per array and GPU; 0, but never less than an update's", ""},
    {"[store]", "**`source`**", "where its figures are from", ""},
    {"[nccl_store]", "**`slowdown`**, **`decode_share`**",
     "what else the nccl store costs where that is known; share of the input's threads that decode meanwhile", ""},
    {"[nccl_store]", "**`source`**", "where its figures are from", ""},
    {"[input]", "`default`", "what `--input` is without being named; `synthetic`", ""},
    {"[input]", "**`mode`**", "`stream`: each thread takes the next sample; `barrier`: all threads decode one batch and wait",
     ""},
    {"[input]", "`pinned`, `copy_overlaps`",
     "batches lie in page-locked memory; they are copied beside the step before, not in the stream of its kernels; true, true",
     ""},
    {"[input]", "`synthetic_on_host`", "made-up samples (`synthetic`) too lie in host memory and are copied every step; false",
     ""},
    {"[input]", "`threads`, `prefetch`, `decode`",
     "that decode on a node, cores less one; batches ahead, 2; per sample of `default` and thread, the input's own", ""},
    {"[input]", "**`source`**", "where its figures are from", ""},
};

constexpr FileFormat kFormats[] = {
    {"Stack", "`hardware/stacks/`, or a file given as `--stack`. What is absent has the value named last, after a semicolon",
     kStack},
};

}  // namespace

std::span<const FileFormat> stack_format() { return kFormats; }

}  // namespace tbdsim
