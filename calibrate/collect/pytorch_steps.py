#!/usr/bin/env python3
"""Measures whole training steps of real networks under PyTorch and writes them as a measured-run table.

usage: pytorch_steps.py --hw DEVICE_ID -o TABLE.csv [--networks resnet50,vgg16,...] [--precisions fp32,tf32,amp]
                        [--batches 8,32,128] [--kernels KERNELS.csv] [--seconds 10] [--device cuda|cpu]

Each step is forward, loss, backward and one update on data that is already on the device. Step time: median over at least
20 steps after 10 warm-up steps, each timed from one synchronised start to the next. Peaks: the caching allocator's
(allocated, reserved) and the device's use as the driver reports it. --kernels adds the sum of kernel times of one profiled
step and the share of the step in which a kernel runs. The file grows row by row: an interrupted run keeps what it measured.
A configuration that does not fit is written to stderr and left out.
"""
import argparse
import csv
import datetime
import statistics
import sys
import time

import torch
from torch import nn

COLUMNS = ("id,hw,model,stack,precision,gpus,nodes,network,batch_per_gpu,seq_len,exchange,optimizer,input,options,metric,unit,"
           "measured,spread,use,group,source").split(",")


class LanguageModel(nn.Module):
    """Word embedding, LSTM of two layers, projection to the vocabulary."""

    def __init__(self, vocabulary=10000, width=1024, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True)
        self.projection = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.projection(self.lstm(self.embedding(tokens))[0])


class Transformer(nn.Module):
    """Post-norm encoder blocks with a projection to the vocabulary; causal: as a decoder-only model attends."""

    def __init__(self, vocabulary, width=768, heads=12, layers=12, length=512, causal=False):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(torch.zeros(length, width))
        block = nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", batch_first=True)
        self.blocks = nn.TransformerEncoder(block, layers)
        self.projection = nn.Linear(width, vocabulary, bias=False)
        mask = nn.Transformer.generate_square_subsequent_mask(length) if causal else None
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens):
        length = tokens.shape[1]
        mask = self.mask[:length, :length] if self.mask is not None else None
        hidden = self.embedding(tokens) + self.position[:length]
        return self.projection(self.blocks(hidden, mask=mask))


def classifier(name):
    def build(batch, device):
        import torchvision
        options = {"aux_logits": True, "init_weights": False} if name == "inception_v3" else {}
        size = 299 if name == "inception_v3" else 224
        model = getattr(torchvision.models, name)(weights=None, **options)
        images = torch.randn(batch, 3, size, size, device=device)
        labels = torch.randint(1000, (batch,), device=device)

        def loss(model):
            out = model(images)
            if not torch.is_tensor(out):
                return nn.functional.cross_entropy(out.logits, labels) + 0.4 * nn.functional.cross_entropy(out.aux_logits, labels)
            return nn.functional.cross_entropy(out, labels)
        return model, loss
    return build


def sequences(make, vocabulary, length):
    def build(batch, device):
        tokens = torch.randint(vocabulary, (batch, length), device=device)
        labels = torch.randint(vocabulary, (batch * length,), device=device)
        return make(), lambda model: nn.functional.cross_entropy(model(tokens).flatten(0, 1), labels)
    return build


# name: (builder, sequence length or None, optimizer)
NETWORKS = {
    "resnet50": (classifier("resnet50"), None, "sgd-momentum"),
    "vgg16": (classifier("vgg16"), None, "sgd-momentum"),
    "inception_v3": (classifier("inception_v3"), None, "sgd-momentum"),
    "lstm-lm": (sequences(LanguageModel, 10000, 35), 35, "adam"),
    "transformer-encoder": (sequences(lambda: Transformer(30522), 30522, 128), 128, "adam"),
    "gpt-like": (sequences(lambda: Transformer(50257, causal=True), 50257, 512), 512, "adam"),
}


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def step_function(network, batch, precision, device):
    build, _, optimizer_name = NETWORKS[network]
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    model, loss_of = build(batch, device)
    model = model.to(device).train()
    if optimizer_name == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    scaler = torch.cuda.amp.GradScaler(enabled=precision == "amp" and device == "cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.float16 if device == "cuda" else torch.bfloat16, enabled=precision == "amp"):
            loss = loss_of(model)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return step


def time_steps(step, device, seconds, warm_up):
    for _ in range(warm_up):
        step()
    synchronize(device)
    times, end = [], time.perf_counter() + seconds
    while len(times) < 20 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        step()
        synchronize(device)
        times.append(time.perf_counter() - start)
        if len(times) >= 3 and time.perf_counter() > end:
            break
    return times


def profile(step):
    """Sum of kernel times of one step, and the share of it in which at least one kernel runs."""
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as recorded:
        step()
        torch.cuda.synchronize()
    spans = sorted((e.time_range.start, e.time_range.end) for e in recorded.events()
                   if e.device_type == torch.autograd.DeviceType.CUDA)
    busy = end = 0
    for a, b in spans:
        busy += max(0, b - max(a, end))
        end = max(end, b)
    by_name = {}
    for e in recorded.events():
        if e.device_type == torch.autograd.DeviceType.CUDA:
            total = by_name.setdefault(e.name, [0, 0.0])
            total[0] += 1
            total[1] += 1e-6 * (e.time_range.end - e.time_range.start)
    return 1e-6 * sum(b - a for a, b in spans), busy / max(1, spans[-1][1] - spans[0][0]) if spans else 0.0, by_name


def measure(network, batch, precision, arguments, stack, write, write_kernels):
    device = arguments.device
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    step = step_function(network, batch, precision, device)
    times = time_steps(step, device, arguments.seconds, 10 if device == "cuda" else 1)
    spread = statistics.stdev(times) if len(times) > 1 else 0.0
    length = NETWORKS[network][1]
    base = {"hw": arguments.hw, "model": network, "stack": stack, "precision": precision, "gpus": 1, "batch_per_gpu": batch,
            "seq_len": length or "", "optimizer": NETWORKS[network][2], "use": "validation",
            "group": f"pytorch-steps/{arguments.hw}", "source": source(device)}
    write(base, "step_time_s", "s", statistics.median(times), spread)
    if device != "cuda":
        return
    write(base, "peak_allocated_bytes", "bytes", torch.cuda.max_memory_allocated(), "")
    write(base, "peak_reserved_bytes", "bytes", torch.cuda.max_memory_reserved(), "")
    free, total = torch.cuda.mem_get_info()
    write(base, "peak_memory_bytes", "bytes", total - free, "")
    if write_kernels:
        write_kernels(network, batch, precision, statistics.median(times), *profile(step))


def source(device):
    if device != "cuda":
        return f"measured: PyTorch {torch.__version__} on a CPU, {datetime.date.today()}"
    return (f"measured: {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, "
            f"cuDNN {torch.backends.cudnn.version()}, {datetime.date.today()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hw", required=True)
    parser.add_argument("-o", required=True, dest="output")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--precisions", default="fp32,tf32,amp")
    parser.add_argument("--batches", default="8,32,128")
    parser.add_argument("--kernels")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("no usable GPU: PyTorch sees none", file=sys.stderr)
        return 3
    for network in arguments.networks.split(","):
        if network not in NETWORKS:
            print(f"unknown network {network}; there are {', '.join(NETWORKS)}", file=sys.stderr)
            return 2
    stack = "pytorch-" + ".".join(torch.__version__.split("+")[0].split(".")[:2])
    kernels = open(arguments.kernels, "w", newline="") if arguments.kernels else None
    kernel_rows = csv.writer(kernels) if kernels else None
    if kernel_rows:
        kernel_rows.writerow("network,batch,precision,step_time_s,kernel_sum_s,busy_share,kernel,calls,time_s".split(","))

    def write_kernels(network, batch, precision, step_time, total, busy, by_name):
        for name, (calls, seconds) in sorted(by_name.items(), key=lambda item: -item[1][1]):
            kernel_rows.writerow([network, batch, precision, f"{step_time:.6g}", f"{total:.6g}", f"{busy:.4g}", name, calls,
                                  f"{seconds:.6g}"])
        kernels.flush()

    with open(arguments.output, "w", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        rows.writeheader()

        def write(base, metric, unit, measured, spread):
            name = f"{base['hw']}-{base['model']}-{base['precision']}-b{base['batch_per_gpu']}-{metric}"
            rows.writerow({**base, "id": name, "metric": metric, "unit": unit, "measured": f"{measured:.6g}",
                           "spread": f"{spread:.3g}" if spread != "" else ""})
            file.flush()

        for network in arguments.networks.split(","):
            for precision in arguments.precisions.split(","):
                for batch in arguments.batches.split(","):
                    try:
                        measure(network, int(batch), precision, arguments, stack, write, write_kernels if kernels else None)
                    except torch.cuda.OutOfMemoryError:
                        print(f"{network} {precision} batch {batch}: does not fit", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
