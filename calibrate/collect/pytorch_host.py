"""Times what PyTorch spends on the host to issue operators, without a GPU.   Usage: pytorch_host.py [--repeats N]

`tbdsim calibrate host` starts it. Prints rows `op,pass,device,time_s,spread_s`, after a line `# torch VERSION`.

An operator's time is the slope between chains of 16 and 48 equal modules, so that what a call costs once drops out: forward with
recording of gradients, and backward as forward plus backward less forward. Tensors are of a few bytes on the CPU ("cpu", whose
tiny kernels run), or on the device "meta", where nothing is computed. The least of the repeats is the time: whatever else
the machine does only adds to it. The spread is from the least to the lower quartile.
"""
import argparse
import gc
import sys
import threading
import time

try:
    import torch
except ImportError:
    sys.exit("no torch")
if not hasattr(torch.ops.aten.add, "Tensor") or torch.empty(1, device="meta").device.type != "meta":
    sys.exit("no meta")

SHORT, LONG = 16, 48


class Chain(torch.nn.Module):
    """`links` times the same function of a tensor, each link with a module of its own where it has one."""

    def __init__(self, links, module=None, function=None):
        super().__init__()
        self.steps = torch.nn.ModuleList(module() for _ in range(links)) if module else [function] * links

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


def clocked(call, repeats):
    """(least, lower quartile) of the times of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    times.sort()
    return times[0] * 1e-9, times[len(times) // 4] * 1e-9


def slope(short, long, repeats):
    """(time, spread) of one link. The two chains take turns, so that both see the same machine."""
    best = [clocked(short, 3), clocked(long, 3)]
    for _ in range(repeats):
        for place, call in enumerate((short, long)):
            least, quartile = clocked(call, 12)
            best[place] = (min(best[place][0], least), min(best[place][1], quartile))
    links = LONG - SHORT
    return (best[1][0] - best[0][0]) / links, abs(best[1][1] - best[0][1] - best[1][0] + best[0][0]) / links


def operators():
    """(name, device, input shape, module or None, function or None)"""
    nn, F = torch.nn, torch.nn.functional
    image, row = (1, 8, 4, 4), (4, 16)
    return (
        ("conv2d", "cpu", (1, 1, 2, 2), lambda: nn.Conv2d(1, 1, 1, bias=False), None),
        ("conv2d+bias", "cpu", (1, 1, 2, 2), lambda: nn.Conv2d(1, 1, 1), None),
        ("batch_norm", "cpu", image, lambda: nn.BatchNorm2d(8), None),
        ("layer_norm", "cpu", row, lambda: nn.LayerNorm(16), None),
        ("relu", "cpu", image, nn.ReLU, None),
        ("max_pool2d", "cpu", image, lambda: nn.MaxPool2d(1), None),
        ("linear", "cpu", (8, 8), lambda: nn.Linear(8, 8), None),
        ("linear_3d", "cpu", (2, 4, 8), lambda: nn.Linear(8, 8), None),
        ("matmul_2d", "meta", (8, 8), None, lambda x: torch.matmul(x, x)),
        ("bmm", "meta", (2, 4, 4), None, lambda x: torch.bmm(x, x)),
        ("add", "meta", image, None, lambda x: x + 1.0),
        ("mul", "meta", image, None, lambda x: x * x),
        ("softmax", "meta", row, None, lambda x: F.softmax(x, -1)),
        ("gelu", "meta", row, lambda: nn.GELU(), None),
        ("dropout", "cpu", row, lambda: nn.Dropout(0.1), None),
        ("view", "meta", image, None, lambda x: x.view(-1).view(image)),
        ("transpose", "meta", row, None, lambda x: x.transpose(0, 1)),
        ("slice", "meta", image, None, lambda x: x[:, :]),
        ("cat2", "meta", image, None, lambda x: torch.cat((x, x), 1)[:, :8]),
        ("cast", "meta", row, None, lambda x: x.to(torch.bfloat16).to(torch.float32)),
        ("identity_module", "meta", row, nn.Identity, None),
    )


def time_operator(name, device, shape, module, function, repeats):
    chains = [Chain(links, module, function).to(device) for links in (SHORT, LONG)]
    x = torch.ones(shape, device=device, requires_grad=True)

    def forward(chain):
        return lambda: chain(x)

    def both(chain):
        seed = torch.ones_like(chain(x))
        return lambda: chain(x).backward(seed)

    one = slope(forward(chains[0]), forward(chains[1]), repeats)
    two = slope(both(chains[0]), both(chains[1]), repeats)
    yield name, "forward", device, *one
    yield name, "backward", device, max(0.0, two[0] - one[0]), one[1] + two[1]


def parameters(count, device):
    made = [torch.nn.Parameter(torch.ones(16, device=device)) for _ in range(count)]
    for p in made:
        p.grad = torch.ones(16, device=device)
    return made


class NullLists:
    """Within it, operators over lists of arrays do nothing: what is left is the optimiser's own script."""

    def __enter__(self):
        self.kept = {name: getattr(torch, name) for name in dir(torch) if name.startswith("_foreach_")}
        for name in self.kept:
            setattr(torch, name, (lambda lists, *_, **__: list(lists)) if not name.endswith("_") else (lambda *_, **__: None))

    def __exit__(self, *_):
        for name, function in self.kept.items():
            setattr(torch, name, function)


def per_array(make, repeats):
    """(time, spread) of an update for each array: slope between 20 and 80 arrays."""
    few, many = make(20), make(80)
    few(), many()
    best = [clocked(few, 3), clocked(many, 3)]
    for _ in range(repeats):
        for place, call in enumerate((few, many)):
            least, quartile = clocked(call, 8)
            best[place] = (min(best[place][0], least), min(best[place][1], quartile))
    return (best[1][0] - best[0][0]) / 60, abs(best[1][1] - best[0][1] - best[1][0] + best[0][0]) / 60


def updates(repeats):
    loops = (("sgd_momentum", lambda p, listed: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=1e-4, foreach=listed)),
             ("adam", lambda p, listed: torch.optim.Adam(p, foreach=listed)))
    for name, optimizer in loops:
        yield name, "update_loop", "meta", *per_array(lambda n, o=optimizer: o(parameters(n, "meta"), False).step, repeats)
        with NullLists():
            yield name, "update_listed", "cpu", *per_array(lambda n, o=optimizer: o(parameters(n, "cpu"), True).step, repeats)

    def zeroes(count):
        optimizer = torch.optim.SGD(parameters(count, "meta"), 0.1)
        return lambda: optimizer.zero_grad(set_to_none=False)
    yield "zero_grad", "update_loop", "meta", *per_array(zeroes, repeats)


def autocast(repeats):
    """What an operator that casts costs beyond the same without: both casts of a linear layer, on the CPU in bfloat16."""
    x = torch.ones((8, 8), requires_grad=True)
    chains = [Chain(links, lambda: torch.nn.Linear(8, 8)) for links in (SHORT, LONG)]

    def cast(chain):
        def run():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                chain(x)
        return run
    plain = slope(lambda: chains[0](x), lambda: chains[1](x), repeats)
    narrow = slope(cast(chains[0]), cast(chains[1]), repeats)
    yield "autocast_linear", "forward", "cpu", max(0.0, narrow[0] - plain[0]), plain[1] + narrow[1]


def threads(repeats):
    """Forward passes of two threads under the interpreter's lock, over that of one: the time of one is slope-free."""
    chain = Chain(LONG, torch.nn.ReLU)
    x = torch.ones((1, 8, 4, 4), requires_grad=True)

    def passes(count=20):
        for _ in range(count):
            chain(x)

    def together():
        workers = [threading.Thread(target=passes) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    alone = min(clocked(passes, 4)[0] for _ in range(repeats))
    two = [clocked(together, 4)[0] for _ in range(repeats)]
    yield "two_threads", "forward", "cpu", min(two) / 20 / LONG, 0.0
    yield "one_thread", "forward", "cpu", alone / 20 / LONG, 0.0


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--repeats", type=int, default=25)
    repeats = words.parse_args().repeats
    torch.set_num_threads(1)
    torch.manual_seed(1)
    gc.disable()
    print(f"# torch {torch.__version__}", flush=True)
    for operator in operators():
        for row in time_operator(*operator, repeats):
            print(",".join(map(str, row)), flush=True)
        gc.collect()
    for source in (updates, autocast, threads):
        for row in source(repeats):
            print(",".join(map(str, row)), flush=True)


if __name__ == "__main__":
    main()
