"""Published scaling tables: which rows enter which measured-run table, and what each leaves out.

Every series keeps its 1-GPU row, so that scaling efficiency can be read off.
"""

import sequences
from names import BOARDS
from tables import LeftOut, common

REAL_INPUT = LeftOut("real input")

# Rows that set the four constants of MXNet's scaling: those of one machine (1 to 16 GPUs).
MXNET_FIT_NODES = 1


def mxnet_2016(row):
    """MXNet's scaling table of 2016: up to 16 machines of 16 K80 dies, real ImageNet from memory-cached records."""
    nodes = int(row["n_nodes"])
    return common(row, table="mxnet_2016_multi_gpu", group="mxnet-2016-scaling/k80", hw="aws-p2.16xlarge",
                  stack="mxnet-0.9", exchange="ps" if int(row["n_gpus"]) > 1 else "",
                  use="fit" if nodes == MXNET_FIT_NODES else "validation",
                  source=f'{row["source"]}; {row["framework"]}, {row["system"]}')


def tensorflow_cluster(row):
    """TensorFlow's cluster of p2.8xlarge: distributed_replicated with parameter servers beside the workers."""
    return common(row, table="tensorflow_2017_distributed_multi_gpu", group="tensorflow-2017-distributed/k80", hw="k80",
                  stack="tensorflow-1.3", network_name="ethernet-10g" if int(row["n_nodes"]) > 1 else "",
                  exchange="ps",
                  source=f'{row["source"]}; TensorFlow of May 2017, {row["system"]}; {row["notes"]}')


def cscs(row):
    if "synthetic" not in row["dataset"]:
        return REAL_INPUT
    if "p2.8xlarge" not in row["system"]:
        return LeftOut("one GPU to a node, on a network whose bandwidth is not stated, and an unstated number of servers")
    return common(row, table="cscs_multi_gpu", group="cscs-tensorflow-1.1/k80", hw="k80", stack="tensorflow-1.3",
                  network_name="ethernet-10g" if int(row["n_nodes"]) > 1 else "",
                  exchange="ps",
                  source=f'{row["source"]}; {row["framework"]}; {row["system"]}; {row["notes"]}')


def lambda_precision(row):
    """TensorFlow computes in tf32 from 2.4 on; NVIDIA's own builds of 1.15 do before."""
    fp32 = row["precision"].startswith("FP32")
    ampere = row["precision"].startswith("FP32/TF32") and "TF2.3" not in row["framework"]
    return "tf32" if ampere else "fp32" if fp32 else "fp16"


# Slower than in fp32 on the same board by a factor of five, with and without XLA, from one GPU on.
ODD_A100 = LeftOut("VGG-16 in fp16 on A100: a fifth of its rate in fp32")


def odd_vgg(row):
    return row["device"] == "A100-SXM4-40GB" and row["model"] == "vgg16" and row["precision"].startswith("fp16")


def lambda_real_input(row):
    """ImageNet from record files, decoded by the CPUs of a machine that the catalogue knows."""
    if row["device"] != "A100-SXM4-40GB":
        return LeftOut("real input, and cores or storage not stated")
    if odd_vgg(row):
        return ODD_A100
    xla = "-xla" if "XLA" in row["framework"] else ""
    return common(row, table="lambda_real_input", group=f"lambda-real-input{xla}/dgx-a100-40gb", hw="dgx-a100-40gb",
                  stack=f"tensorflow-2.3{xla}", precision=lambda_precision(row),
                  exchange="allreduce" if int(row["n_gpus"]) > 1 else "", input="imagenet-records",
                  source=f'{row["source"].split(":")[0]}; tf_cnn_benchmarks, {row["notes"].split(";")[0]}; {row["source"].split("/")[2]}@{row["source"].rsplit("@", 1)[1]}')


def lambda_xla(row):
    if "_NVLink_" in row["system"]:
        return LeftOut("GPUs in pairs over NVLink bridges: which two are bridged is not stated")
    board = BOARDS.get(row["device"])
    hw = {"7742-A100-SXM4-40GB_TF2_3_XLA": "dgx-a100-40gb"}.get(row["system"], board)
    if row["device"].startswith("V100"):
        return LeftOut("no 1-GPU row to go with it")
    words = row["framework"].split()
    version = next((word[2:] for word in words if word.startswith("TF") and word[2:3].isdigit()), "1.15")
    if odd_vgg(row):
        return ODD_A100
    precision = lambda_precision(row)
    server = "parameter_server" in row["notes"]
    several = int(row["n_gpus"]) > 1
    box = row["system"].replace("_XLA", "").replace("GeForce_", "").replace("Quadro_", "").lower().replace("_", "-")
    return common(row, table="lambda_xla_multi_gpu", group=f'lambda-xla{"-ps" if server else ""}/{box}', hw=hw,
                  stack=f"tensorflow-{version}-xla", precision=precision,
                  exchange=("ps" if server else "allreduce") if several else "",
                  source=f'{row["source"].split(":")[0]}; tf_cnn_benchmarks, {row["notes"].split(";")[0]}; '
                         f'{row["source"].split("/")[2]}@{row["source"].rsplit("@", 1)[1]}')


def horovod(row):
    """Claims of scaling efficiency; a ratio of two systems or a throughput is no efficiency."""
    if row["metric"] != "scaling efficiency %":
        return LeftOut("a ratio of two systems, or a throughput without a 1-GPU row")
    if "BERT" in row["model"]:
        return LeftOut("machine and sequence length not stated enough to describe the run")
    return common(row, table="horovod_multi_gpu", group="horovod-claims/p100", hw="p100-pcie-16gb",
                  stack="tensorflow-1.4", network_name="ethernet-25g-roce", exchange="allreduce",
                  metric="efficiency", unit="1", value=float(row["value"]) / 100.0,
                  source=f'{row["source"]}; {row["interconnect"]}; {row["notes"]}')


NVIDIA_SYSTEMS = {"DGX-1": {"V100-SXM2-16GB": "dgx1", "V100-SXM2-32GB": "dgx1-v100-32gb"},
                  "DGX-2": {"V100-SXM3-32GB": "dgx2"},
                  "DGX A100": {"A100-SXM4-40GB": "dgx-a100-40gb", "A100-SXM4-80GB": "dgx-a100-80gb"}}
NVIDIA_STACKS = {"mxnet": "mxnet-ngc-20.03", "pytorch": "pytorch-1.4", "tensorflow": "tensorflow-1.15"}


def nvidia_stack(row, family, precision):
    """MXNet's runner puts channels last and fuses batch norm, sum and ReLU in fp16; PyTorch's configs.yml has
    `memory_format: nhwc` for mixed precision since 2021, and plain fp32 and tf32 (NVIDIA/DeepLearningExamples:
    MxNet/Classification/RN50v1.5/runner, PyTorch/Classification/ConvNets/configs.yml)."""
    if family == "mxnet" and precision == "amp":
        return "mxnet-ngc-23.04-nhwc" if "22.10" in row["framework"] else "mxnet-ngc-20.03-nhwc"
    if family == "pytorch" and "commit date 2021" in row["notes"]:
        return "pytorch-ngc-20.12-nhwc" if precision == "amp" else "pytorch-ngc-20.12"
    return NVIDIA_STACKS[family]


def nvidia_resnet50(row):
    if row["model"].lower() not in ("rn50v1.5", "resnet50v1.5") or row["metric"] != "images/s":
        return LeftOut("not ResNet-50 v1.5 by images/s")
    hw = NVIDIA_SYSTEMS.get(row["system"], {}).get(row["device"])
    if hw is None:
        return LeftOut("machine or board not stated")
    family = row["framework"].split()[0].lower()
    if family not in NVIDIA_STACKS:
        return LeftOut("PaddlePaddle: no such stack")
    words = row["precision"].split()
    if "+ASP" in words:
        return LeftOut("sparse weights")
    precision = {"FP32": "fp32", "TF32": "tf32", "mixed": "amp"}[words[0]]
    xla = "-xla" if "+XLA" in words else ""
    # The READMEs recommend 128 for fp32 and 256 for mixed precision where they say anything.
    batch = 256 if precision == "amp" or "A100" in row["device"] else 128
    stack = nvidia_stack(row, family, precision)
    return common(row, table="nvidia_resnet50_multi_gpu", group=f"nvidia-resnet50-{family}{xla}/{hw}", hw=hw,
                  model="resnet50", stack=stack + xla, precision=precision, batch=batch,
                  series=stack.split("-ngc-")[1] if stack not in NVIDIA_STACKS.values() else "",
                  exchange="allreduce" if int(row["n_gpus"]) > 1 else "",
                  run=row["source"].rsplit("@", 1)[1], source=f'{row["source"].rsplit("@", 1)[0]}; batch as recommended')


# One flat array after backward, as scripts/run_pretraining.sh sets it (--allreduce_post_accumulation); without that apex's
# DistributedDataParallel with message_size=250000000, nearly all of the network (PyTorch/LanguageModeling/BERT/run_pretraining.py).
BERT_EXCHANGE = "--set stack.exchange.overlaps_backward=false"


def nvidia_bert(row):
    """BERT-large pre-training by phase. Newer tables state the batch of an update, whose micro-batches differ by GPU count."""
    if row["model"] != "BERT Pre-training" or not row["framework"].startswith("PyTorch") or not row["batch_per_gpu"].isdigit():
        return LeftOut("not BERT-large by micro-batch")
    hw = NVIDIA_SYSTEMS.get(row["system"], {}).get(row["device"])
    if hw is None or row["n_nodes"] not in ("", "1") or not row["seq_len"]:
        return LeftOut("machine or length not stated, or several nodes without a 1-GPU row")
    precision, tag = sequences.PRECISIONS[row["precision"]], sequences.tag_of(row)
    if sequences.mixed_up(row, precision):
        return LeftOut("cells of another table, or a batch that the next version corrects")
    return common(row, table="nvidia_bert_multi_gpu", group=f"nvidia-bert-large/{hw}", hw=hw, options=BERT_EXCHANGE,
                  model=sequences.definition("bert-large", tag), stack=sequences.stack_of(tag, "bert-large", precision), precision=precision,
                  seq_len=int(row["seq_len"]), optimizer="lamb", exchange="allreduce" if int(row["n_gpus"]) > 1 else "",
                  run=row["source"].rsplit("@", 1)[1], source=row["source"].rsplit("@", 1)[0])
