"""Writes traces in the forms of several profilers, of a made-up program whose times are known. No time in them was measured.
pytorch_1.13_cpu.json.gz alone was measured: PyTorch 1.13 of Debian 12 trains four convolutions of 16 channels on one thread.

The program trains three layers over `steps` steps: a copy in, forward and backward kernels issued by two threads of the host, an
exchange on a stream of its own while the backward pass runs, one wait for the device, an update.

Usage: make_traces.py FOLDER            the small ones that the tests read
       make_traces.py --events N FILE   PyTorch's form with about so many events
"""
import gzip
import json
import os
import sqlite3
import sys

LAYERS = ["Conv2d_0", "BatchNorm2d_0", "Linear_0"]
# Of each layer: forward operator, forward kernel, its time; backward operator, its kernels with times (ns).
WORK = [
    ("aten::conv2d", [("implicit_convolve_sgemm", 61234)], "ConvolutionBackward0", [("dgrad_engine", 70111), ("wgrad_engine", 80222)]),
    ("aten::batch_norm", [("bn_fw_tr_1C11_kernel_NCHW", 20333)], "CudnnBatchNormBackward0", [("bn_bw_1C11_kernel_new", 41444)]),
    ("aten::linear", [("volta_sgemm_128x64_tn", 30555)], "AddmmBackward0", [("volta_sgemm_32x128_nn", 31666), ("volta_sgemm_128x64_nt", 32777)]),
]
EXCHANGE = ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", 150888)
UPDATE = ("multi_tensor_apply_kernel<SGD>", 25999)
COPY = ("Memcpy HtoD (Pinned -> Device)", 15123)
CALL = 9000  # from one call of the host to the next


class Program:
    """Host calls and device work in order, in nanoseconds."""

    def __init__(self, steps):
        self.ops, self.calls, self.device, self.marks, self.waits, self.modules = [], [], [], [], [], []
        self.now, self.free, self.correlation, self.sequence = 1_000_000, {7: 0, 20: 0}, 100, 0
        for step in range(steps):
            self.step(step)

    def launch(self, thread, name, time, kind="kernel", stream=7, after=0):
        self.correlation += 1
        issued = self.now
        self.calls.append((issued, issued + 5000, thread, self.correlation, "cudaMemcpyAsync" if kind == "copy" else "cudaLaunchKernel"))
        start = max(issued + 6000, self.free[stream] + 1000, after)
        self.free[stream] = start + time
        self.device.append((start, start + time, name, kind, stream, self.correlation))
        self.now += CALL
        return start + time

    def step(self, number):
        begin = self.now
        self.launch(1, *COPY, kind="copy")
        sequences = []
        for layer, (op, kernels, _, _) in zip(LAYERS, WORK):
            self.sequence += 1
            sequences.append(self.sequence)
            opened = self.now
            self.now += 500
            for name, time in kernels:
                self.launch(1, name, time)
            self.ops.append((opened + 100, self.now, 1, op, self.sequence, 0))
            self.modules.append((opened, self.now + 100, 1, "nn.Module: " + layer))
            self.now += 200
        done = 0
        for sequence, (_, _, op, kernels) in reversed(list(zip(sequences, WORK))):
            opened = self.now
            self.now += 500
            for name, time in kernels:
                done = self.launch(2, name, time)
            self.ops.append((opened, self.now, 2, "autograd::engine::evaluate_function: " + op, sequence, 1))
            self.now += 100
        exchanged = self.launch(2, *EXCHANGE, stream=20, after=done)
        opened = self.now
        self.now += 500
        updated = self.launch(1, *UPDATE, after=exchanged + 2000)
        self.ops.append((opened, self.now, 1, "Optimizer.step#SGD.step", -1, 0))
        self.waits.append((self.now, max(self.now, updated) + 3000, 1))
        self.now = max(self.now, updated) + 3000 + 40000  # what Python does between steps
        self.marks.append((begin, self.now - 1, 1, "ProfilerStep#%d" % (number + 2)))


def micro(nanoseconds):
    """Microseconds with three places, as numbers that the file spells exactly."""
    return "%d.%03d" % divmod(nanoseconds, 1000)


def kineto(program):
    """Lines of PyTorch's JSON."""
    def event(category, name, begin, end, pid, tid, args):
        return '{"ph": "X", "cat": "%s", "name": %s, "pid": %d, "tid": %d, "ts": %s, "dur": %s, "args": %s}' % (
            category, json.dumps(name), pid, tid, micro(begin), micro(end - begin), json.dumps(args))
    lines = []
    for begin, end, thread, op, sequence, backward in program.ops:
        args = {"External id": 1}
        if sequence >= 0:
            args.update({"Sequence number": sequence, "Fwd thread id": backward})
        lines.append(event("user_annotation" if op.startswith("Optimizer") else "cpu_op", op, begin, end, 10, thread, args))
    for begin, end, thread, name in program.modules:
        lines.append(event("python_function", name, begin, end, 10, thread, {"Python id": 1}))
    for begin, end, thread, name in program.marks:
        lines.append(event("user_annotation", name, begin, end, 10, thread, {}))
    for begin, end, thread, correlation, name in program.calls:
        lines.append(event("cuda_runtime", name, begin, end, 10, thread, {"cbid": 211, "correlation": correlation}))
    for begin, end, thread in program.waits:
        lines.append(event("cuda_runtime", "cudaStreamSynchronize", begin, end, 10, thread, {"cbid": 131}))
    for begin, end, name, kind, stream, correlation in program.device:
        args = {"device": 0, "stream": stream, "correlation": correlation}
        lines.append(event("gpu_memcpy" if kind == "copy" else "kernel", name, begin, end, 0, stream, args))
    head = '{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Tesla V100-SXM2-16GB"}], "traceEvents": [\n'
    return head + ",\n".join(lines) + "\n]}\n"


def nsight(program, path):
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.executescript("""
        PRAGMA page_size = 1024;
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
            demangledName INTEGER, shortName INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
            bytes INTEGER, copyKind INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, text TEXT, textId INTEGER);""")
    names = {}

    def string(text):
        if text not in names:
            names[text] = len(names) + 1
            db.execute("INSERT INTO StringIds VALUES (?, ?)", (names[text], text))
        return names[text]
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'Tesla V100-SXM2-16GB')")
    for begin, end, thread, correlation, name in program.calls:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?)", (begin, end, thread, correlation, string(name + "_v7000")))
    for begin, end, thread in program.waits:
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?)", (begin, end, thread, 0, string("cudaStreamSynchronize_v3020")))
    for begin, end, name, kind, stream, correlation in program.device:
        if kind == "copy":
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,0,?,?,4096,1)", (begin, end, stream, correlation))
        else:
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,0,?,?,?,?)",
                       (begin, end, stream, correlation, string(name), string(name)))
    for begin, end, thread, name in program.marks:
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,NULL)", (begin, end, thread, name.replace("ProfilerStep#", "step ")))
    for begin, end, thread, name in program.modules:
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,?,NULL,?)", (begin, end, thread, string(name[len("nn.Module: "):])))
    db.commit()
    db.execute("VACUUM")
    db.close()


def nvprof(program):
    lines = ["==4242== NVPROF is profiling process 4242, command: python train.py", "==4242== Profiling result:",
             '"Start","Duration","Grid X","Device","Context","Stream","Name","Correlation_ID"', "ms,us,,,,,,"]
    for begin, end, name, kind, stream, correlation in sorted(program.device):
        called = "[CUDA memcpy HtoD]" if kind == "copy" else name
        lines.append('%d.%06d,%s,1,"Tesla V100-SXM2-16GB (0)","1",%d,"%s",%d' % (*divmod(begin, 1000000), micro(end - begin), stream, called,
                                                                              correlation))
    return "\n".join(lines) + "\n"


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def chakra(program, circle=False):
    """Nodes in protobuf's wire form, each after its length; times in whole microseconds."""
    def text(number, value):
        return varint(number << 3 | 2) + varint(len(value)) + value

    def message(body):
        return varint(len(body)) + body
    out = message(text(1, b"0.0.4"))
    compute, communicate = 4, 7
    for i, (begin, end, name, kind, stream, _) in enumerate(sorted(program.device)):
        after = i - 1 if i else (3 if circle else None)
        body = b"\x08" + varint(i + 1) + text(2, name.encode()) + b"\x18" + varint(communicate if stream == 20 else 2 if kind == "copy" else compute)
        if after is not None:
            body += text(5, varint(after + 1))
        out += message(body + b"\x38" + varint((end - begin) // 1000))
    return out


def main(arguments):
    if arguments[0] == "--events":
        text = kineto(Program(max(3, int(arguments[1]) // 36)))
        opened = gzip.open(arguments[2], "wt") if arguments[2].endswith(".gz") else open(arguments[2], "w")
        with opened as file:
            file.write(text)
        return
    folder, program = arguments[0], Program(8)

    def write(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
    write("kineto.json", kineto(program))
    write("nvprof.csv", nvprof(program))
    write("chakra.et", chakra(program))
    write("chakra_circle.et", chakra(program, circle=True))
    with open(os.path.join(folder, "kineto.json.gz"), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(kineto(program).encode())
    nsight(program, os.path.join(folder, "nsight.sqlite"))


if __name__ == "__main__":
    main(sys.argv[1:])
