"""Published steps of PyTorch networks that wait for the host as often as for the GPU: one GPU and `nn.DataParallel`.

Rows whose network or board the catalogue lacks are counted in the index and enter when it has them.
"""

import pathlib
import re
import subprocess
import sys

import sequences
from tables import LeftOut, Run

HARDWARE = pathlib.Path(__file__).resolve().parents[2] / "hardware"
sys.path.append(str(HARDWARE / "import"))
import cpus  # pylint: disable=wrong-import-position

# Board names of lambda_pytorch_more_boards.
BOARDS = {"RTX 4090": "rtx-4090", "RTX A4000": "a4000", "RTX A5000": "a5000", "Quadro RTX 5000": "rtx-5000",
          "RTX 2070 Max-Q (laptop)": "rtx-2070-max-q", "RTX 2080 Super Max-Q (laptop)": "rtx-2080-super-max-q"}

# Systems of ryujaehun/pytorch-gpu-benchmark: a word of the group, a machine of the catalogue, and the speed of its CPU, which only the
# Station's is known of. Others are fitted on every second network, one GPU, fp32 (in steps of 0.02; from 0.9 on hardly a row waits).
MACHINES = {"DGX Station": ("station", "dgx-station", None), "4x 2080Ti server (24-core)": ("server", "rtx-2080-ti", 0.58),
            "workstation": ("workstation", "rtx-2080-ti", 0.62), "workstation (gpu1)": ("workstation-1", "rtx-2080-ti", 1),
            "workstation (gpu2)": ("workstation-2", "rtx-2080-ti", 1)}
# The batch of the repository's README, for files that do not state theirs.
README_BATCH = 12
# Both repositories time single steps, between two waits for the device.
WAITS = "--set stack.host.waits_each_step=true"
# The scripts of 2020 copy a batch from pageable host memory in the timed region; those of 2018 made it on the GPU.
COPIED = " --set stack.input.synthetic_on_host=true --set stack.input.pinned=false"
# Hugging Face's networks of that time wrote attention as products: they run as under PyTorch 1.13, whose stack knows no fused
# attention, but drop gradients as 2.0 does.
SEPARATE_STACK, SEPARATE = "pytorch-1.13", " --set stack.update.gradient_passes=0"

# Names of TorchBench that the catalogue has under timm's, and timm's definition of a network that torchvision defines as well; it takes
# the others of benchmarks/dynamo as they are.
DYNAMO = {"dlrm": "dlrm-torchbench", "timm_nfnet": "dm_nfnet_f0", "timm_regnet": "regnety_120", "timm_efficientdet": "tf_efficientdet_d1",
          "convnext_base": "convnext_base@timm"}

# Pages of February 2023 and later: plain SGD has been part of an iteration since January (pytorch/pytorch pull request 92649 shows
# init_optimizer of benchmarks/dynamo/common.py on 2023-01-19). Before, the optimiser did nothing (pull request 87311).
DYNAMO_UPDATES = ("issues/96191", "issues/96192", "expected_ci_perf_inductor")
# Without an optimiser even then: CI_SKIP_OPTIMIZER of that file, as of 2023. Later copies of the list name dlrm, too; that its steps include
# SGD was concluded from the rows themselves, so they count as fitted.
DYNAMO_SKIPS = ("convmixer_768_32", "PegasusForConditionalGeneration")

# A step of DLRM takes 2,048 records whatever batch is asked for: the batch says how many such steps' records are made beforehand
# (torchbenchmark/models/dlrm, mini_batch_size, num_batches).
DYNAMO_BATCH = {"dlrm": 2048}

# Lengths of their sequences: benchmarks/dynamo/huggingface.py (get_sequence_length); TorchBench's `hf_` networks train on their
# first length (torchbenchmark/util/framework/huggingface/model_factory.py, recalled).
DYNAMO_WORDS = {"AlbertForMaskedLM": 512, "BartForConditionalGeneration": 1024, "DebertaV2ForQuestionAnswering": 512,
                "MegatronBertForQuestionAnswering": 512, "AllenaiLongformerBase": 1024, "PegasusForConditionalGeneration": 128,
                "DistilBertForQuestionAnswering": 128, "hf_GPT2_large": 512, "hf_T5": 1024, "hf_BigBird": 1024, "hf_Reformer": 4096}

# Lambda's configuration of one A4000 (lambdal/deeplearning-benchmark, pytorch/scripts/config/config_pytorch_A4000.sh@71b30158):
# batches by network in 16 bits and without. The logs themselves do not state them.
A4000_BATCH = {"ssd300": (88, 48), "resnet50": (288, 152), "bert-base-squad": (32, 16), "bert-large-squad": (8, 4),
               "ncf": (2800000, 1400000), "transformer-xl-base@softmax": (12, 8), "transformer-xl-large@softmax": (4, 2),
               "tacotron2": (64, 52), "waveglow": (10, 5)}
# Target length of Transformer-XL in all of Lambda's configurations.
WORDS = {"transformer-xl-base@softmax": 192, "transformer-xl-large@softmax": 256}
CONTAINERS = {"1.4.0a0+a5b4d78": "20.01", "1.9.0a0+df837d0": "21.03", "1.13.0a0+d0d6b1f": "22.09"}


# Every second network in alphabetical order sets the host's times, where the host is known, or the speed of the host.
NETWORKS = ("densenet121 densenet161 densenet169 densenet201 mnasnet0_5 mnasnet0_75 mnasnet1_0 mnasnet1_3 mobilenet_v2 resnet101 "
            "resnet152 resnet18 resnet34 resnet50 resnext101_32x8d resnext50_32x4d shufflenet_v2_x0_5 shufflenet_v2_x1_0 "
            "shufflenet_v2_x1_5 shufflenet_v2_x2_0 squeezenet1_0 squeezenet1_1 vgg11 vgg11_bn vgg13 vgg13_bn vgg16 vgg16_bn vgg19 "
            "vgg19_bn wide_resnet101_2 wide_resnet50_2").split()
FITTED = set(NETWORKS[::2])


class Catalogue:
    """What the catalogue of a built program holds."""

    def __init__(self, program):
        listed = subprocess.run([program, "list", "models", "--format", "csv"], check=True, capture_output=True, text=True).stdout
        self.networks = {cell.split("@")[0] for line in listed.splitlines() for cell in line.split(",")[:2]}

    def has(self, network):
        return network.split("@")[0] in self.networks


def ryujaehun(row, catalogue):
    system = row["system"].strip()
    group, machine, speed = MACHINES[system]
    options = WAITS + (f" --set hw.host.single_thread={speed}" if speed else "") + (COPIED if "H2D input copy" in row["notes"] else "")
    network, gpus = row["model"], int(row["n_gpus"])
    if not catalogue.has(network):
        return LeftOut(f"network not in the catalogue: {network}")
    stack = "pytorch-" + re.search(r"PyTorch (\d+\.\d+)", row["framework"]).group(1)
    fields = dict(hw=machine, model=network, stack=stack, precision="fp16" if "fp16" in row["precision"] else "fp32",
                  batch=int(row["batch_per_gpu"] or README_BATCH), metric="step_time_s", unit="s", value=float(row["value"]) / 1e3,
                  optimizer="none", options=options,
                  source=f'{row["source"]}; {row["framework"]}, {system}' + ("" if row["batch_per_gpu"] else
                                                                             "; batch not stated: the README's"))
    fits = gpus == 1 and network in FITTED and (group == "station" or fields["precision"] == "fp32")
    fields["use"] = "fit" if fits else "validation"
    single = Run(table="ryujaehun", group=f'ryujaehun-{group}/{fields["precision"]}', **fields)
    several = Run(table="ryujaehun_multi_gpu", group=f'ryujaehun-multi-gpu-{group}/{fields["precision"]}', gpus=gpus,
                  exchange="dataparallel" if gpus > 1 else "", **fields)
    if gpus > 1:
        return several
    return [single, several] if group in ("station", "server") else single


def torchdynamo(row, catalogue):
    network = DYNAMO.get(row["model"], row["model"])
    if not catalogue.has(network):
        return LeftOut(f'network not in the catalogue: {row["model"]}')
    precision = "amp" if row["precision"].startswith("AMP") else "tf32"
    compiled = "inductor" in row["framework"]
    separate = row["model"] in DYNAMO_WORDS and not compiled
    updates = any(page in row["source"] for page in DYNAMO_UPDATES) and row["model"] not in DYNAMO_SKIPS
    group = "compiled" if compiled else precision
    return Run(table="torchdynamo", group=f"torchdynamo/{group}", hw="a100-sxm4-40gb", model=network,
               stack=SEPARATE_STACK if separate else "pytorch-2.0-compile" if compiled else "pytorch-2.0", precision=precision,
               batch=DYNAMO_BATCH.get(row["model"], int(row["batch_per_gpu"])),
               metric="step_time_s", unit="s", value=float(row["value"]) / 1e3,
               optimizer="sgd" if updates else "none", seq_len=DYNAMO_WORDS.get(row["model"], ""),
               options=WAITS + (SEPARATE if separate else ""),
               # Sets the instructions of a depthwise kernel (model/cost/convolution.cpp).
               use="fit" if network in ("convmixer_768_32", "dlrm-torchbench") else "validation", run=row["source"].split("(")[0].split("/")[-1].strip(),
               source=f'{row["framework"]}, {row["system"]}; {row["notes"].split(";")[0]}')


def lambda_more(row, catalogue):  # pylint: disable=unused-argument
    if row["model"] not in sequences.LAMBDA:
        return LeftOut(f'network: {row["model"]}')
    if row["n_gpus"] != "1" or "ODD" in row["notes"]:
        return LeftOut("several GPUs, or odd")
    model, precision = sequences.LAMBDA[row["model"]], sequences.PRECISIONS[row["precision"]]
    board = BOARDS[row["device"]]
    if not (HARDWARE / "gpus" / f"{board}.toml").exists():
        return LeftOut(f'board not in the catalogue: {row["device"]}')
    batch = int(row["batch_per_gpu"]) if row["batch_per_gpu"] else None
    if batch is None and board == "a4000":
        batch = A4000_BATCH[model][0 if precision == "amp" else 1]
    if batch is None:
        return LeftOut("batch not stated")
    if model == "waveglow" and board == "a4000" and precision == "amp":
        return LeftOut("WaveGlow in 16 bits on A4000: an eighth of its rate in tf32")
    version = row["framework"].split()[1]
    tag, words = CONTAINERS[version], WORDS.get(model, "")
    if ignored := sequences.ignores_precision(model, precision, tag):
        return ignored
    if model == "ssd300" and precision != "amp" and tag != "22.09":
        return LeftOut("the clock stops when the last kernel is launched, not when the device is done")
    if model == "bert-base-squad" or model == "bert-large-squad":
        words = 384
    value = sequences.samples_per_second(row, model, float(row["value"]), words)
    cpu = re.search(r"cpu=([^;]*)", row["notes"]).group(1)
    found = sequences.run({**row, "device": "RTX 3090"}, "lambda_pytorch_more_boards",
                          f'lambda-more-boards-{board}/{precision}', model, batch, words, tag, value=value,
                          optimizer=sequences.optimizer_of(model, precision, tag), run=row["source"].split("@")[0][-60:])
    found.hw, found.source = board, f"{found.source}; {cpu.strip()}"
    if speed := cpus.single_thread(cpu):
        found.options = f"--set hw.host.single_thread={speed[0]}"
    return found
