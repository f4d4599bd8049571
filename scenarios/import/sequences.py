"""Published single-GPU training speeds of transformers, recurrent translators, detection and recommendation.

Tokens of a published rate are real ones; a step works on padded sentences. What a sentence holds on average is assumed
for the Transformer and set by two rows for GNMT (see the constants).
"""

import dataclasses
import re

import names
from tables import LeftOut, Run

BOARDS = {**names.BOARDS, "TITAN RTX": "titan-rtx", "A40": "a40", "RTX 3070": "rtx-3070",
          "A100-PCIE-40GB": "a100-pcie-40gb", "A100-SXM4-40GB": "a100-sxm4-40gb", "A100-SXM4-80GB": "a100-sxm4-80gb",
          "A100-SXM4-40GB (AWS p4d)": "a100-sxm4-40gb", "V100-SXM2-32GB": "v100-sxm2-32gb"}
AMPERE = ("a100", "a40", "a6000", "rtx-30")
PRECISIONS = {"FP32": "fp32", "fp32": "fp32", "TF32": "tf32", "TF32 (fp32 default on Ampere+)": "tf32",
              "mixed fp16": "amp", "fp16 mixed": "amp", "AMP fp16": "amp"}

# Sentences of 32 subwords on each side after padding, as in the zoo. Share of real tokens: batches of the Transformer
# are filled to a number of tokens and sorted by length (assumed); GNMT's share is set so that the two rows of the
# V100-SXM2 in fp32 of its newer containers fit.
WORDS = 32
TRANSFORMER_REAL = 0.9
GNMT_REAL = 0.76

BERT_2022 = ("a9e2c1d5fbf3", "a07d20a124b2")
# Its table of pre-training with 512 tokens holds cells of the fine-tuning table of the month before (a644350589f9: 46 and
# 47.4 at batch 10), and rates in fp32 whose batches the next version halves (3d3ff3e168a3).
BERT_MIXED_UP = "bae6e931bdfc"

SINGLE = {"BERT Pre-training": "bert-large", "BERT Fine-tuning": "bert-large-squad", "Transformer": "transformer-big",
          "GNMT": "gnmt", "NCF": "ncf", "DLRM small": "dlrm", "TransformerXL": "transformer-xl-base",
          "Transformer-XL base model": "transformer-xl-base", "Transformer-XL large model": "transformer-xl-large"}

LAMBDA = {"BERT-base SQuAD fine-tune": "bert-base-squad", "BERT-large SQuAD fine-tune": "bert-large-squad",
          "GNMT v2": "gnmt", "NCF": "ncf", "SSD300-RN50": "ssd300", "Mask R-CNN R50-FPN": "mask_rcnn",
          # Lambda's configurations leave out --adaptive, so each token is scored among all 267,735 words, and train the
          # large network with Adam (lambdal/deeplearning-benchmark, pytorch/scripts/config_v0/config_pytorch_*.sh).
          "Transformer-XL base": "transformer-xl-base@softmax", "Transformer-XL large": "transformer-xl-large@softmax",
          "ResNet-50 v1.5": "resnet50", "Tacotron2": "tacotron2", "WaveGlow": "waveglow"}

# Speech synthesis. Lambda's configurations train on segments of 8,000 samples of audio, and start mixed precision with --amp-run, which
# the scripts of container 22.09 no longer know: they ignore it (train.py reads known arguments only), and the rows of "fp16" repeat those
# of fp32. Items of Tacotron 2 are frames of the spectrogram without padding; a clip of LJ Speech has 566 on average (23:55:17 h in 13,100
# clips, 22,050 / 256 frames a second).
SEGMENT, FRAMES = 8000, 566
SPEECH = ("tacotron2", "waveglow")

# What trains each network in these examples; SGD with momentum elsewhere.
OPTIMIZERS = {"bert-base-squad": "adam", "bert-large-squad": "adam", "transformer-big": "adam", "gnmt": "adam",
              "ncf": "adam", "dlrm": "sgd", "tacotron2": "adam", "waveglow": "adam", "transformer-xl-base": "lamb", "transformer-xl-large": "lamb",
              "transformer-xl-base@softmax": "lamb", "transformer-xl-large@softmax": "adam"}
DLRM_REPRINT = "3745b498980d"
# Networks with a table of their own.
TABLES = {"ncf": "nvidia_ncf", "dlrm": "nvidia_dlrm"}
# Written with apex's fused optimisers.
FUSED = {"bert-large", "transformer-big", "gnmt", "ncf"}


def definition(model, tag):
    """The network as the examples of that time define it (PyTorch/LanguageModeling/BERT/modeling.py, run_pretraining.py and
    PyTorch/Translation/Transformer/fairseq/modules/multihead_attention.py): BERT scored every word of a sequence until
    2022, then only the masked ones, with sequences first so that products read heads where they lie."""
    if model.startswith("bert"):
        return f"{model}@strided-heads" if tag >= "22" else f"{model}@every-word" if model == "bert-large" else model
    return f"{model}@nvidia" if model == "transformer-big" else model


def for_precision(text, precision):
    """A cell that holds one number, or those of fp32 or tf32 and of mixed precision, in the order of the header. "32k": of 1,024."""
    numbers = [int(number) * (1024 if thousands else 1) for number, thousands in re.findall(r"(\d+)(k?)", text.replace(",", ""))]
    if not numbers:
        return None
    return numbers[0] if precision != "amp" else numbers[-1]


def optimizer_of(model, precision, tag=""):
    # Fine-tuning of BERT without 16 bits runs the examples' own BertAdam.
    if model.endswith("-squad") and precision != "amp":
        return "bert-adam"
    # Lambda's configurations name jitlamb; small batches show that containers from 20.10 on fuse it.
    if model == "transformer-xl-base@softmax" and tag >= "20.10":
        return "lamb-compiled"
    return OPTIMIZERS.get(model, "")


def samples_per_second(row, model, value, words):
    if model in SPEECH:
        return value / (FRAMES if model == "tacotron2" else SEGMENT)
    if row["metric"].startswith("tokens/s"):
        if model == "gnmt":
            return value / (2 * WORDS * GNMT_REAL)
        if model == "transformer-big":
            return value / (WORDS * TRANSFORMER_REAL)
        return value / words
    return value


def stack_of(tag, model, precision):
    # Fine-tuning uses apex's Adam in mixed precision only, and its O2 to this day (run_squad.py), as does NCF (ncf.py:
    # amp.initialize with opt_level O2); pre-training of BERT holds 16-bit weights, too (run_pretraining.py of 2022 calls
    # model.half() with --allreduce_post_accumulation_fp16, as scripts/run_pretraining.sh does); the rest moved to PyTorch's
    # own mixed precision.
    fine_tuning = model.endswith("-squad") and precision == "amp"
    holds_16_bits = fine_tuning or (model in ("bert-large", "ncf") and precision == "amp")
    # Mask R-CNN (tools/train_net.py) and speech synthesis (train.py) start apex at O1, where the rest holds 16-bit weights. DLRM's
    # tables are fp32, and its products run in 16 bits (dlrm/scripts/main.py).
    if model in ("mask_rcnn", "dlrm") + SPEECH and precision == "amp" and tag < "22":
        return f"pytorch-ngc-{tag}-o1"
    variant = "-apex-o2" if holds_16_bits and tag >= "22" else "-apex" if fine_tuning or model in FUSED else ""
    return f"pytorch-ngc-{tag}{variant}"


def mixed_up(row, precision):
    return row["source"].endswith(BERT_MIXED_UP) and row["seq_len"] == "512" and \
        (precision == "fp32" or row["batch_per_gpu"] == "10")


def tag_of(row):
    found = re.search(r"(\d\d\.\d\d)", row["framework"])
    if found:
        return found.group(1)
    date = re.search(r"commit date (\d{4})-(\d\d)", row["notes"])
    year = int(date.group(1))
    return {2018: "19.06", 2019: "19.06", 2020: "20.06", 2021: "20.06"}.get(year, "22.06")


def run(row, table, group, model, batch, words, tag, **fields):
    precision = PRECISIONS[row["precision"]]
    return Run(table=table, group=group, hw=BOARDS[row["device"]], model=definition(model, tag), stack=stack_of(tag, model, precision),
               precision=precision, batch=batch, seq_len=words, metric="throughput", unit="samples/s",
               source=f'{row["source"]}; {row["framework"]}', **fields)


def micro_batch(row, precision):
    """Sequences of one forward and backward pass. Accumulation steps stand beside the batch of an update."""
    batch = for_precision(row["batch_per_gpu"], precision)
    steps = re.search(r"Accumulation steps \([^)]*\)=([\d and]+)", row["notes"])
    if steps and "Accumulated Batch size" not in row["notes"]:
        batch //= for_precision(steps.group(1), precision)
    return batch, bool(steps)


def nvidia(row):
    if row["model"] not in SINGLE or not row["framework"].startswith("PyTorch"):
        return LeftOut("network, or framework of a network, that no table holds")
    if row["n_gpus"] != "1" or not row["batch_per_gpu"] or "ODD" in row["notes"]:
        return LeftOut("several GPUs, no batch, or odd")
    if row["device"] not in BOARDS or row["precision"] not in PRECISIONS:
        return LeftOut(f'board or precision: {row["device"]}, {row["precision"]}')
    model, precision, tag = SINGLE[row["model"]], PRECISIONS[row["precision"]], tag_of(row)
    if model == "dlrm" and row["source"].endswith(DLRM_REPRINT):
        return LeftOut("numbers of the version before, rounded")
    if model == "bert-large" and row["seq_len"] == "512" and row["source"].endswith(BERT_2022):
        return LeftOut("padding skipped: faster than the board's peak")
    if model == "bert-large" and mixed_up(row, precision):
        return LeftOut("cells of another table, or a batch that the next version corrects")
    batch, accumulates = micro_batch(row, precision)
    words = {"bert-large": int(row["seq_len"] or 0), "bert-large-squad": 384, "transformer-xl-base": 192,
             "transformer-xl-large": 384}.get(model, "")
    # Adding to the accumulated gradient reads two arrays and writes one, as plain SGD does; the optimiser itself runs
    # once in many steps.
    optimizer = "sgd" if accumulates else "lamb" if model == "bert-large" else optimizer_of(model, precision)
    value = samples_per_second(row, model, float(row["value"]), words)
    if model == "transformer-big":
        words, batch = WORDS, batch // WORDS
    fit = model == "gnmt" and row["device"] == "V100-SXM2-16GB" and precision == "fp32" and tag != "19.06"
    return run(row, TABLES.get(model, "nvidia_sequences"), f'nvidia-{model}-{tag}', model, batch, words, tag,
               value=value, optimizer=optimizer, use="fit" if fit else "validation", series=f'{BOARDS[row["device"]]}-{row["source"][-12:]}')


# Lambda's machines whose wiring is known, with the name of their 1-GPU run: boards on PCIe without bridges, and GPUs on the
# baseboards that the catalogue has. The runs of 2022 and later (`_v1`) and those of clouds are of virtual machines.
BOXES = {"2080Ti_trt": ("2080Ti", ""), "2080Ti_trt2": ("2080Ti", ""), "3070": ("3070", ""), "3080": ("3080", ""),
         "3090": ("3090", ""), "QuadroRTX8000_trt": ("QuadroRTX8000", ""), "QuadroRTX8000_trt2": ("QuadroRTX8000", ""),
         "A40": ("A40", ""), "A6000": ("A6000", ""), "A100_PCIe": ("A100_PCIe", ""), "A100_SXM4": ("A100_SXM4", "dgx-a100-40gb"),
         "A100_p4": ("A100_p4", "dgx-a100-40gb"), "A100_80GB_SXM4": ("A100_80GB_SXM4", "dgx-a100-80gb"),
         "V100": ("V100", "dgx1-v100-32gb")}
# They set what an exchange over PCIe takes from the kernels beside it: one box without peer access and one with it.
FIT_BOXES = ("3070", "A6000")
# Detectron's command line states the images of all GPUs.
GLOBAL_BATCH = ("mask_rcnn",)


def lambda_logs(row):
    """The 1-GPU run, and with it the runs of machines whose wiring is known."""
    single = lambda_run({**row, "n_gpus": "1"}, int(row["n_gpus"]))
    if isinstance(single, LeftOut):
        return single
    several = [box_run(row, single, box) for box, (alone, _) in BOXES.items()
               if row["system"] == alone or re.fullmatch(rf"\dx{box}", row["system"])]
    runs = [run for run in several if isinstance(run, Run)] + ([single] if row["n_gpus"] == "1" else [])
    return runs or (several[0] if several else LeftOut("several GPUs with bridges or in virtual machines: wiring not stated"))


def box_run(row, single, box):
    """A row of the scaling table: of one GPU, which every machine with such boards repeats, or of several."""
    model = single.model.partition("@")[0]
    if model == "ncf" or model.startswith("transformer-xl"):
        return LeftOut("exchanges little or, as no machine shows any loss, nothing")
    if box == "3090" and int(row["n_gpus"]) > 3:
        return LeftOut("copies between GPUs at a tenth of PCIe's rate")
    return dataclasses.replace(single, table="lambda_pytorch_multi_gpu", hw=BOXES[box][1] or single.hw,
                               group=f'lambda-pytorch-multi-gpu/{box.lower().replace("_", "-")}', gpus=int(row["n_gpus"]),
                               exchange="allreduce" if row["n_gpus"] != "1" else "", use="fit" if box in FIT_BOXES else "validation")


def lambda_run(row, gpus):
    if row["model"] not in LAMBDA:
        return LeftOut(f'network: {row["model"]}')
    if not row["batch_per_gpu"] or "p3.8xlarge" in row["system"]:
        return LeftOut("no batch, or repeated numbers")
    if row["device"] not in BOARDS or row["precision"] not in PRECISIONS:
        return LeftOut(f'board or precision: {row["device"]}, {row["precision"]}')
    if "AdaA6000" in row["system"]:
        return LeftOut("named RTX A6000, but the logs' system file says RTX 6000 Ada Generation")
    model, precision = LAMBDA[row["model"]], PRECISIONS[row["precision"]]
    if model.startswith("transformer-xl") and not row["seq_len"]:
        return LeftOut("length of the sequences not stated")
    tag = "22.09" if "22.09" in row["framework"] else "20.01"
    if ignored := ignores_precision(model, precision, tag):
        return ignored
    # Two containers share a cell; the older one's CUDA 10.2 does not know Ampere.
    if model == "ssd300" and precision == "fp32" and tag == "20.01":
        # PyTorch/Detection/SSD/src/train.py, benchmark_train_loop: neither this loop nor plain SGD waits for the device (that
        # of 22.09 does; mixed precision reads the loss scale back), and the iterator waits before the clock starts.
        return LeftOut("the clock stops when the last kernel is launched, not when the device is done")
    container = "20.10" if tag == "20.01" and BOARDS[row["device"]].startswith(AMPERE) else tag
    words = int(row["seq_len"]) if row["seq_len"] else ""
    value = samples_per_second(row, model, float(row["value"]), words)
    table = "lambda_pytorch"
    # Two containers on the same boards set what a library gains in its first years.
    fit = model == "resnet50" and precision == "tf32"
    batch = int(row["batch_per_gpu"]) // (gpus if model in GLOBAL_BATCH else 1)
    return run(row, table, f'lambda-{model.split("@")[0]}-{tag}/{precision}', model, batch, words, container, value=value,
               use="fit" if fit else "validation",
               optimizer=optimizer_of(model, precision, container), series=re.sub(r"[^a-z0-9]+", "-", row["system"].lower()), run=row["source"].split("@")[0][-60:])


def ignores_precision(model, precision, tag):
    return LeftOut("mixed precision asked for by an option that the script ignores") \
        if model in SPEECH and precision == "amp" and tag >= "22" else None


def sockeye(row):
    """Sockeye by batch on one board, and on three boards at batch 128. The boards of the latter are recollections of the
    Echo authors' paper; their rates with MXNet's own reverse kernel set the latency of that kernel, so these fit."""
    if not row["quantity"].startswith("training throughput") or row["unit"] != "samples/s":
        return LeftOut("not a training rate")
    if row["network"] != "Sockeye tbd hyper-parameters" or row["method"] not in ("default", "MXNet 0.12.1 legacy backprop"):
        return LeftOut("Sockeye with other hyper-parameters or with kernels of the Echo authors")
    board = next((hw for word, hw in (("TITAN Xp", "titan-xp"), ("Volta", "titan-v"), ("Turing", "rtx-2080-ti"))
                  if word in row["hardware"]), None)
    if board is None or not row["batch"]:
        return LeftOut("board or batch not stated")
    full = "full_training" in row["source"]
    return Run(table="sockeye", group="sockeye-full" if full else "sockeye-batch", hw=board, model="sockeye", stack="mxnet-0.12", precision="fp32",
               batch=int(row["batch"]), optimizer="adam", metric="throughput", unit="samples/s", value=float(row["value"]),
               use="fit" if board != "titan-xp" else "validation", series=board, source=f'{row["source"]}; MXNet 0.12.1 fork')
