"""The table that pytorch_steps.py writes is one that `tbdsim validate` reads, every network of it known; the script runs on with a
configuration that fails. PyTorch itself is not needed. usage: pytorch_steps_test.py TBDSIM SOURCE"""
import contextlib
import csv
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import types

TBDSIM, SOURCE = sys.argv[1:3]
torch = types.ModuleType("torch")
torch.nn = types.SimpleNamespace(Module=object)
torch.__version__ = "2.11.0+cu130"
torch.cuda = types.SimpleNamespace(is_available=lambda: True, get_device_name=lambda: "NVIDIA H100 80GB HBM3")
torch.version = types.SimpleNamespace(cuda="13.0")
torch.backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 91900))
sys.modules["torch"] = torch
spec = importlib.util.spec_from_file_location("pytorch_steps", os.path.join(SOURCE, "calibrate/collect/pytorch_steps.py"))
steps = importlib.util.module_from_spec(spec)
spec.loader.exec_module(steps)


def made_up(network, batch, precision, arguments):
    if network == "gpt2" and batch == 128:
        raise RuntimeError("CUDA out of memory.")
    gigabyte = 1e9 + 1e8 * batch
    return [("step_time_s", "s", 0.01 * batch, 1e-4), ("peak_allocated_bytes", "bytes", gigabyte, None),
            ("peak_reserved_bytes", "bytes", 1.1 * gigabyte, None),
            ("peak_memory_bytes", "bytes", 1.2 * gigabyte, None)], (0.009, 0.9, {"kernel": [2, 0.009]}), "measured: a made-up GPU"


def run(*words):
    sys.argv = ["pytorch_steps.py", "--hw", "h100-sxm5-80gb", "-o", table, "--kernels", table + ".kernels", *words]
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        return steps.main(), said.getvalue()


with tempfile.TemporaryDirectory() as folder:
    table = folder + "/steps.csv"
    # Every configuration has a process of its own, and what that says on its way out is the reason.
    process = types.SimpleNamespace(hw="h100-sxm5-80gb", output=table, device="cuda", seconds=2, kernels=None)
    steps.SCRIPT = folder + "/child.py"
    with open(steps.SCRIPT, "w", encoding="utf-8") as file:
        file.write("import json, os, sys\nif sys.argv[-1] == 'vgg16,fp32,8': sys.exit('more words\\nCUDA out of memory.')\n"
                   "print(json.dumps({'rows': [sys.argv[-1], os.getpid()], 'kernels': None, 'source': 'measured: here'}))\n")
    answers = [steps.apart("resnet50", batch, "amp", process) for batch in (8, 8)]
    assert all(a[0][0] == "resnet50,amp,8" and a[2] == "measured: here" for a in answers), answers
    assert len({os.getpid(), answers[0][0][1], answers[1][0][1]}) == 3, answers
    try:
        steps.apart("vgg16", 8, "fp32", process)
        assert False, "a process that fails is a configuration that fails"
    except RuntimeError as error:
        assert str(error) == "CUDA out of memory.", error
    steps.apart = made_up
    status, said = run("--budget", "-1")
    assert status == 1 and "54 configurations not started" in said, said
    status, said = run("--batches", "8")
    assert status == 0, said
    with open(table, "a", encoding="utf-8") as file:
        file.write("h100-sxm5-80gb-resn")  # cut off
    status, said = run()
    assert status == 0 and said.count("left out: gpt2") == 3 and "batch 128: CUDA out of memory.\n" in said, said
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * (6 * 3 * 3 - 3) == len({r["id"] for r in rows}), len(rows)
    done = subprocess.run([TBDSIM, "validate", table, "--format", "json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)["rows"]
    skipped = [r for r in answer if "skipped" in r]
    assert len(answer) == len(rows) and not skipped, skipped[:3]
    table = folder + "/note.txt"
    with open(table, "w", encoding="utf-8") as file:
        file.write("a note")
    status, said = run()
    assert status == 2 and "did not write" in said and open(table, encoding="utf-8").read() == "a note", said
    # pytorch_attention.py begins anew what it wrote itself, and nothing else.
    spec = importlib.util.spec_from_file_location("attention", os.path.join(SOURCE, "calibrate/collect/pytorch_attention.py"))
    attention = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(attention)
    own = dict(dict.fromkeys(attention.COLUMNS, ""), library="pytorch 2.11.0; cuda 13.0", time_s="1e-3")
    for library, foreign in (("pytorch 2.11.0", False), ("cuda 13.0; cublaslt 13", True)):
        with open(folder + "/samples.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, attention.COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows([own, dict(own, library=library)])
            file.write("h100-sxm5-80gb,atten")  # cut off
        assert attention.foreign(folder + "/samples.csv") == foreign, library
    assert attention.foreign(table) and not attention.foreign(folder + "/none.csv")
