"""The collector from start to end on the made-up GPU: every family, what a device may refuse, interruption, and the way from
samples to a predicted step; and the recorder in another program. usage: run_test.py CALIBRATE LIBRARIES SOURCE TBDSIM TRAIN RECORDER"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

CALIBRATE, LIBRARIES, SOURCE, TBDSIM, TRAIN, RECORDER = sys.argv[1:7]
EVERY = os.path.join(SOURCE, "tests/collect/made_up_gpu/every_family.toml")
failures = 0


def expect(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what)


def calibrate(gpu, *words):
    environment = {**os.environ, "TBDSIM_MADE_UP_GPU": gpu, "TBDSIM_CUDA_LIBRARIES": LIBRARIES, "TBDSIM_CATALOGUE": SOURCE}
    return subprocess.run([CALIBRATE, *words], env=environment, capture_output=True, text=True, check=False)


def collect(gpu, plan, file, status=0):
    done = calibrate(gpu, "collect", "--plan", plan, "-o", file)
    expect(done.returncode == status, f"collect {plan} on '{gpu}': status {done.returncode}\n{done.stdout}{done.stderr}")
    if not os.path.exists(file):
        return done, []
    with open(file, encoding="utf-8", newline="") as table:
        return done, list(csv.DictReader(table))


def keys(rows):
    return [(r["family"], r["op"], r["precision"], r["pass"], r["shape"], "hot" in r["flags"].split(),
             r["algorithm"] if "named-algorithm" in r["flags"] else "") for r in rows]


def every_family(folder):
    done, rows = collect("gpus=2", EVERY, folder + "/every.csv")
    families = {r["family"] for r in rows}
    expect(len(families) == 17, f"17 families are measured, not {sorted(families)}")
    expect(all(r["device"] == "h100-sxm5-80gb" for r in rows), "the H100 is known by its driver's name")
    expect("left out: fp8 products exist for ta=0;tb=1 alone" in done.stderr, done.stderr)
    expect("needs 8 GPUs, there are 2" in done.stderr, done.stderr)
    peer = [r for r in rows if "kind=p2p" in r["shape"]]
    expect(len(peer) == 1 and peer[0]["timing"] == "kernel", "peer copies have records of their own kind")
    expect(all(float(r["clock_mhz"]) == 1980 and float(r["power_w"]) > 600 for r in rows), "clocks are read while the device works")
    hosted = [r for r in rows if r["family"] in ("launch", "collective", "overlap") or "pageable" in r["shape"]]
    expect(len(hosted) == 11 and all("cold" not in r["flags"].split() for r in hosted), "nothing is overwritten before what times itself")
    expect(all("cold" in r["flags"] or "hot" in r["flags"] for r in rows if r not in hosted), "the others say what the cache held")
    expect(all(r["timing"] == "call" and "event-timing" in r["flags"] for r in rows if r["family"] == "overlap"), "events hold the launch")
    launch = {r["shape"]: float(r["time_s"]) for r in rows if r["family"] == "launch"}
    expect(launch["kernels=10;graph=0"] < 10 * 4e-6, "launches are timed while nothing is recorded")


def refusals(folder):
    for gpu, note in (("cupti=denied", "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"), ("cupti=silent", "CUPTI delivers no records")):
        done, rows = collect(gpu, EVERY, f"{folder}/{gpu}.csv")
        expect(f"note: no activity records ({note}): times come from events" in done.stderr, done.stderr)
        expect(all(r["timing"] == "call" and "event-timing" in r["flags"] for r in rows), "event timing is recorded")
        expect(not any("kernel_sum_s" in r["flags"] for r in rows), "no sum of kernels without records")
    done, rows = collect("capability=61", EVERY, folder + "/old.csv")
    for word in ("tf32 needs compute capability 8.0", "bf16 needs", "fp8 needs"):
        expect(word in done.stderr, done.stderr)
    expect({r["precision"] for r in rows} == {"fp32", "fp16"}, "an old board measures fp32 and fp16 alone")
    _, rows = collect("throttled old", EVERY, folder + "/hot.csv")
    expect(all("throttled" in r["flags"] and "slowdown" not in r["flags"] for r in rows), "a held clock is flagged")
    expect(all(400 < float(r["power_w"]) < 420 for r in rows), "a driver that tells the mean power alone")
    _, rows = collect("slowed", EVERY, folder + "/slowed.csv")
    expect(all("throttled hardware-slowdown" in r["flags"] for r in rows), "a clock that the hardware holds is told apart")
    done = calibrate("", "fit", "--samples", folder + "/slowed.csv", "-o", folder + "/slowed.toml")
    expect(done.returncode == 2 and "the hardware held the clock down" in done.stderr, "and its samples fit nothing\n" + done.stderr)
    done, rows = collect("scatter=60", EVERY, folder + "/noisy.csv")
    expect(sum("noisy-count" in r["flags"] for r in rows) > len(rows) / 2, "what never settles is kept and flagged")
    for number in range(1000, 1006):
        for word in ("drop", "zero"):
            done, rows = collect(f"{word}={number}", EVERY, f"{folder}/{word}{number}.csv")
            expect(len(rows) == 106, f"{word}={number}: a measurement whose record was lost is made again\n" + done.stderr)
    done, rows = collect("without=fft_tiling", EVERY, folder + "/without.csv")
    expect("cuDNN does not run this convolution by fft_tiling" in done.stderr, done.stderr)
    done, rows = collect("refuses=0", EVERY, folder + "/refuses.csv")
    convolutions = [r for r in rows if r["family"] == "conv" and "named-algorithm" not in r["flags"]]
    expect(len(convolutions) == 12 and all(r["algorithm"] not in ("implicit_gemm", "algo_0") for r in convolutions),
           "an algorithm that is ranked and refused gives way to another\n" + done.stderr)
    done, rows = collect("fail_alloc=60", "quick", folder + "/full.csv")
    expect("left out: out of memory" in done.stderr and len(rows) == 129, "one measurement without memory loses itself alone")
    # What fails on another GPU loses itself alone: the next measurement finds its own device, and no group of collectives open.
    _, one = collect("gpus=1", EVERY, folder + "/one.csv")
    done, rows = collect("gpus=2 full=1", EVERY, folder + "/second_full.csv")
    expect("left out: out of memory" in done.stderr and keys(rows) == keys(one), f"GPU 1 without memory\n{done.stderr}")
    done, rows = collect("gpus=2 nccl=refuses", EVERY, folder + "/refused_collective.csv")
    peer = [r for r in rows if "kind=p2p" in r["shape"]]
    expect("left out: NCCL: an NCCL error" in done.stderr and len(rows) == len(one) + 1 and peer, f"a refused collective\n{done.stderr}")
    _, rows = collect("operator", EVERY, folder + "/operator.csv")
    expect(all("throttled" in r["flags"] for r in rows), "a clock that the operator holds is flagged")
    plan = folder + "/refused.toml"
    with open(plan, "w", encoding="utf-8") as file:
        file.write('name = "refused"\nbudget = "1 min"\n[[measure]]\nfamily = "gemm"\nop = "matmul"\nprecision = ["fp8"]\n'
                   'shape = ["b=1;m=9;n=7;k=5;ta=0;tb=1"]\n[[measure]]\nfamily = "copy"\npass = ["none"]\n'
                   'shape = ["bytes=1048577;kind=h2d-pageable", "bytes=1048577;kind=h2d-pinned"]\n')
    done, rows = collect("", plan, folder + "/refused.csv")
    expect(len(rows) == 2 and "cublasLt: status 15" in done.stderr, "a refused product leaves no descriptor\n" + done.stderr)
    done, _ = collect("gpus=0", EVERY, folder + "/none.csv", 3)
    expect(done.stderr.startswith("no usable GPU: "), done.stderr)


def outputs(folder):
    """What another program wrote stays as it is, to the byte; a header that was cut is begun anew."""
    for name, text in (("note.txt", "one line without an end"), ("table.csv", "a,b\n1,2\n3"), ("other.csv", "device,family\nt4,gemm")):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        done = calibrate("", "collect", "--plan", "quick", "-o", f"{folder}/{name}")
        expect(done.returncode == 2 and "holds what this command did not write" in done.stderr, done.stderr)
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            expect(file.read() == text, f"{name} is left as it was")
    with open(folder + "/cut.csv", "w", encoding="utf-8") as file:
        file.write("device,fam")
    _, rows = collect("", "quick", folder + "/cut.csv")
    expect(rows, "a run that was cut in its header starts again")
    # A broken row: nothing is cut from the file.
    with open(folder + "/cut.csv", "a", encoding="utf-8") as file:
        file.write("h100-sxm5-80gb,gemm,matmul\ncut")
    size = os.path.getsize(folder + "/cut.csv")
    done = calibrate("", "collect", "--plan", "quick", "-o", folder + "/cut.csv")
    expect(done.returncode == 2 and os.path.getsize(folder + "/cut.csv") == size, "a file with a broken row is left as it was")


def interruptions(folder):
    _, whole = collect("", "quick", folder + "/whole.csv")
    for gpu, word in (("interrupt=3000", "(interrupted)"), ("lost=3000", "the GPU failed: an illegal memory access")):
        file = f"{folder}/{gpu}.csv"
        done, rows = collect(gpu, "quick", file, 1)
        expect(word in done.stdout and 0 < len(rows) < len(whole), done.stdout)
        done, rows = collect("", "quick", file)
        expect(sorted(keys(rows)) == sorted(keys(whole)), f"{gpu}: the same command measures the rest, once")
    # Killed while it wrote: the last line is half there, and nothing before it is lost.
    file = folder + "/killed.csv"
    with open(folder + "/whole.csv", "rb") as table:
        lines = table.read().splitlines(keepends=True)
    kept = b"".join(lines[:len(lines) // 2])
    with open(file, "wb") as table:
        table.write(kept + lines[len(lines) // 2][:40])
    done, rows = collect("", "quick", file)
    with open(file, "rb") as table:
        expect(table.read().startswith(kept), "rows that were whole are as they were")
    expect(f"{len(lines) // 2 - 1} already there" in done.stdout, done.stdout)
    expect(sorted(keys(rows)) == sorted(keys(whole)), "killed: the same command measures what was cut and the rest, once")


def passes(folder):
    """Kernels do the work that a training step gives them, no more."""
    _, rows = collect("", "quick", folder + "/passes.csv")
    seconds = {(r["family"], r["precision"], r["pass"], r["shape"]): float(r["time_s"]) for r in rows}
    array = 4 * 32 * 256 * 3136
    for way, count in (("forward", 3), ("backward", 5)):  # backward reads no statistics that forward has saved once more
        took = seconds["batch_norm", "fp32", way, "n=32;c=256;hw=3136"]
        expect(abs(took / (count * array / 2.9e12) - 1) < 0.03, f"batch norm {way}: {took}")
    # A hundred kernels: the device's gap (machine.hpp) after each, and not what the host was late.
    words = next(dict(w.split("=") for w in r["flags"].split() if "=" in w) | {"time": r["time_s"]} for r in rows if "tensors=100" in r["shape"])
    gap = float(words["gap_s"])
    expect(abs(gap / 0.8e-6 - 1) < 0.05, f"measured gap {gap}")
    expect(abs((float(words["time"]) - float(words["kernel_sum_s"])) / (100 * gap) - 1) < 0.02, f"launches back to back: {words}")
    # Both directions of a layer run at once, on two streams: their time counts once.
    with open(folder + "/streams.toml", "w", encoding="utf-8") as file:
        file.write('name = "streams"\nbudget = "1 min"\n[[measure]]\nfamily = "rnn"\n'
                   'shape = ["cell=lstm;input=1024;hidden=1024;batch=64;steps=25;layers=1;directions=2"]\n')
    _, (both,) = collect("", folder + "/streams.toml", folder + "/streams.csv")
    words = dict(w.split("=") for w in both["flags"].split() if "=" in w)
    alone = float(words["kernel_sum_s"]) / 2 + 25 * gap
    expect(abs(float(both["time_s"]) / alone - 1) < 0.02, f"two streams: {both['time_s']} for {alone}")
    # A clock that falls under a load that lasts: short runs do not see it, predictions do.
    _, rows = collect("falls=70", "quick", folder + "/falls.csv")
    loads = [r for r in rows if r["family"] == "load"]
    for r in loads:
        words = dict(w.split("=") for w in r["flags"].split() if "=" in w)
        expect(abs(float(words["burst_s"]) / float(r["time_s"]) / 0.7 - 1) < 0.01, f"rate under load: {r}")
        expect(abs(float(r["clock_mhz"]) / 1386 - 1) < 0.01 and words["burst_clock_mhz"] == "1980", f"clock under load: {r}")
    peaks = {}
    for name in ("passes", "falls"):
        done = calibrate("", "fit", "--samples", f"{folder}/{name}.csv", "-o", f"{folder}/{name}.toml")
        expect(done.returncode == 0, done.stderr)
        with open(f"{folder}/{name}.toml", "rb") as file:
            peaks[name] = tomllib.load(file)
        products = next(p for p in peaks[name]["calibration"] if p["family"] == "gemm" and p["precision"] == "fp32")
        peaks[name]["share"] = products["compute_efficiency"]
    expect(len(loads) == 2 and "fp32 products keep 0.70" in done.stdout and "not used: load" not in done.stdout, done.stdout)
    expect(abs(peaks["falls"]["share"] / peaks["passes"]["share"] / 0.7 - 1) < 0.03, f"fitted at the sustained rate: {peaks}")
    clocks = [float(peaks[name]["sustained_clock"].removesuffix(" MHz")) for name in ("falls", "passes")]
    expect(abs(clocks[0] / 1386 - 1) < 0.01 and clocks[1] == 1980, f"sustained clocks: {clocks}")
    # What cuDNN ranks first is not the fastest; where FFT is the fastest it is granted its gibibyte.
    chosen = {(("r=7" in r["shape"]), r["algorithm"]) for r in rows if r["family"] == "conv" and r["precision"] == "fp32"}
    expect(chosen == {(False, "implicit_gemm"), (False, "algo_0"), (True, "fft")}, f"convolutions: {chosen}")


def budgets(folder):
    """The standard plan ends within its time even where nothing settles, by the machine's own clock."""
    done, rows = collect("tell scatter=60", "standard", folder + "/standard.csv")
    took = float(re.search(r"made-up GPU: ([0-9.]+) s", done.stderr)[1])
    expect(took < 480 / 3 and "not started" not in done.stdout, f"standard: {took} s for {len(rows)} rows\n{done.stdout}")


def prediction(folder):
    file, board = folder + "/whole.csv", folder + "/board.toml"
    done = before = calibrate("", "fit", "--samples", file, "-o", board)
    expect(done.returncode == 0, done.stderr)
    expect("measured: launch interval" in done.stdout and "not used: launch: " in done.stdout, done.stdout)
    expect("measured: h2d-pinned copies" in done.stdout and "launch_interval = " in open(board, encoding="utf-8").read(), done.stdout)
    expect("recurrent     fp32             4" in done.stdout, "recurrent layers serve the fit\n" + done.stdout)
    expect(re.search(r"memory_bound fp32: [0-9.]+ of bandwidth", done.stdout), "no share of peak where nothing is computed\n" + done.stdout)
    # Kernels that only move data show the machine itself: 2.9 of 3.35 TB/s, started in 1.5 us, 0.8 us from each to the next
    # (machine.hpp, machine.cpp).
    with open(board, "rb") as fitted:
        tables = tomllib.load(fitted)["calibration"]
    memory = next(p for p in tables if p["family"] == "memory_bound")
    with open(file) as samples:
        flagged = {r["family"] for r in csv.DictReader(samples) if "stand-in" in r["flags"]}
    expect(flagged == {"softmax", "layer_norm"}, f"kernels of no framework: {flagged}")
    expect(all(f"not used: {family}: " in before.stdout for family in flagged), "and their samples are left out\n" + before.stdout)
    expect(abs(memory["bandwidth_efficiency"] / (2.9 / 3.35) - 1) < 0.02, f"fitted share of bandwidth: {memory}")
    launch, unit = memory["launch"].split()
    expect(abs(float(launch) * {"us": 1, "s": 1e6}[unit] / 2.3 - 1) < 0.1, f"fitted launch: {memory}")
    done = calibrate("", "check", "--samples", file, "--hw", board, "--format", "json")
    expect(done.returncode == 0, done.stderr)
    unused = {entry["family"]: entry for entry in json.loads(done.stdout)["not_used"]}
    expect({"batch_norm", "launch", "copy"} <= set(unused), f"JSON names what was not used: {sorted(unused)}")
    expect("h2d-pinned" in unused["copy"]["measured"], "the rate of host copies is told")
    # The same fit again, onto its own output, with rows of another board beside: they are told, and change nothing.
    with open(file, encoding="utf-8") as table:
        lines = table.read().splitlines()
    with open(board, encoding="utf-8") as fitted:
        first = fitted.read()
    with open(folder + "/others.csv", "w", encoding="utf-8") as table:
        table.write("\n".join([lines[0]] + [line.replace("h100-sxm5-80gb", "board", 1) for line in lines if ",gemm," in line]) + "\n")
    done = calibrate("", "fit", "--samples", file, folder + "/others.csv", "--device", "h100-sxm5-80gb", "-o", board)
    expect(done.returncode == 0 and "not used: board: " in done.stdout and "the catalogue has none of this name" in done.stdout,
           done.stdout + done.stderr)
    with open(board, encoding="utf-8") as fitted:
        again = fitted.read()
    digests = r"source = .*"
    expect(re.sub(digests, "", again) == re.sub(digests, "", first), "rows of another board change nothing")
    with open(folder + "/launch.csv", "w", encoding="utf-8") as table:
        table.write("\n".join([lines[0]] + [line for line in lines if ",launch," in line]) + "\n")
    done = calibrate("", "fit", "--samples", folder + "/launch.csv", "-o", folder + "/no.toml")
    expect(done.returncode == 0 and "measured: launch interval" in done.stdout, "a machine without a kernel to fit\n" + done.stderr)
    done = subprocess.run([TBDSIM, "predict", "--hw", board, "--model", "resnet50"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and "Step time" in done.stdout, done.stderr)


def profile(folder):
    # The recorder lies beside the program that profiles.
    shutil.copy(CALIBRATE, folder + "/tbdsim-calibrate")
    shutil.copy(RECORDER, folder + "/libtbdsim_recorder.so")
    recording = folder + "/recording.txt"
    with open(recording, "w", encoding="utf-8") as file:
        file.write("tbdsim-activity 1\n")  # an earlier one
    environment = {**os.environ, "TBDSIM_CUDA_LIBRARIES": LIBRARIES, "TBDSIM_CATALOGUE": SOURCE,
                   "LD_LIBRARY_PATH": os.path.dirname(CALIBRATE)}
    words = [folder + "/tbdsim-calibrate", "profile", "--skip", "10", "--iterations", "5", "-o", "recording.txt", "--"]

    def run(*program, before=()):
        return subprocess.run([*words[:-1], *before, "--", *program], cwd=folder, env=environment, capture_output=True, text=True,
                              check=False)

    def lines():
        with open(recording, encoding="utf-8") as file:
            return file.read().splitlines()

    # A launcher that runs no kernel, one that runs a few, then the training itself.
    done = run("sh", "-c", f"cd / && {TRAIN} && {TRAIN} 2 && {TRAIN} 40")
    expect(done.returncode == 0 and "5 steady iterations" in done.stdout and "elementwise" in done.stdout, f"profile: {done.returncode}\n{done.stdout}{done.stderr}")
    expect("2 processes ran kernels; the recording is of the one with most, 160" in done.stderr, done.stderr)
    expect(not [name for name in os.listdir(folder) if name.startswith("recording.txt.")], "no folder is left")
    head = lines()[:5]
    expect(head[1:3] == ["device NVIDIA H100 80GB HBM3", "driver 580.159.04"] and re.match(r"library cupti [0-9]+$", head[3])
           and re.match(r"date 20[0-9]{2}-[0-9]{2}-[0-9]{2}T", head[4]), f"the recording says where it comes from: {head}")
    done = run("sh", "-c", f"{TRAIN} 200", before=("--limit", "120"))
    expect(done.returncode == 0 and sum(line.startswith("kernel ") for line in lines()) == 120, "the recording is bounded\n" + done.stderr)
    done = run(TRAIN, "30000", "killed", before=("--limit", "1000000"))
    expect(done.returncode == 137 and recording in done.stderr, f"killed: {done.returncode} {done.stderr}")
    kept = sum(line.startswith("kernel ") for line in lines()) if os.path.exists(recording) else 0
    expect(kept > 1000, f"a program that is killed keeps all but its last second, not {kept} kernels")
    before = lines()
    for program, status, told in (("true", 2, "no kernel was recorded: "), ("false", 1, "it recorded nothing; ")):
        done = run(program)
        expect(done.returncode == status and done.stdout == "" and told in done.stderr and f"; {recording} is an earlier recording\n" in done.stderr,
               f"no earlier recording stands for a program that recorded nothing: {done.returncode} {done.stdout}{done.stderr}")
        expect(lines() == before, "a program that records nothing takes no earlier recording away")
    os.remove(recording)
    done = run("true")
    expect(done.returncode == 2 and not os.path.exists(recording) and "earlier" not in done.stderr, done.stderr)
    environment["TBDSIM_MADE_UP_GPU"] = "cupti=newer"
    done = run(TRAIN, "40")
    expect(done.returncode == 0, "a CUPTI that is newer than the driver gives way to an older one\n" + done.stderr)
    with open(os.path.join(SOURCE, "cmake/cuda.cmake"), encoding="utf-8") as cmake:
        least = set(re.findall(r"find_package\(CUDAToolkit ([0-9.]+)", cmake.read()))
    with open(os.path.join(SOURCE, "calibrate/collect/README.md"), encoding="utf-8") as readme:
        expect(least == {"11.1"} and "release 11.1 to 13" in readme.read(), f"CUDA 11.0 lacks records that are used: {least}")


with tempfile.TemporaryDirectory() as scratch:
    for part in (every_family, refusals, outputs, interruptions, passes, budgets, prediction, profile):
        part(scratch)
sys.exit(1 if failures else 0)
