"""Times what PyTorch spends on the host to issue operators, without a GPU.   Usage: pytorch_host.py [--rounds N]

`tbdsim calibrate host` starts it. Prints a line `# torch VERSION`, then rows `op,pass,device,time_s,spread_s`.

An operator's time is the slope between chains of 16 and 48 equal links, so that what a call costs once drops out: forward with
recording of gradients, and backward as forward plus backward less forward. An array's share of an update is the slope between 20
and 80 arrays. Tensors are of a few bytes on the CPU ("cpu", whose tiny kernels run), or on the device "meta", where nothing is
computed. Every round times every operator a few times, so that rounds lie far apart; the least of all is the time, for whatever
else the machine does only adds to it. The spread is how far the least of even rounds and that of odd rounds differ.
"""
import argparse
import contextlib
import gc
import sys
import threading
import time

try:
    import torch
    from torch import nn
    import torch.nn.functional as F
except ImportError:
    sys.exit("no torch")
try:
    assert (torch.empty(1, device="meta") + 1.0).device.type == "meta"
except Exception:  # pylint: disable=broad-except
    sys.exit(f"no meta in torch {torch.__version__}")

LINKS, ARRAYS = (16, 48), (20, 80)
CALLS_A_ROUND = 8
IMAGE, ROW = (1, 8, 4, 4), (4, 16)
SUMMANDS = {device: torch.ones(IMAGE, device=device) for device in ("cpu", "meta")}


class Chain(nn.Module):
    """So many links, each the same function of a tensor, with a module of its own where `module` makes one."""

    def __init__(self, links, module=None, function=None):
        super().__init__()
        self.steps = nn.ModuleList(module() for _ in range(links)) if module else [function] * links

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


class Least:
    """The least times of a call, of even rounds and of odd ones."""

    def __init__(self, call, around=contextlib.nullcontext):
        self.call, self.around, self.least = call, around, [float("inf")] * 2
        call()

    def measure(self, number):
        with self.around():
            for _ in range(CALLS_A_ROUND):
                start = time.perf_counter_ns()
                self.call()
                self.least[number % 2] = min(self.least[number % 2], (time.perf_counter_ns() - start) * 1e-9)


class Slope:
    """Time of a link from a short and a long call. `half`: 0 even rounds, 1 odd ones, None all."""

    def __init__(self, make, sizes, around=contextlib.nullcontext):
        self.calls, self.links = [Least(make(size), around) for size in sizes], sizes[1] - sizes[0]

    def time(self, half=None):
        short, long = (min(call.least) if half is None else call.least[half] for call in self.calls)
        return (long - short) / self.links


class Sample:
    """A row: a slope, less another one where that is part of it."""

    def __init__(self, op, phase, device, slope, less=None):
        self.words, self.slope, self.less = (op, phase, device), slope, less

    def time(self, half=None):
        return self.slope.time(half) - (self.less.time(half) if self.less else 0.0)

    def row(self):
        return ",".join((*self.words, f"{max(0.0, self.time()):.4g}", f"{abs(self.time(0) - self.time(1)):.2g}"))


OPERATORS = (  # name, device, shape of the input, module or None, function or None
    ("conv2d", "cpu", (1, 1, 2, 2), lambda: nn.Conv2d(1, 1, 1, bias=False), None),
    ("conv2d+bias", "cpu", (1, 1, 2, 2), lambda: nn.Conv2d(1, 1, 1), None),
    ("batch_norm", "cpu", IMAGE, lambda: nn.BatchNorm2d(8), None),
    ("layer_norm", "cpu", ROW, lambda: nn.LayerNorm(16), None),
    ("relu", "cpu", IMAGE, nn.ReLU, None),
    ("max_pool2d", "cpu", IMAGE, lambda: nn.MaxPool2d(1), None),
    ("linear", "cpu", (8, 8), lambda: nn.Linear(8, 8), None),
    ("linear_3d", "cpu", (2, 4, 8), lambda: nn.Linear(8, 8), None),
    ("dropout", "cpu", ROW, lambda: nn.Dropout(0.1), None),
    ("matmul_2d", "meta", (8, 8), None, lambda x: torch.matmul(x, x)),
    ("bmm", "meta", (2, 4, 4), None, lambda x: torch.bmm(x, x)),
    ("add", "meta", IMAGE, None, lambda x: x + SUMMANDS[x.device.type]),
    ("mul_scalar", "meta", IMAGE, None, lambda x: x * 1.5),
    ("softmax", "meta", ROW, None, lambda x: F.softmax(x, -1)),
    ("gelu", "meta", ROW, nn.GELU, None),
    ("view", "meta", IMAGE, None, lambda x: x.view(-1).view(IMAGE)),
    ("transpose", "meta", ROW, None, lambda x: x.transpose(0, 1)),
    ("slice", "meta", IMAGE, None, lambda x: x[0:1]),
    ("cat2,slice", "meta", IMAGE, None, lambda x: torch.cat((x, x), 1)[:, :8]),
    ("identity_module", "meta", ROW, nn.Identity, None),
)


def operator_samples(op, device, shape, module, function):
    op = op.replace(",", "+")
    x = torch.ones(shape, device=device, requires_grad=True)

    def forward(links):
        chain = Chain(links, module, function).to(device)
        return lambda: chain(x)

    def both(links):
        chain = Chain(links, module, function).to(device)
        seed = torch.ones_like(chain(x))
        return lambda: chain(x).backward(seed)

    one, two = Slope(forward, LINKS), Slope(both, LINKS)
    return Sample(op, "forward", device, one), Sample(op, "backward", device, two, one)


def parameters(count, device):
    made = [nn.Parameter(torch.ones(16, device=device)) for _ in range(count)]
    for p in made:
        p.grad = torch.ones(16, device=device)
    return made


@contextlib.contextmanager
def null_lists():
    """Operators over lists of arrays do nothing: what is left of an update is the optimiser's own script."""
    kept = {name: getattr(torch, name) for name in dir(torch) if name.startswith("_foreach_")}
    for name in kept:
        setattr(torch, name, (lambda lists, *_, **__: list(lists)) if not name.endswith("_") else (lambda *_, **__: None))
    try:
        yield
    finally:
        for name, function in kept.items():
            setattr(torch, name, function)


def update_samples():
    optimizers = (("sgd_momentum", lambda p, listed: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=1e-4, foreach=listed)),
                  ("adam", lambda p, listed: torch.optim.Adam(p, foreach=listed)))
    for op, make in optimizers:
        yield Sample(op, "update_loop", "meta", Slope(lambda n, m=make: m(parameters(n, "meta"), False).step, ARRAYS))
        yield Sample(op, "update_listed", "cpu", Slope(lambda n, m=make: m(parameters(n, "cpu"), True).step, ARRAYS, null_lists))

    def zeroes(count):
        optimizer = torch.optim.SGD(parameters(count, "meta"), 0.1)
        return lambda: optimizer.zero_grad(set_to_none=False)
    yield Sample("zero_grad", "update_loop", "meta", Slope(zeroes, ARRAYS))


def autocast_sample():
    """What a linear layer that casts its weight and bias costs beyond one that does not, on the CPU in bfloat16."""
    x = torch.ones((8, 8), requires_grad=True)

    def plain(links):
        chain = Chain(links, lambda: nn.Linear(8, 8))
        return lambda: chain(x)

    def narrow(links):
        chain = Chain(links, lambda: nn.Linear(8, 8))

        def call():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                chain(x)
        return call
    return Sample("autocast_linear", "forward", "cpu", Slope(narrow, LINKS), Slope(plain, LINKS))


class Threads:
    """Forward passes of two threads that share the interpreter's lock, per link of both, and of one alone: `nn.DataParallel`."""

    PASSES = 10

    def __init__(self):
        chain, x = Chain(LINKS[1], nn.ReLU), torch.ones(IMAGE, requires_grad=True)

        def passes():
            for _ in range(self.PASSES):
                chain(x)

        def together():
            workers = [threading.Thread(target=passes) for _ in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        self.calls = (Least(passes), Least(together))

    def rows(self):
        for op, call, count in (("one_thread", self.calls[0], 1), ("two_threads", self.calls[1], 2)):
            links = self.PASSES * LINKS[1] * count
            yield f"{op},forward,cpu,{min(call.least) / links:.4g},{abs(call.least[0] - call.least[1]) / links:.2g}"


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--rounds", type=int, default=40)
    rounds = words.parse_args().rounds
    torch.set_num_threads(1)
    torch.manual_seed(1)
    samples = [sample for operator in OPERATORS for sample in operator_samples(*operator)]
    samples += [*update_samples(), autocast_sample()]
    threads = Threads()
    # Slopes that several rows share are measured once a round.
    slopes = {id(slope): slope for sample in samples for slope in (sample.slope, sample.less) if slope}
    gc.disable()
    for number in range(rounds):
        for slope in slopes.values():
            for call in slope.calls:
                call.measure(number)
        for call in threads.calls:
            call.measure(number)
        gc.collect()
    print(f"# torch {torch.__version__}")
    for sample in samples:
        print(sample.row())
    for row in threads.rows():
        print(row)


if __name__ == "__main__":
    main()
