#!/usr/bin/env python3
"""Measures whole training steps of real networks under PyTorch and writes them as a measured-run table.

usage: pytorch_steps.py --hw DEVICE_ID -o TABLE.csv [--networks resnet50,vgg16,...] [--precisions fp32,tf32,amp]
                        [--batches 8,32,128] [--kernels KERNELS.csv] [--seconds 2] [--budget 480] [--device cuda|cpu]

Each step is forward, loss, backward and one update on data that is already on the device; the networks are those that
`tbdsim list models` calls by the same names. Step time: median over up to 200 steps or --seconds, after up to 10 steps or a
second of warm-up, each timed from one synchronised start to the next. Peaks: the caching allocator's (allocated in the timed
steps, reserved since the network was built) and the device's use as the driver reports it. Each configuration runs in a process
of its own, so that no figure depends on what ran before it. --kernels adds the sum of kernel
times of one profiled step and the share of it in which a kernel runs. The file grows row by row, and the same command goes on
where it stopped: after --budget seconds nothing new begins (exit status 1). A configuration that does not fit or fails is
written to stderr and left out.
"""
import argparse
import csv
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
import warnings

import torch
from torch import nn

COLUMNS = ("id,hw,model,stack,precision,gpus,nodes,network,batch_per_gpu,seq_len,exchange,optimizer,input,options,metric,unit,"
           "measured,spread,use,group,source").split(",")
KERNEL_COLUMNS = "network,batch,precision,step_time_s,kernel_sum_s,busy_share,kernel,calls,time_s".split(",")
SCRIPT = os.path.abspath(__file__)
WARM_UP, MOST_STEPS, LEAST_STEPS = 10, 200, 3


class LanguageModel(nn.Module):
    """Word embedding, two LSTM layers of 1500, projection to the vocabulary: Zaremba et al., arXiv:1409.2329, "large"."""

    def __init__(self, vocabulary=10000, width=1500, dropout=0.65):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, 2, batch_first=True, dropout=dropout)
        self.drop = nn.Dropout(dropout)
        self.projection = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.projection(self.drop(self.lstm(self.drop(self.embedding(tokens)))[0]))


class Encoder(nn.Module):
    """PyTorch's encoder of six post-norm layers between an embedding with learned positions and a classifier of every word."""

    def __init__(self, vocabulary=32000, width=512, length=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 8, 2048, batch_first=True), 6)
        self.projection = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.projection(self.blocks(self.embedding(tokens) + self.position[:tokens.shape[1]]))


class DecoderLayer(nn.Module):
    """Pre-norm layer of GPT-2; attention by the library's fused kernel where the release has one."""

    def __init__(self, width, heads, dropout=0.1):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(dropout)

    def attend(self, query, key, value):
        dropout = self.dropout if self.training else 0.0
        if hasattr(nn.functional, "scaled_dot_product_attention"):
            return nn.functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        length = query.shape[2]
        mask = torch.full((length, length), float("-inf"), device=query.device).triu(1)
        shares = torch.softmax(query @ key.transpose(2, 3) * query.shape[3] ** -0.5 + mask, 3).to(value.dtype)
        return nn.functional.dropout(shares, dropout) @ value

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.project(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        context = self.attend(parts[0], parts[1], parts[2]).transpose(1, 2).reshape(batch, length, width)
        x = x + self.drop(self.output(context))
        return x + self.drop(self.down(nn.functional.gelu(self.up(self.norm2(x)))))


class Gpt2(nn.Module):
    """GPT-2 of 124 million parameters; the projection to the vocabulary shares the embedding's weights."""

    def __init__(self, vocabulary=50257, width=768, positions=1024):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(torch.zeros(positions, width))
        self.drop = nn.Dropout(0.1)
        self.blocks = nn.Sequential(*[DecoderLayer(width, 12) for _ in range(12)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        x = self.drop(self.embedding(tokens) + self.position[:tokens.shape[1]])
        return nn.functional.linear(self.norm(self.blocks(x)), self.embedding.weight)


def classifier(name):
    def build(batch, device):
        import torchvision
        options = {"inception_v3": {"aux_logits": True, "init_weights": False}, "vgg16": {"init_weights": False}}.get(name, {})
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
    "lstm_lm": (sequences(LanguageModel, 10000, 35), 35, "adam"),
    "transformer_encoder": (sequences(Encoder, 32000, 128), 128, "adam"),
    "gpt2": (sequences(Gpt2, 50257, 512), 512, "adam"),
}


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def scaler_for(device, precision):
    enabled = precision == "amp" and device == "cuda"
    if hasattr(torch.amp, "GradScaler"):  # PyTorch 2.3 and later
        return torch.amp.GradScaler(device, enabled=enabled)
    return torch.cuda.amp.GradScaler(enabled=enabled)


def step_function(network, batch, precision, device):
    build, _, optimizer_name = NETWORKS[network]
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer releases prefer other names for the same switches
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    model, loss_of = build(batch, device)
    model = model.to(device).train()
    if optimizer_name == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    scaler = scaler_for(device, precision)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.float16 if device == "cuda" else torch.bfloat16, enabled=precision == "amp"):
            loss = loss_of(model)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return step


def repeat(step, device, seconds, least, most):
    """Times of steps until there are `most`, or `seconds` are over and there are `least`."""
    synchronize(device)
    times, end = [], time.perf_counter() + seconds
    while len(times) < most and (len(times) < least or time.perf_counter() < end):
        start = time.perf_counter()
        step()
        synchronize(device)
        times.append(time.perf_counter() - start)
    return times


def on_device(event):
    """Kernels, copies and fills; not the ranges that annotations of the program draw on the device's time line."""
    return (str(event.device_type).endswith("CUDA") and not getattr(event, "is_user_annotation", False)
            and not event.name.startswith(("Optimizer.", "ProfilerStep", "## ")))


def recorded_events(step, *activities):
    with torch.profiler.profile(activities=activities) as recorded:
        step()
        torch.cuda.synchronize()
    return [e for e in recorded.events() if on_device(e)]


def profile(step):
    """Sum of kernel times of one step, and the share of it in which at least one kernel runs."""
    kinds = torch.profiler.ProfilerActivity
    # The first recording of a process may hold nothing, and in some releases one of the device alone.
    events = recorded_events(step, kinds.CUDA) or recorded_events(step, kinds.CPU, kinds.CUDA)
    if not events:
        return 0.0, 0.0, {}
    spans = sorted((e.time_range.start, e.time_range.end) for e in events)
    busy, end, by_name = 0, spans[0][0], {}
    for a, b in spans:
        busy += max(0, b - max(a, end))
        end = max(end, b)
    for e in events:
        total = by_name.setdefault(e.name, [0, 0.0])
        total[0] += 1
        total[1] += 1e-6 * (e.time_range.end - e.time_range.start)
    return 1e-6 * sum(b - a for a, b in spans), busy / max(1, end - spans[0][0]), by_name


def measure(network, batch, precision, arguments):
    """Rows (metric, unit, measured, spread), and the profile of one step if it is asked for."""
    device = arguments.device
    step = step_function(network, batch, precision, device)
    # The first step tries the algorithms of every convolution and takes seconds; a second one follows in any case.
    repeat(step, device, min(1.0, arguments.seconds), 2 if device == "cuda" else 1, WARM_UP if device == "cuda" else 1)
    if device == "cuda":
        reserved = torch.cuda.max_memory_reserved()
        torch.cuda.reset_peak_memory_stats()  # trials of algorithms in the first step are no part of the others
    times = repeat(step, device, arguments.seconds, LEAST_STEPS, MOST_STEPS)
    rows = [("step_time_s", "s", statistics.median(times), statistics.stdev(times))]
    if device != "cuda":
        return rows, None
    rows.append(("peak_allocated_bytes", "bytes", torch.cuda.max_memory_allocated(), None))
    rows.append(("peak_reserved_bytes", "bytes", max(reserved, torch.cuda.max_memory_reserved()), None))
    free, total = torch.cuda.mem_get_info()
    rows.append(("peak_memory_bytes", "bytes", total - free, None))
    return rows, profile(step) if arguments.kernels else None


def apart(network, batch, precision, arguments):
    """`measure` in a process of its own, and the source of its rows. What the driver reports for a device is all that its process
    has taken: caches, workspaces and kernels of earlier networks too. This process takes nothing of the device."""
    words = [sys.executable, SCRIPT, "--hw", arguments.hw, "-o", arguments.output, "--device", arguments.device,
             "--seconds", str(arguments.seconds), "--one", f"{network},{precision},{batch}"]
    if arguments.kernels:
        words += ["--kernels", arguments.kernels]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1])
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["rows"], answer["kernels"], answer["source"]


def measure_one(arguments):
    """The other side of `apart`."""
    network, precision, batch = arguments.one.split(",")
    try:
        rows, kernels = measure(network, int(batch), precision, arguments)
    except Exception as error:  # memory runs out in PyTorch or in a library below it; a network without a batch of 1
        print((str(error).splitlines() or [type(error).__name__])[0], file=sys.stderr)
        return 1
    print(json.dumps({"rows": rows, "kernels": kernels, "source": source(arguments.device)}))
    return 0


def source(device):
    if device != "cuda":
        return f"measured: PyTorch {torch.__version__} on a CPU, {datetime.date.today()}"
    return (f"measured: {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}, "
            f"cuDNN {torch.backends.cudnn.version()}, {datetime.date.today()}")


def run_id(hw, network, precision, batch, metric):
    return f"{hw}-{network}-{precision}-b{batch}-{metric}"


def table_rows(hw, stack, network, precision, batch, metrics, origin):
    """Rows of the table, one a metric."""
    _, length, optimizer = NETWORKS[network]
    for metric, unit, measured, spread in metrics:
        yield {"id": run_id(hw, network, precision, batch, metric), "hw": hw, "model": network, "stack": stack,
               "precision": precision, "gpus": 1, "batch_per_gpu": batch, "seq_len": length or "", "optimizer": optimizer,
               "metric": metric, "unit": unit, "measured": f"{measured:.6g}", "spread": f"{spread:.3g}" if spread else "",
               "use": "validation", "group": f"pytorch-steps/{hw}", "source": origin}


def foreign(path, columns):
    """Whether the file begins with anything but the header of such a table."""
    if not os.path.exists(path):
        return False
    header = ",".join(columns) + "\n"
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        begin = file.read(len(header))
    return not header.startswith(begin)


def earlier(path):
    """Ids that the file holds. A last line that was cut is dropped from it."""
    if not os.path.exists(path):
        return set()
    with open(path, "r+", newline="", encoding="utf-8") as file:
        text = file.read()
        whole = text[:text.rfind("\n") + 1]
        file.seek(0)
        file.truncate(0)
        file.write(whole)
    return {row["id"] for row in csv.DictReader(whole.splitlines())}


def appended(path, columns):
    """A writer at the end of the file, which gets its header if it is new."""
    fresh = not os.path.exists(path) or os.path.getsize(path) == 0
    file = open(path, "a", newline="", encoding="utf-8")
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
    if fresh:
        writer.writeheader()
    return file, writer


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hw", required=True)
    parser.add_argument("-o", required=True, dest="output")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--precisions", default="fp32,tf32,amp")
    parser.add_argument("--batches", default="8,32,128")
    parser.add_argument("--kernels")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--budget", type=float, default=480)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--one", help=argparse.SUPPRESS)  # NETWORK,PRECISION,BATCH: that alone, told on stdout
    return parser.parse_args()


def main():
    arguments = options()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("no usable GPU: PyTorch sees none", file=sys.stderr)
        return 3
    if arguments.one:
        return measure_one(arguments)
    networks = arguments.networks.split(",")
    for network in networks:
        if network not in NETWORKS:
            print(f"unknown network {network}; there are {', '.join(NETWORKS)}", file=sys.stderr)
            return 2
    for path, columns in ((arguments.output, COLUMNS), (arguments.kernels, KERNEL_COLUMNS)):
        if path and foreign(path, columns):
            print(f"{path}: holds what this script did not write; write to another file, or remove it", file=sys.stderr)
            return 2
    stack = "pytorch-" + ".".join(torch.__version__.split("+")[0].split(".")[:2])
    last = "peak_memory_bytes" if arguments.device == "cuda" else "step_time_s"
    done, not_started, start = earlier(arguments.output), 0, time.monotonic()
    file, rows = appended(arguments.output, COLUMNS)
    kernel_file, kernel_rows = appended(arguments.kernels, KERNEL_COLUMNS) if arguments.kernels else (None, None)
    # One network after the other within each batch, so that a spent budget leaves none out.
    for batch in arguments.batches.split(","):
        for precision in arguments.precisions.split(","):
            for network in networks:
                if run_id(arguments.hw, network, precision, batch, last) in done:
                    continue
                if time.monotonic() - start > arguments.budget:
                    not_started += 1
                    continue
                try:
                    metrics, kernels, origin = apart(network, int(batch), precision, arguments)
                except RuntimeError as error:
                    print(f"left out: {network} {precision} batch {batch}: {error}", file=sys.stderr)
                    continue
                for row in table_rows(arguments.hw, stack, network, precision, batch, metrics, origin):
                    if row["id"] not in done:
                        rows.writerow(row)
                file.flush()
                if kernels:
                    total, busy, by_name = kernels
                    for name, (calls, seconds) in sorted(by_name.items(), key=lambda item: -item[1][1]):
                        kernel_rows.writerow(dict(zip(KERNEL_COLUMNS, [
                            network, batch, precision, f"{metrics[0][2]:.6g}", f"{total:.6g}", f"{busy:.4g}", name, calls,
                            f"{seconds:.6g}"])))
                    kernel_file.flush()
                print(f"{network} {precision} batch {batch}: {1e3 * metrics[0][2]:.2f} ms", file=sys.stderr)
    if not_started:
        print(f"{not_started} configurations not started: the budget is spent; the same command goes on", file=sys.stderr)
    return 1 if not_started else 0


if __name__ == "__main__":
    sys.exit(main())
