"""Walks verbs x options: every option of every verb has an effect on what is printed, or is refused with an exact message, or is
listed here with the reason why it changes nothing there. The same for rows of measured-run tables, claims and grids.

The options are read from `tbdsim VERB --help`, so a new one fails here until it has a line. That makes the file long.

Usage: options_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

# What is expected of an option: words to add to a command, and what they do to its output.
EFFECT = "effect"


class Refused(str):
    """The whole of stderr, without its newline."""


class Nothing(str):
    """Why the output stays as it is."""


ONE = "--hw dgx1 --model resnet50 --gpus 1 --batch 16"
EIGHT = "--hw dgx1 --model resnet50 --batch 16"
NODES = EIGHT + " --nodes 2"
LOADS = EIGHT + " --input imagenet-records"
SLOWED = "--hw dgx1 --model alexnet --batch 16 --input imagenet-records"  # the host decodes too slowly
BERT = "--hw dgx1 --model bert-base --batch 4"
GPT = "--hw dgx1 --model gpt2 --batch 4 --gpus 8"
FUSED = "--hw dgx-a100-80gb --model llama-3.2-1b --precision bf16 --batch 1 --gpus 8"
EXPERTS = "--hw dgx-a100-80gb --model qwen3-30b-a3b --precision bf16 --batch 1 --gpus 8"
SHARDED = FUSED + " --stack deepspeed-0.14"
KEPT = FUSED + " --stack megatron-core-0.8"
STAGES = GPT + " --pipeline-parallel 2 --accumulate 4"
GNMT = "--hw titan-xp --model gnmt --stack pytorch-ngc-20.06-apex"
OFFLOADS = ("offload.json:3:59: zero_optimization.offload_optimizer.device nvme: states on disks is not modelled (modelled: none, cpu)\n"
            "tbdsim: --unmodelled allow predicts without what is not modelled")

PLANNED = "--hw dgx-a100-80gb --model gpt3-760m --gpus 8 --global-batch 32"
PLANNED_EXPERTS = "--hw dgx-a100-80gb --model qwen3-30b-a3b --gpus 8 --global-batch 8"

# Options of a divided network.
LAYOUT = {
    "--tensor-parallel": ("--tensor-parallel 4", EFFECT, GPT),
    "--sequence-parallel": ("--sequence-parallel off", EFFECT, GPT + " --tensor-parallel 4"),
    "--context-parallel": ("--context-parallel 2", EFFECT, FUSED),
    "--expert-parallel": ("--expert-parallel 4", EFFECT, EXPERTS),
    "--expert-tensor-parallel": ("--expert-tensor-parallel 1", EFFECT, EXPERTS + " --tensor-parallel 2 --expert-parallel 4"),
    "--pipeline-parallel": ("--pipeline-parallel 4", EFFECT, GPT + " --accumulate 4"),
    "--virtual-stages": ("--virtual-stages 2", EFFECT, STAGES),
    "--first-stage-layers": ("--first-stage-layers 4", EFFECT, STAGES),
    "--last-stage-layers": ("--last-stage-layers 4", EFFECT, STAGES),
    "--stage-layers": ("--stage-layers 5,7", EFFECT, STAGES),
    "--schedule": ("--schedule gpipe", EFFECT, STAGES),
    "--zero": ("--zero 2", EFFECT, GPT),
    "--offload": ("--offload states", EFFECT, SHARDED),
    "--offload-share": ("--offload-share 0.5", EFFECT, SHARDED + " --offload states"),
    "--offload-layers": ("--offload-layers 8", EFFECT, KEPT),
}
# Options that describe a job. Option, then what to add, then the command that it is added to.
JOB = {
    "--hw": ("--hw k80", EFFECT, "--model resnet50 --batch 16 --gpus 1 --stack mxnet-1.2", "--hw p4000"),
    "--model": ("--model vgg16", EFFECT, "--hw dgx1 --batch 16", "--model resnet50"),
    "--gpus": ("--gpus 4", EFFECT, EIGHT),
    "--nodes": ("--nodes 2", EFFECT, EIGHT),
    "--devices": ("--devices 0,5", EFFECT, EIGHT + " --gpus 2"),
    "--network": ("--network ethernet-10g", EFFECT, NODES),
    "--batch": ("--batch 64", EFFECT, "--hw dgx1 --model resnet50"),
    "--accumulate": ("--accumulate 2", EFFECT, EIGHT),
    "--image": ("--image 299", EFFECT, EIGHT),
    "--seq-len": ("--seq-len 256", EFFECT, BERT),
    "--buckets": ("--buckets", EFFECT, GNMT),
    "--precision": ("--precision amp", EFFECT, EIGHT),
    "--stack": ("--stack mxnet-1.2", EFFECT, EIGHT),
    "--exchange": ("--exchange p2p", EFFECT, EIGHT + " --stack mxnet-1.2"),
    "--optimizer": ("--optimizer adam", EFFECT, EIGHT),
    "--input": ("--input imagenet-records", EFFECT, EIGHT),
    "--storage": ("--storage hdd", EFFECT, EIGHT + " --input imagenet-files"),
    "--workers": ("--workers 1", EFFECT, LOADS),
    "--input-hosts": ("--input-hosts 4", EFFECT, SLOWED),
    "--mock-loader": ("--mock-loader", EFFECT, LOADS),
    "--mock-trainer": ("--mock-trainer", EFFECT, LOADS),
    "--recompute": ("--recompute block", EFFECT, EIGHT),
    "--attention": ("--attention unfused", EFFECT, FUSED),
    "--global-batch": ("--global-batch 512", EFFECT, EIGHT),
    "--layout-from": ("--layout-from layout.txt", EFFECT, FUSED),
    "--unmodelled": ("--unmodelled refuse", Refused(OFFLOADS), FUSED + " --layout-from offload.json"),
    "--set": ("--set hw.device.memory_bandwidth=2x", EFFECT, EIGHT),
    "--what-if": ("--what-if amp", EFFECT, EIGHT),
    "--calibration": ("--calibration anchors.toml", EFFECT, EIGHT),
    "--format": ("--format json", EFFECT, EIGHT),
}
LOADING = "tbdsim: %s: the memory of GPUs does not depend on how samples are loaded"
RESIDENT = "tbdsim: %s: samples take memory of GPUs only with --storage gpu-memory"
LISTS = "--model resnet50 --gpus 1 --batch 16"
SWEPT = "--hw dgx1 --model resnet50 --gpus 1,2 --batch 16"

TABLE = {
    "predict": dict(JOB, **LAYOUT, **{
        "--layers": ("--layers", EFFECT, ONE),
        "--kernels": ("--kernels", EFFECT, ONE),
        "--links": ("--links", EFFECT, EIGHT),
        "--host": ("--host", EFFECT, ONE),
        "--report": ("--report page.html", "page.html", ONE),
        "--prices": ("--prices prices.toml", EFFECT, EIGHT),
        "--trace": ("--trace step.json", "step.json", ONE),
        "--from-trace": ("--from-trace kineto.json", EFFECT, ONE),
        "--profiling": ("--profiling", EFFECT, ONE),
        "--skip": ("--skip 5", EFFECT, ONE + " --profiling"),
        "--iterations": ("--iterations 9", EFFECT, ONE + " --profiling"),
        "--samples": ("--samples 256K", EFFECT, ONE),
        "--epochs": ("--epochs 3", EFFECT, ONE + " --samples 256K"),
        "--tokens": ("--tokens 300B", EFFECT, FUSED),
        "--as": ("--as megatron", EFFECT, FUSED),
        "--seed": ("--seed 2", EFFECT, "--hw dgx1 --model lenet --image 224 --stack mxnet-18.04 --batch 16 --format json"),
    }),
    "explain": dict(JOB, **LAYOUT, **{
        "--layers": ("--layers", EFFECT, ONE),
        "--measured": ("--measured 97ms", EFFECT, ONE),
        "--report": ("--report page.html", "page.html", ONE),
    }),
    "scale": dict({name: line for name, line in JOB.items() if name not in ("--gpus", "--nodes", "--devices")}, **LAYOUT, **{
        "--gpus": ("--gpus 1,2", EFFECT, "", "--gpus 1"),
        "--nodes": ("--nodes 1,2", EFFECT, "", "--gpus 1"),
        "--samples": ("--samples 512K", EFFECT, "--hw dgx1 --model resnet50 --gpus 2", "--samples 256K"),
        "--model": ("--model resnet50,vgg16", EFFECT, "--hw dgx1 --batch 16", "--model resnet50"),
        "--batch": ("--batch 16,32", EFFECT, "--hw dgx1 --model resnet50", "--batch 16"),
        "--exchange": ("--exchange p2p,nccl", EFFECT, EIGHT + " --stack mxnet-1.2", "--exchange p2p"),
        "--input-hosts": ("--input-hosts 4", EFFECT, SLOWED + " --gpus 8"),
        "--unmodelled": ("--unmodelled refuse", Refused(re.sub("(:59|tbdsim): ", r"\1: 1 GPU on 1 node: ", OFFLOADS)), FUSED + " --layout-from offload.json"),
        "--weak": ("--weak", EFFECT, ""),
        "--report": ("--report page.html", "page.html", "--hw dgx1 --model resnet50 --gpus 1"),
        "--fixed-global-batch": ("--fixed-global-batch", EFFECT, ""),
        "--seed": ("--seed 2", EFFECT, "--hw dgx1 --model lenet --image 224 --stack mxnet-18.04 --batch 16 --format json"),
    }),
    "memory": dict({name: line for name, line in JOB.items() if name != "--calibration"}, **LAYOUT, **{
        "--network": ("--network ethernet-10g", Refused("tbdsim: --network: the memory of GPUs does not depend on the network between nodes"), NODES),
        "--buckets": ("--buckets", Refused("tbdsim: --buckets: memory is that of the longest sequences in any case; --seq-len names another length"), EIGHT),
        "--input": ("--input imagenet-records", Refused(RESIDENT % "--input"), EIGHT),
        "--storage": ("--storage gpu-memory --input imagenet-records", EFFECT, EIGHT + " --nodes 8"),
        "--workers": ("--workers 4", Refused(LOADING % "--workers"), EIGHT),
        "--input-hosts": ("--input-hosts 4", Refused(LOADING % "--input-hosts"), EIGHT),
        "--mock-loader": ("--mock-loader", Refused(LOADING % "--mock-loader"), EIGHT),
        "--mock-trainer": ("--mock-trainer", Refused(LOADING % "--mock-trainer"), EIGHT),
        "--batch": ("--batch 16,32", EFFECT, "--hw dgx1 --model resnet50", "--batch 16"),
        "--by": ("--by layer", EFFECT, EIGHT),
        "--max-batch": ("--max-batch", EFFECT, ONE),
        "--report": ("--report page.html", "page.html", EIGHT),
        "--set": ("--set hw.device.memory_capacity=2x", EFFECT, EIGHT),
    }),
    "network": dict(JOB, **LAYOUT, **{
        "--buckets": ("--buckets", Refused("tbdsim: --buckets: arrays are profiled at one length; name it with --seq-len"), GNMT),
        "--mock-trainer": ("--mock-trainer", Refused("tbdsim: --mock-trainer: what trains nothing exchanges no gradients"), LOADS),
        "--target": ("--target 50%", EFFECT, NODES),
        "--top": ("--top 3", EFFECT, NODES),
        "--report": ("--report page.html", "page.html", NODES),
        "--hw": ("--hw dgx1-p100", EFFECT, "--model resnet50 --nodes 2", "--hw dgx1"),
        "--nodes": ("--nodes 4", EFFECT, EIGHT, "--nodes 2"),
        "--devices": ("--devices 0,5", EFFECT, EIGHT + " --nodes 2", "--devices 0,1"),
        "--exchange": ("--exchange ps", EFFECT, NODES + " --stack mxnet-1.2"),
    }),
    "compare": {
        "--hw": ("--hw dgx1,dgx1-p100", EFFECT, LISTS, "--hw dgx1"),
        "--model": ("--model resnet50,vgg16", EFFECT, "--hw dgx1", "--model resnet50"),
        "--stack": ("--stack mxnet-1.2,pytorch-1.12", EFFECT, ONE),
        "--gpus": ("--gpus 1,2", EFFECT, EIGHT),
        "--nodes": ("--nodes 1,2", EFFECT, EIGHT),
        "--devices": ("--devices 0,5", EFFECT, EIGHT + " --gpus 2"),
        "--network": ("--network ethernet-10g,infiniband-edr", EFFECT, NODES),
        "--batch": ("--batch 16,32", EFFECT, "--hw dgx1 --model resnet50"),
        "--accumulate": ("--accumulate 1,2", EFFECT, EIGHT),
        "--image": ("--image 224,299", EFFECT, ONE),
        "--seq-len": ("--seq-len 128,256", EFFECT, BERT),
        "--precision": ("--precision fp32,amp", EFFECT, ONE),
        "--exchange": ("--exchange p2p,nccl", EFFECT, EIGHT + " --stack mxnet-1.2"),
        "--optimizer": ("--optimizer sgd,adam", EFFECT, ONE),
        "--recompute": ("--recompute none,block", EFFECT, ONE),
        "--attention": ("--attention unfused,flash-2", EFFECT, FUSED),
        "--global-batch": ("--global-batch 128,256", EFFECT, EIGHT),
        "--tensor-parallel": ("--tensor-parallel 1,4", EFFECT, GPT),
        "--sequence-parallel": ("--sequence-parallel on,off", EFFECT, GPT + " --tensor-parallel 4"),
        "--context-parallel": ("--context-parallel 1,2", EFFECT, FUSED),
        "--expert-parallel": ("--expert-parallel 2,4", EFFECT, EXPERTS),
        "--expert-tensor-parallel": ("--expert-tensor-parallel 1,2", EFFECT, EXPERTS + " --tensor-parallel 2 --expert-parallel 4"),
        "--pipeline-parallel": ("--pipeline-parallel 2,4", EFFECT, GPT + " --accumulate 4"),
        "--virtual-stages": ("--virtual-stages 1,2", EFFECT, STAGES),
        "--first-stage-layers": ("--first-stage-layers 4,5", EFFECT, STAGES),
        "--last-stage-layers": ("--last-stage-layers 4,5", EFFECT, STAGES),
        "--stage-layers": ("--stage-layers 5,7", EFFECT, STAGES),
        "--schedule": ("--schedule 1f1b,zb-h1", EFFECT, STAGES),
        "--zero": ("--zero 0,2", EFFECT, GPT),
        "--offload": ("--offload none,states", EFFECT, SHARDED),
        "--offload-share": ("--offload-share 0.5,1", EFFECT, SHARDED + " --offload states"),
        "--offload-layers": ("--offload-layers 0,8", EFFECT, KEPT),
        "--input": ("--input synthetic,imagenet-records", EFFECT, EIGHT),
        "--storage": ("--storage hdd,nvme", EFFECT, LOADS),
        "--workers": ("--workers 1,2", EFFECT, LOADS),
        "--input-hosts": ("--input-hosts 1,4", EFFECT, SLOWED),
        "--layout-from": ("--layout-from layout.txt,offload.json", EFFECT, FUSED + " --unmodelled allow", "--layout-from offload.json"),
        "--unmodelled": ("--unmodelled allow,refuse", EFFECT, FUSED + " --layout-from offload.json", "--unmodelled allow"),
        "--set": ("--set hw.device.memory_bandwidth=2x", EFFECT, ONE),
        "--what-if": ("--what-if amp", EFFECT, ONE),
        "--calibration": ("--calibration anchors.toml", EFFECT, ONE),
        "--report": ("--report page.html", "page.html", EIGHT),
        "--base": ("--base 2", EFFECT, EIGHT + " --precision fp32,amp"),
        "--budget": ("--budget '1000 USD'", EFFECT, EIGHT + " --duty 50%"),
        "--years": ("--years 2", EFFECT, EIGHT + " --duty 50%"),
        "--duty": ("--duty 60%", EFFECT, EIGHT + " --years 2"),
        "--power-price": ("--power-price '0.2 USD/kWh'", EFFECT, EIGHT + " --years 2"),
        "--cooling": ("--cooling 1.2", EFFECT, EIGHT + " --power-price '0.2 USD/kWh'"),
        "--objective": ("--objective energy", EFFECT, EIGHT + " --years 2"),
        "--prices": ("--prices prices.toml", EFFECT, EIGHT),
        "--format": ("--format json", EFFECT, ONE),
    },
    "plan": {
        "--hw": ("--hw dgx-a100-80gb,dgx-h100", EFFECT, "--model gpt3-760m --gpus 8 --global-batch 32", "--hw dgx-a100-80gb"),
        "--model": ("--model gpt3-350m", EFFECT, "--hw dgx-a100-80gb --gpus 8 --global-batch 32", "--model gpt3-760m"),
        "--stack": ("--stack fsdp2-2.6", EFFECT, PLANNED),
        "--gpus": ("--gpus 8,16", EFFECT, "--hw dgx-a100-80gb --model gpt3-760m --global-batch 32", "--gpus 8"),
        "--network": ("--network ethernet-10g", EFFECT, "--hw dgx-a100-80gb --model gpt3-760m --gpus 16 --global-batch 32"),
        "--batch": ("--batch 2", EFFECT, PLANNED),
        "--seq-len": ("--seq-len 1024", EFFECT, PLANNED),
        "--precision": ("--precision fp16", EFFECT, PLANNED),
        "--optimizer": ("--optimizer sgd", EFFECT, PLANNED),
        "--recompute": ("--recompute layer", EFFECT, PLANNED),
        "--tensor-parallel": ("--tensor-parallel 2", EFFECT, PLANNED),
        "--sequence-parallel": ("--sequence-parallel off", EFFECT, PLANNED + " --tensor-parallel 2"),
        "--context-parallel": ("--context-parallel 2", EFFECT, "--hw dgx-a100-80gb --model llama-3.2-1b --gpus 8 --global-batch 8"),
        "--expert-parallel": ("--expert-parallel 4", EFFECT, PLANNED_EXPERTS),
        "--expert-tensor-parallel": ("--expert-tensor-parallel 1", EFFECT, PLANNED_EXPERTS + " --tensor-parallel 2 --expert-parallel 4"),
        "--pipeline-parallel": ("--pipeline-parallel 2", EFFECT, PLANNED),
        "--virtual-stages": ("--virtual-stages 2", EFFECT, PLANNED),
        "--first-stage-layers": ("--first-stage-layers 11", EFFECT, PLANNED),
        "--last-stage-layers": ("--last-stage-layers 11", EFFECT, PLANNED),
        "--stage-layers": ("--stage-layers 11,13", EFFECT, PLANNED),
        "--schedule": ("--schedule zb-h1", EFFECT, PLANNED),
        "--zero": ("--zero 0", EFFECT, PLANNED),
        "--offload": ("--offload states", EFFECT, PLANNED + " --stack megatron-core-0.14"),
        "--offload-share": ("--offload-share 0.5", EFFECT, PLANNED + " --stack megatron-core-0.14 --offload states"),
        "--offload-layers": ("--offload-layers 4", Refused("tbdsim: plan: layouts are searched with their activations on the GPUs; leave out --offload activations and --offload-layers"), PLANNED + " --stack megatron-core-0.14"),
        "--attention": ("--attention unfused", EFFECT, PLANNED),
        "--global-batch": ("--global-batch 64", EFFECT, "--hw dgx-a100-80gb --model gpt3-760m --gpus 8", "--global-batch 32"),
        "--layout-from": ("--layout-from layout.txt", EFFECT, PLANNED),
        "--unmodelled": ("--unmodelled refuse", Refused(OFFLOADS), PLANNED + " --layout-from offload.json"),
        "--set": ("--set hw.device.memory_bandwidth=2x", EFFECT, PLANNED),
        "--what-if": ("--what-if compute-2x", EFFECT, PLANNED),
        "--calibration": ("--calibration anchors.toml", EFFECT, PLANNED),
        "--keep": ("--keep pipeline-parallel=2", EFFECT, PLANNED),
        "--try": ("--try stack.parallel.overlaps_gradients=true,false", EFFECT, PLANNED),
        "--as": ("--as megatron", EFFECT, PLANNED),
        "--report": ("--report page.html", "page.html", PLANNED),
        "--explain": ("--explain", EFFECT, PLANNED),
        "--top": ("--top 3", EFFECT, PLANNED),
        "--objective": ("--objective energy", EFFECT, PLANNED),
        "--tokens": ("--tokens 300B", EFFECT, PLANNED),
        "--deadline": ("--deadline '1 s'", "refused", PLANNED + " --tokens 300B"),
        "--budget": ("--budget '1000 USD'", "refused", PLANNED + " --tokens 300B"),
        "--power-limit": ("--power-limit '1 kW'", "refused", PLANNED + " --tokens 300B"),
        "--years": ("--years 2", EFFECT, PLANNED + " --objective cost --duty 50%"),
        "--duty": ("--duty 60%", EFFECT, PLANNED + " --objective cost --years 2"),
        "--power-price": ("--power-price '0.2 USD/kWh'", EFFECT, PLANNED + " --objective cost --years 2"),
        "--shard": ("--shard 1/2", EFFECT, PLANNED),
        "--output": ("--output part.csv", "part.csv", PLANNED),
        "--join": ("--join runs.csv", Refused("tbdsim: runs.csv: no part of a plan: expected a file that plan --shard I/N -o FILE wrote"), PLANNED),
        "--prices": ("--prices prices.toml", EFFECT, "--hw dgx1 --model gpt3-350m --precision fp16 --stack megatron-lm-2022 --gpus 8 --global-batch 32 --objective cost"),
        "--format": ("--format json", EFFECT, PLANNED),
    },
    "validate": {
        "--rows": ("--rows", EFFECT, "runs.csv"),
        "--summary": ("--summary", EFFECT, "runs.csv"),
        "--report": ("--report page.html", "page.html", "runs.csv"),
        "--max-mean-ape": ("--max-mean-ape 0.01%", "exit", "runs.csv"),
        "--format": ("--format json", EFFECT, "runs.csv"),
    },
    "list": {
        "--models": ("--models", EFFECT, ""),
        "--bytes": ("--bytes 1GB", EFFECT, "gpus"),
        "--format": ("--format json", EFFECT, "gpus"),
    },
    "show": {
        "--image": ("--image 299", EFFECT, "resnet50"),
        "--seq-len": ("--seq-len 64", EFFECT, "bert-base"),
        "--as": ("--as toml", EFFECT, "resnet50"),
        "--bytes": ("--bytes 1GB", EFFECT, "k80"),
        "--format": ("--format json", EFFECT, "k80"),
    },
    "topology": {
        "--hw": ("--hw dgx1", EFFECT, "", "--hw k80"),
        "--gpus": ("--gpus 4", EFFECT, "--hw dgx1"),
        "--nodes": ("--nodes 2", EFFECT, "--hw dgx1 --collective all-reduce"),
        "--devices": ("--devices 0,5", EFFECT, "--hw dgx1"),
        "--network": ("--network ethernet-10g", EFFECT, "--hw dgx1 --nodes 2 --collective all-reduce"),
        "--route": ("--route gpu0 gpu5", EFFECT, "--hw dgx1"),
        "--collective": ("--collective all-reduce", EFFECT, "--hw dgx1"),
        "--bytes": ("--bytes 1MiB", EFFECT, "--hw dgx1 --collective all-reduce"),
        "--nccl": ("--nccl 2.4", EFFECT, "--hw dgx1"),
        "--report": ("--report page.html", "page.html", "--hw dgx1"),
        "--launch": ("--launch one-process", EFFECT, "--hw dgx1 --collective all-reduce"),
        "--stack": ("--stack pytorch-1.12", EFFECT, "--hw dgx1"),
        "--set": ("--set hw.link.nvlink.bandwidth=2x", EFFECT, "--hw dgx1"),
        "--calibration": ("--calibration anchors.toml", EFFECT, "--hw dgx1 --collective all-reduce"),
        "--format": ("--format json", EFFECT, "--hw dgx1"),
    },
    "docs": {},
}
# Options of a job whose step is simulated layer by layer, beside those of LAYOUT, which make one.
LAYERED = "--hw dgx-a100-80gb --model llama-3.2-1b --precision bf16 --batch 1 --gpus 8 --stack megatron-core-0.8"
BY_COLLECTIVES = "stack megatron-core-0.8: gradients of a step that is simulated layer by layer are exchanged by allreduce, not by ps"
OF_IMAGES = "tbdsim: --input imagenet-records holds images; llama-3.2-1b takes sequences"
OF_LAYERS = {
    "--batch": ("--batch 2", EFFECT, LAYERED.replace(" --batch 1", "")),
    "--accumulate": ("--accumulate 2", EFFECT, LAYERED),
    "--global-batch": ("--global-batch 32", EFFECT, LAYERED),
    "--seq-len": ("--seq-len 1024", EFFECT, LAYERED),
    "--nodes": ("--nodes 2", EFFECT, LAYERED.replace(" --gpus 8", "")),
    "--devices": ("--devices 0,1,2,4", EFFECT, LAYERED.replace("--gpus 8", "--gpus 4").replace("dgx-a100-80gb", "dgx1").replace("bf16", "fp16")),
    "--network": ("--network ethernet-10g", EFFECT, LAYERED.replace("--gpus 8", "--nodes 2")),
    "--precision": ("--precision amp", EFFECT, LAYERED.replace(" --precision bf16", "")),
    "--exchange": ("--exchange ps", Refused("tbdsim: " + BY_COLLECTIVES), LAYERED),
    "--optimizer sgd": ("--optimizer sgd", EFFECT, LAYERED),
    "--optimizer none": ("--optimizer none", EFFECT, LAYERED),
    "--optimizer lamb": ("--optimizer lamb", EFFECT, LAYERED),
    "--input": ("--input imagenet-records", Refused(OF_IMAGES), LAYERED),
    "--recompute": ("--recompute layer", EFFECT, LAYERED),
    "--attention": ("--attention unfused", EFFECT, LAYERED),
    "--zero": ("--zero 1", EFFECT, LAYERED),
    "--tensor-parallel": ("--tensor-parallel 2", EFFECT, LAYERED),
    "--what-if": ("--what-if compute-2x", EFFECT, LAYERED),
    "--calibration": ("--calibration anchors.toml", EFFECT, LAYERED),
    "--set": ("--set stack.parallel.overlaps_gradients=false", EFFECT, LAYERED),
    "--layers": ("--layers", EFFECT, LAYERED),
    "--kernels": ("--kernels", EFFECT, LAYERED),
    "--links": ("--links", EFFECT, LAYERED),
    "--host": ("--host", EFFECT, LAYERED),
    "--trace": ("--trace layers.json", "layers.json", LAYERED),
    "--report": ("--report layers.html", "layers.html", LAYERED),
}
# A finished sweep is what its options change: they are those of `compare`, looked at in the exported rows.
PAID = ("--budget", "--years", "--duty", "--power-price", "--cooling", "--objective", "--prices")
TABLE["sweep"] = {name: line for name, line in TABLE["compare"].items() if name not in ("--base", "--format", "--report") + PAID}
# Those of a sweep itself: a shard and a grid change its rows, the others what is written of them.
TABLE["sweep"].update({
    "--grid": ("--grid grid.toml", EFFECT, ONE),
    "--shard": ("--shard 1/2", EFFECT, ONE + " --precision fp32,amp"),
})
WRITTEN = ("--output", "--pareto", "--samples", "--format", "--report")

# Combinations in which an option would say nothing: each refused.
REFUSALS = [
    ("predict %s --tensor-parallel 2" % ONE, "--tensor-parallel 2 --context-parallel 1 --pipeline-parallel 1: one copy of the network takes 2 GPUs, which do not divide the 1 of the job"),
    ("predict %s --profiling" % (GPT + " --tensor-parallel 4"), "--profiling: reckons with the order of a step's kernels, and of a step that is simulated layer by layer (a divided network, sharded states, a stack made for these) none is kept; --kernels tells its launches, --trace draws its passes"),
    ("network %s --nodes 2 --top 3" % (GPT + " --tensor-parallel 4"), "--top: of arrays; the step of this job is simulated layer by layer, and its axes are few"),
    ("scale %s --tensor-parallel 2 --global-batch 16 --samples 256K --weak" % GPT, "--weak: the batch of an update grows with the GPUs; leave out --global-batch, or --weak"),
    ("scale %s --tensor-parallel 2 --virtual-stages 2 --samples 256K" % GPT, "2 GPUs: --virtual-stages 2: parts of a pipeline's stages; add --pipeline-parallel 2 or more"),
    ("predict %s --stack fsdp2-2.6 --exchange dataparallel" % FUSED, "stack fsdp2-2.6: gradients of a step that is simulated layer by layer are exchanged by allreduce, not by dataparallel"),
    ("predict %s --stack megatron-core-0.8 --exchange ps" % FUSED, "stack megatron-core-0.8: gradients of a step that is simulated layer by layer are exchanged by allreduce, not by ps"),
    ("predict %s --exchange pipeline" % EIGHT, "--exchange pipeline: stages are a layout of the network, no way to exchange gradients; write --pipeline-parallel N, with --accumulate micro-batches an update"),
    ("predict %s --mock-loader" % EIGHT, "--mock-loader takes the place of a loader, and nothing is loaded; name what is loaded with --input, such as --input imagenet-records"),
    ("predict %s --mock-loader --mock-trainer" % LOADS, "--mock-loader and --mock-trainer exclude each other: one shows the trainer alone, the other the loader"),
    ("predict %s --input nothing-such --mock-loader" % EIGHT, 'unknown input "nothing-such"'),
    ("predict %s --storage hdd" % EIGHT, "--storage means nothing without samples to load; name what is loaded with --input, such as --input imagenet-records"),
    ("predict %s --workers 4" % EIGHT, "--workers means nothing without samples to load; name what is loaded with --input, such as --input imagenet-records"),
    ("predict %s --input-hosts 2" % EIGHT, "--input-hosts means nothing without samples to load; name what is loaded with --input, such as --input imagenet-records"),
    ("predict %s --mock-trainer" % EIGHT, "--mock-trainer shows how fast samples are loaded; name what is loaded with --input, such as --input imagenet-records"),
    ("predict %s --buckets" % EIGHT, "--buckets: no lengths are known for resnet50; they are for sockeye, nmt, gnmt, deep_speech_2"),
    ("predict %s --seq-len 64" % EIGHT, "resnet50"),
    ("predict %s --image 64" % BERT, "bert-base"),
    ("predict %s --epochs 2" % ONE, "--epochs needs --samples, the size of the data set"),
    ("predict %s --tokens 300B" % ONE, "--tokens: resnet50 takes images, not tokens; --samples and --epochs are about those"),
    ("predict %s --tokens 300B --format csv" % FUSED, "--tokens has no CSV table: ask for --format json"),
    *(("predict %s --as nemo %s" % (FUSED, words), words.split()[0] + ": says nothing of a job's settings; leave it or --as")
      for words in ("--format json", "--tokens 1T", "--samples 256K", "--epochs 2", "--seed 2", "--prices prices.toml", "--skip 2", "--iterations 9",
                    "--profiling", "--layers", "--kernels", "--links", "--host", "--trace step.json", "--report page.html", "--from-trace kineto.json")),
    *(("predict %s --as deepspeed %s" % (LOADS, words), words.split()[0] + ": no training framework has a setting for it; leave it or --as")
      for words in ("--storage hdd", "--workers 2", "--input-hosts 2", "--mock-loader", "--mock-trainer", "--exchange ps --stack mxnet-1.2")),
    *(("predict %s --from-trace kineto.json %s" % (ONE, words), words.split()[0] + ": says nothing of a replayed trace; leave it or --from-trace")
      for words in ("--tokens 1T", "--samples 256K", "--epochs 2", "--seed 2", "--prices prices.toml", "--skip 2", "--iterations 9", "--profiling", "--layers",
                    "--kernels", "--links", "--host", "--trace step.json", "--report page.html")),
    ("predict %s --set operations.energy.pue=1.1" % FUSED, "--set:1:1: operations.energy.pue: is assumed of a whole run; ask for one with --tokens"),
    ("predict %s --skip 2" % ONE, "--skip and --iterations need --profiling, which they are about"),
    ("predict %s --what-if overlap --what-if no-overlap" % EIGHT, "predict: --what-if: stack.exchange.overlaps_backward=false (no-overlap) contradicts stack.exchange.overlaps_backward=true (overlap); give one of them"),
    ("predict %s --what-if cpu-half --what-if cpu-2x" % EIGHT, "predict: --what-if: hw.host.clock?=2x (cpu-2x) undoes hw.host.clock?=0.5x (cpu-half); give one of them"),
    ("predict %s --set batch=8 --set batch=4" % ONE, "predict: --set: batch=4 contradicts batch=8; give one of them"),
    ("network %s --top -1" % NODES, 'network: --top: expected a whole number of at least 1, got "-1"'),
    ("network %s --top 3 --format json" % NODES, "--top: csv and json hold every array"),
    ("topology --hw dgx1 --nodes 2", "--nodes needs --collective: the wiring is that of one node"),
    ("topology --hw dgx1 --network ethernet-10g", "--network needs --collective: the wiring is that of one node"),
    ("topology --hw dgx1 --launch one-process", "--launch needs --collective: the wiring is that of one node"),
    ("topology --hw dgx1 --route gpu0 gpu5 --nccl 2.4", "--nccl: a route depends on its ends and the wires alone"),
    ("topology --hw dgx1 --route gpu0 gpu5 --stack mxnet-1.2", "--stack: a route depends on its ends and the wires alone"),
    ("topology --hw dgx1 --route gpu0 gpu5 --devices 0,5", "--devices: a route depends on its ends and the wires alone"),
    ("topology --hw dgx1 --bytes 1MiB", "--bytes needs --route, the two ends of the transfer, or --collective"),
    ("list stacks --bytes 1GB", "list: --bytes is for kinds with a bandwidth: stacks have none"),
    ("show resnet50 --as toml --format json", "--as toml is the file alone: leave out --format"),
    ("show resnet50 --bytes 1GB", "show: --bytes is for entries with a bandwidth; resnet50@torchvision has none"),
    ("show k80 --image 64", "show: --image is for models; k80 is one of gpus"),
    ("show small_cnn.toml --image 64", "show: --image is for models; small_cnn.toml states its own"),
    ("validate runs.csv --rows --summary", "validate: --summary leaves rows out, --rows shows them; ask for one"),
    ("validate runs.csv --rows --format json", "validate: --rows is about the table: csv and json hold every row and no summary"),
    ("validate runs.csv --summary --format csv", "validate: --summary is about the table: csv and json hold every row and no summary"),
    ("sweep %s -o s.db --format json" % SWEPT, "sweep: --format is for sweep export; a sweep writes SQLite"),
    ("sweep merge all.db s.db --report page.html", "sweep: --report is for a sweep and for sweep export; export what merge writes"),
    ("sweep %s -o s.db --pareto" % SWEPT, "sweep: --pareto is for sweep export"),
    ("sweep %s -o s.db --samples 256K" % SWEPT, "sweep: --samples adds the time of an epoch to rows of text; name a file that ends in .csv or .jsonl, or leave it to sweep export"),
    ("sweep merge all.db s.db --samples 256K", "sweep merge: --samples is for sweep export"),
]

# Rows of measured-run tables: option, then what becomes of a row of a step, of memory and of a collective that has it.
STEP_ONLY = Refused("%s: says nothing about a collective, which trains nothing")
COLLECTIVE_ONLY = Refused("%s: is about a collective; its metric is bus_bandwidth")
UNKNOWN = Refused('options: unknown option "%s"')
NO_FILE = Refused("%s refuse: is about settings of --layout-from; add one")
LOADER = Nothing("a measured run loads its samples somehow; the memory of GPUs does not depend on it")
ALIKE = Nothing("each of several GPUs holds the same")
ROWS = {
    "--gpus 4": (EFFECT, ALIKE, EFFECT),
    "--nodes 2": (EFFECT, Nothing("every node holds the same"), EFFECT),
    "--devices 0,5": (EFFECT, ALIKE, EFFECT),
    "--network ethernet-10g": (EFFECT, Nothing("buffers of an exchange are as large on any network"), EFFECT),
    "--batch 64": (EFFECT, EFFECT, STEP_ONLY),
    "--accumulate 2": (EFFECT, EFFECT, STEP_ONLY),
    "--image 299": (EFFECT, EFFECT, STEP_ONLY),
    "--seq-len 256": (EFFECT, EFFECT, STEP_ONLY),
    "--buckets": (EFFECT, Nothing("memory is that of the longest sequences in any case"), STEP_ONLY),
    "--precision amp": (EFFECT, EFFECT, Nothing("time depends on bytes, not on what they stand for")),
    "--stack mxnet-1.2": (EFFECT, EFFECT, EFFECT),
    "--exchange p2p": (EFFECT, EFFECT, STEP_ONLY),
    "--optimizer adam": (EFFECT, EFFECT, STEP_ONLY),
    "--input imagenet-records": (EFFECT, LOADER, STEP_ONLY),
    "--storage hdd": (EFFECT, LOADER, STEP_ONLY),
    "--workers 1": (EFFECT, LOADER, STEP_ONLY),
    "--input-hosts 4": (EFFECT, LOADER, STEP_ONLY),
    "--mock-loader": (EFFECT, LOADER, STEP_ONLY),
    "--mock-trainer": (EFFECT, LOADER, STEP_ONLY),
    "--recompute block": (EFFECT, EFFECT, STEP_ONLY),
    "--set hw.link.nvlink.bandwidth=0.1x": (EFFECT, Nothing("this value is about time"), EFFECT),
    "--calibration anchors.toml": (EFFECT, Nothing("these values are about time"), EFFECT),
    "--zero 2": (EFFECT, EFFECT, STEP_ONLY),
    "--offload states": (EFFECT, EFFECT, STEP_ONLY),
    "--offload-share 0.5": (EFFECT, EFFECT, STEP_ONLY),
    "--offload-layers 8": (EFFECT, EFFECT, STEP_ONLY),
    "--tensor-parallel 4": (EFFECT, EFFECT, STEP_ONLY),
    "--sequence-parallel off": (EFFECT, EFFECT, STEP_ONLY),
    "--context-parallel 2": (EFFECT, EFFECT, STEP_ONLY),
    "--expert-parallel 4": (EFFECT, EFFECT, STEP_ONLY),
    "--expert-tensor-parallel 1": (EFFECT, EFFECT, STEP_ONLY),
    "--pipeline-parallel 4": (EFFECT, EFFECT, STEP_ONLY),
    "--virtual-stages 2": (EFFECT, EFFECT, STEP_ONLY),
    "--first-stage-layers 4": (EFFECT, EFFECT, STEP_ONLY),
    "--last-stage-layers 4": (EFFECT, EFFECT, STEP_ONLY),
    "--stage-layers 5,7": (EFFECT, EFFECT, STEP_ONLY),
    "--schedule zb-h1": (EFFECT, EFFECT, STEP_ONLY),
    "--attention unfused": (EFFECT, EFFECT, STEP_ONLY),
    "--layout-from layout.txt": (EFFECT, EFFECT, STEP_ONLY),
    "--unmodelled refuse": (NO_FILE, NO_FILE, STEP_ONLY),
    "--global-batch 256": (EFFECT, EFFECT, STEP_ONLY),
    "--collective all-reduce": (COLLECTIVE_ONLY, COLLECTIVE_ONLY, Nothing("the row has it already")),
    "--bytes 4096": (COLLECTIVE_ONLY, COLLECTIVE_ONLY, EFFECT),
    "--nccl 2.4": (COLLECTIVE_ONLY, COLLECTIVE_ONLY, EFFECT),
    "--launch one-process": (COLLECTIVE_ONLY, COLLECTIVE_ONLY, EFFECT),
}
FUSED_ROW = {"hw": "dgx-a100-80gb", "model": "llama-3.2-1b", "precision": "bf16", "batch_per_gpu": "1", "gpus": "8"}
EXPERTS_ROW = dict(FUSED_ROW, model="qwen3-30b-a3b")
STAGES_ROW = {"model": "gpt2", "batch_per_gpu": "4", "gpus": "8", "pipeline_parallel": "2", "options": "--accumulate 4"}
# What a row of a step needs so that the option can say something.
ROW_NEEDS = {
    "--batch 64": {"batch_per_gpu": ""},
    "--seq-len 256": {"model": "bert-base", "batch_per_gpu": "4"},
    "--buckets": {"hw": "titan-xp", "model": "gnmt", "stack": "pytorch-ngc-20.06-apex", "batch_per_gpu": ""},
    "--exchange p2p": {"stack": "mxnet-1.2"},
    "--network ethernet-10g": {"nodes": "2"},
    "--storage hdd": {"input": "imagenet-records"},
    "--workers 1": {"input": "imagenet-records"},
    "--input-hosts 4": {"input": "imagenet-records", "model": "alexnet"},
    "--mock-loader": {"input": "imagenet-records"},
    "--mock-trainer": {"input": "imagenet-records"},
    "--zero 2": {"model": "gpt2", "batch_per_gpu": "4", "gpus": "8"},
    "--offload states": dict(FUSED_ROW, stack="deepspeed-0.14"),
    "--offload-share 0.5": dict(FUSED_ROW, stack="deepspeed-0.14", offload="states"),
    "--offload-layers 8": dict(FUSED_ROW, stack="megatron-core-0.8"),
    "--tensor-parallel 4": {"model": "gpt2", "batch_per_gpu": "4", "gpus": "8"},
    "--sequence-parallel off": {"model": "gpt2", "batch_per_gpu": "4", "gpus": "8", "tensor_parallel": "4"},
    "--context-parallel 2": FUSED_ROW,
    "--expert-parallel 4": EXPERTS_ROW,
    "--expert-tensor-parallel 1": dict(EXPERTS_ROW, tensor_parallel="2", expert_parallel="4"),
    "--pipeline-parallel 4": {"model": "gpt2", "batch_per_gpu": "4", "gpus": "8", "options": "--accumulate 4"},
    "--virtual-stages 2": STAGES_ROW,
    "--first-stage-layers 4": STAGES_ROW,
    "--last-stage-layers 4": STAGES_ROW,
    "--stage-layers 5,7": STAGES_ROW,
    "--schedule zb-h1": STAGES_ROW,
    "--attention unfused": FUSED_ROW,
    "--layout-from layout.txt": dict(FUSED_ROW, batch_per_gpu=""),
    "--devices 0,5": {"gpus": "2"},
}
NOT_OF_ROWS = ("--hw", "--model", "--format", "--layers", "--kernels", "--links", "--host", "--report", "--prices", "--trace", "--from-trace", "--profiling", "--skip", "--iterations",
               "--samples", "--epochs", "--tokens", "--as", "--seed", "--what-if", "--by", "--max-batch", "--route")

# Options of verbs that claims ask, which write files or shape a text: refused in claims and grids.
NOT_OF_CLAIMS = {"--report", "--prices", "--from-trace", "--trace", "--format", "--by", "--top", "--host", "--as"}


# What a JSON `config` tells beside options: what a job is made of, as it was found.
FOLLOWS = {"hardware", "layout", "pipeline", "device", "variant", "global_batch", "sample", "products_in_fp32"}
# What the values that completion offers are tried with, at the first verb that has them.
KNOWS = {"predict": ONE, "memory": ONE, "compare": ONE, "topology": "--hw dgx1", "show": "resnet50", "sweep": ONE + " -o known.db",
         "plan": PLANNED}


class Walk:
    def __init__(self, program, source):
        self.program, self.source = os.path.abspath(program), source
        self.problems, self.outputs, self.offered = [], {}, set()

    def run(self, words, folder):
        environment = dict(os.environ, TBDSIM_CATALOGUE=self.source)
        done = subprocess.run([self.program, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def cached(self, line, folder):
        if line not in self.outputs:
            self.outputs[line] = self.run(shlex.split(line), folder)
        return self.outputs[line]

    def expect(self, holds, what):
        if not holds:
            self.problems.append(what)

    def options(self, verb, folder):
        text = self.cached(verb + " --help", folder)[1]
        return [name for name in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.M) if name != "--help"]

    def sides(self, verb, entry):
        """The command without the option and with it."""
        added, expected, rest, *instead = entry
        need = {"scale": " --samples 256K --gpus 2", "network": " --nodes 2"}.get(verb, "")
        if verb == "scale" and not rest:
            rest = "--hw dgx1 --model resnet50 --batch 16 --samples 256K" + ("" if added.startswith(("--gpus", "--nodes")) else " --gpus 2")
            need = ""
        for option in ("--samples", "--gpus", "--nodes"):  # a verb's own needs, where the command has none
            if option in rest or option in added:
                need = re.sub(option + r" \S+", "", need)
        base = "%s %s%s %s" % (verb, rest, need, instead[0] if instead else "")
        return base.strip(), "%s %s%s %s" % (verb, rest, need, added), expected

    def verb(self, verb, folder):
        options = self.options(verb, folder)
        table = TABLE[verb]
        own = WRITTEN if verb == "sweep" else ()
        self.expect(set(options) == set(table) | set(own), "%s: options %s, listed %s" % (verb, sorted(set(options) - set(table)), sorted(set(table) - set(options))))
        self.walk(verb, table, folder)

    def walk(self, verb, table, folder):
        for option, entry in table.items():
            if verb == "sweep":
                self.swept(option, entry, folder)
                continue
            base, changed, expected = self.sides(verb, entry)
            code, out, err = self.cached(base, folder)
            new = self.run(shlex.split(changed), folder)
            if isinstance(expected, Refused):
                self.expect(new == (2, "", expected + "\n"), "%s: expected %r, got %r" % (changed, expected, new))
            elif isinstance(expected, Nothing):
                self.expect(new[:2] == (code, out), "%s: has an effect" % changed)
            elif expected == "exit":
                self.expect(new[0] == 1 and code == 0, "%s: exit %d" % (changed, new[0]))
            elif expected == "refused":
                self.expect((code, new[0], new[1]) == (0, 2, "") and "no layout keeps the limits: the nearest " in new[2], "%s: %r" % (changed, new))
            elif expected == EFFECT:
                self.expect(code == 0 and new[0] == 0, "%s: exit %d, %d: %s%s" % (changed, code, new[0], err, new[2]))
                self.expect(new[1] != out, "%s: ignored" % changed)
            else:
                self.expect(new[0] == 0 and os.path.getsize(os.path.join(folder, expected)) > 0, "%s: no file" % changed)

    def rows_of_sweep(self, words, folder):
        with tempfile.TemporaryDirectory() as other:
            path = os.path.join(other, "s.db")
            code, _, err = self.run(["sweep", *words, "-o", path], folder)
            return code, self.run(["sweep", "export", path], folder)[1] if code == 0 else err

    def swept(self, option, entry, folder):
        added, _, rest, *instead = entry
        base = self.rows_of_sweep(shlex.split("%s %s" % (rest, instead[0] if instead else "")), folder)
        new = self.rows_of_sweep(shlex.split("%s %s" % (rest, added)), folder)
        self.expect(base[0] == 0 and new[0] == 0 and base[1] != new[1], "sweep %s %s: ignored, or %s %s" % (rest, added, base, new))

    def written(self, folder):
        """What a sweep's own options do to what is written of it."""
        self.run(["sweep", *shlex.split(ONE), "--precision", "fp32,amp", "-o", "w.db"], folder)
        plain = self.run(["sweep", "export", "w.db"], folder)[1]
        for words in (["--pareto"], ["--samples", "256K"], ["--format", "json"]):
            code, out, err = self.run(["sweep", "export", "w.db", *words], folder)
            self.expect(code == 0 and out and out != plain, "sweep export %s: ignored, or %s" % (words, err))
        code, out, _ = self.run(["sweep", "export", "w.db", "--output", "w.csv"], folder)
        self.expect((code, out) == (0, "") and open(os.path.join(folder, "w.csv"), encoding="utf-8").read() == plain, "sweep export --output")

    def words(self, verb, folder):
        """Every value that completion offers for an option is one that the verb knows."""
        part = self.cached("docs zsh", folder)[1].split("    %s) _arguments" % verb, 1)[-1].split(" ;;\n", 1)[0]
        for option, words in re.findall(r"'(--[a-z-]+)\[[^\n]*:\(([^()\n]*)\)'", part):
            if (option, words) in self.offered:
                continue
            self.offered.add((option, words))
            for word in words.split():
                line = "%s %s %s %s" % (verb, KNOWS[verb], option, word)
                if option == "--launch":
                    line += " --collective all-reduce"
                err = self.run(shlex.split(line), folder)[2]
                self.expect(not re.search("unknown|did you mean|expected", err), "%s: %s" % (line, err))

    def page(self, folder):
        """The manual page and the completion offer the options of the command line, and `list` the kinds that there are."""
        page = self.cached("docs man", folder)[1].replace("\\-", "-")
        for verb in TABLE:
            part = page.split("\n.SS %s\n" % verb, 1)[1].split("\n.SS ", 1)[0].split("\n.SH ", 1)[0]
            self.expect(re.findall(r"^\\fB(--[a-z-]+)", part, re.M) == self.options(verb, folder), "manual page: options of %s" % verb)
            bash = re.search(r"^    %s\) options='(.*)' ;;$" % verb, self.cached("docs bash", folder)[1], re.M).group(1)
            self.expect(bash.split() == self.options(verb, folder), "completion: options of %s" % verb)
        kinds = [line.split(",")[1] for line in self.cached("list --format csv", folder)[1].splitlines()[1:]]
        self.expect("'2:kind:(%s)'" % " ".join(kinds) in self.cached("docs zsh", folder)[1], "kinds: %s" % kinds)
        documents = re.search(r"docs\) _arguments.*?\((.*?)\)", self.cached("docs zsh", folder)[1], re.S).group(1).split()
        told = self.run(["docs", "nothing"], folder)[2]
        self.expect(told.startswith("tbdsim: docs: expected %s, got" % ", ".join(documents)), "documents: %s: %s" % (documents, told))

    def config(self, folder):
        """The JSON `config` of a result calls an option as files and `--set` do, and says nothing else but what follows from one."""
        keys = {option[2:].replace("-", "_") for verb in TABLE for option in self.options(verb, folder)} - {"batch"} | {"batch_per_gpu"}
        for verb in ("predict", "explain", "network", "memory", "scale"):
            line = "%s %s --format json" % (verb, {"network": NODES, "scale": EIGHT + " --gpus 2 --samples 256K"}.get(verb, EIGHT))
            found = set(json.loads(self.cached(line, folder)[1])["config"])
            self.expect(found - keys <= FOLLOWS, "%s: config has %s" % (verb, sorted(found - keys - FOLLOWS)))

    def refusals(self, folder):
        for line, text in REFUSALS:
            code, out, err = self.run(shlex.split(line), folder)
            first = err.split("\n")[0].removeprefix("tbdsim: ")
            exact = text in [one.removeprefix("tbdsim: ") for one in err.split("\n")] if len(text) > 40 else text in first
            self.expect(code == 2 and out == "" and exact, "%s:\nexpected %r\ngot      %d %r" % (line, text, code, err or out[:80]))

    def row(self, kind, cells, folder):
        row = {"id": "a", "hw": "dgx1", "model": "resnet50", "batch_per_gpu": "16", "measured": "100"}
        row.update({"step": {"metric": "throughput", "unit": "samples/s"}, "memory": {"metric": "peak_memory_bytes", "unit": "bytes"},
                    "collective": {"metric": "bus_bandwidth", "unit": "bytes/s", "model": "", "batch_per_gpu": ""}}[kind])
        row.update(cells)
        with open(os.path.join(folder, "row.csv"), "w", encoding="utf-8") as file:
            file.write(",".join(row) + "\n" + ",".join('"%s"' % cell for cell in row.values()) + "\n")
        code, out, err = self.run(["validate", "row.csv", "--format", "json"], folder)
        if not out:
            return None, err.split(": ", 1)[1].split("\n")[0]
        skipped = re.search(r'"skipped": "((?:[^"\\]|\\.)*)"', out)
        value = re.search(r'"predicted": ([^,]*)', out)
        return (value.group(1) if value else None), (skipped.group(1) if skipped else "")

    def rows(self, folder):
        known = {name for verb in ("predict", "memory", "topology") for name in self.options(verb, folder)}
        listed = {line.split()[0] for line in ROWS}
        self.expect(known == listed | set(NOT_OF_ROWS), "rows: options not listed: %s; not known: %s" % (known - listed - set(NOT_OF_ROWS), listed - known))
        for line, expectations in ROWS.items():
            option = line.split()[0]
            for kind, expected in zip(("step", "memory", "collective"), expectations):
                needs = ROW_NEEDS.get(line, {}) if kind != "collective" else {k: v for k, v in ROW_NEEDS.get(line, {}).items() if k in ("nodes", "gpus")}
                given = "--collective all-reduce --bytes 1048576 " if kind == "collective" else needs.get("options", "") + " "
                if kind == "collective" and option in ("--collective", "--bytes"):
                    before = "--collective all-reduce --bytes 1048576"
                    after = before.replace("1048576", "4096") if option == "--bytes" else before
                else:
                    before, after = given.strip(), given + line
                base = self.row(kind, dict(needs, options=before), folder)
                new = self.row(kind, dict(needs, options=after), folder)
                what = "%s row, %s" % (kind, line)
                self.expect(base[0] is not None, "%s: the row itself fails: %s" % (what, base))
                if isinstance(expected, Refused):
                    text = expected % option if "%s" in expected else expected
                    self.expect(new == (None, text), "%s: expected %r, got %r" % (what, text, new))
                elif isinstance(expected, Nothing):
                    self.expect(new == base, "%s: has an effect: %s, %s" % (what, base, new))
                else:
                    self.expect(new[0] is not None and new[0] != base[0], "%s: ignored, or refused: %s, %s" % (what, base, new))
        for option in NOT_OF_ROWS:
            if option in ("--hw", "--model"):  # columns
                continue
            self.expect(self.row("step", {"options": option + "=1"}, folder)[1].startswith((UNKNOWN % option)), "row accepts " + option)

    def claim(self, expression, grid, folder):
        with open(os.path.join(folder, "claim.toml"), "w", encoding="utf-8") as file:
            file.write('schema = 1\n[study]\nname = "n"\nsource = "assumed: test"\n[grid]\nhw = "dgx1"\nmodel = "resnet50"\n%s\n[[claim]]\nid = "c"\nexpr = %s\n'
                       % (grid, '"%s"' % expression))
        return self.run(["validate", "claim.toml"], folder)

    def claims(self, folder):
        victim = os.path.join(folder, "victim.txt")
        with open(victim, "w", encoding="utf-8") as file:
            file.write("mine\n")
        known = {name for verb in ("predict", "topology", "show", "scale", "network", "memory") for name in self.options(verb, folder)}
        self.expect(NOT_OF_CLAIMS <= known, "claims: unknown options %s" % (NOT_OF_CLAIMS - known))
        for option in sorted(known):
            name = option[2:].replace("-", "_")
            refused = "claims and grids take only options that change a prediction"
            for code, _, err in (self.claim("throughput(%s='victim.txt') > 0" % name, "", folder), self.claim("throughput() > 0", '%s = "victim.txt"' % name if name not in ("hw", "model") else "", folder)):
                self.expect((refused in err) == (option in NOT_OF_CLAIMS), "claim or grid with %s: %d %s" % (option, code, err))
            # A value that is an option in disguise.
            code, _, err = self.claim("throughput(%s='--trace=victim.txt') > 0" % name, "", folder)
            self.expect(code == 2 and ("expected a value, got" in err or refused in err), "claim with %s as an option: %d %s" % (option, code, err))
        with open(victim, encoding="utf-8") as file:
            self.expect(file.read() == "mine\n", "a claim has written a file")
        self.expect(not os.path.exists(os.path.join(folder, "true")), "a claim has written a file called true")


def main(program, source):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from run_cases import prepare
    walk = Walk(program, os.path.realpath(source))
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, source)
        with open(os.path.join(folder, "grid.toml"), "w", encoding="utf-8") as file:
            file.write('schema = 1\n[grid]\nrecompute = "block"\nmock_loader = false\n')
        for verb in TABLE:
            walk.verb(verb, folder)
            walk.words(verb, folder)
        walk.walk("predict", OF_LAYERS, folder)
        walk.written(folder)
        walk.page(folder)
        walk.config(folder)
        walk.refusals(folder)
        walk.rows(folder)
        walk.claims(folder)
    for problem in walk.problems:
        print(problem.rstrip() + "\n")
    return 1 if walk.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
