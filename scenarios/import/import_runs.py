#!/usr/bin/env python3
"""Converts published training measurements into measured-run tables.

    python3 scenarios/import/import_runs.py SOURCE_DATA_FOLDER TBDSIM

TBDSIM is a built program: networks that it does not know are left out. The folder holds `runs/*.csv` and `seeds/papers_numbers.csv`, one published number per row with its source. Writes
scenarios/published/*.csv and scenarios/published/INDEX.md. Every row of a source is either in a table or counted in
the index with the reason for leaving it out.
"""

import collections
import functools
import pathlib
import sys

import scaling
import sequences
import whole_steps
from names import BOARDS, TF_CNN_DEFAULT_BATCH, network
from tables import LeftOut, Run, common, read_source, write_table

PUBLISHED = pathlib.Path(__file__).resolve().parent.parent / "published"
REAL_INPUT = scaling.REAL_INPUT


def mxnet(row):
    if "2016" in row["framework"]:
        return scaling.mxnet_2016(row)
    if row["metric"] != "images/s":
        return LeftOut("out of memory at this batch")
    year_2017 = "2017" in row["framework"]
    table = "mxnet_2017" if year_2017 else "mxnet_1_2"
    board = BOARDS[row["device"]].split("-")[0]
    fit = table == "mxnet_1_2" and board == "v100"
    return common(row, table=table, group=f'{"mxnet-2017" if year_2017 else "mxnet-1.2"}/{board}',
                  stack="mxnet-0.9" if year_2017 else "mxnet-1.2", use="fit" if fit else "validation",
                  source=f'{row["source"]}; {row["framework"]}, {row["system"]}')


def titan_xp(row):
    wanted = row["network"] == "ResNet-50 (MXNet)" and row["quantity"] == "training throughput"
    if not (wanted and row["hardware"] in BOARDS and row["unit"] == "samples/s"):
        return LeftOut("not the ResNet-50 batch curve")
    return Run(table="titan_xp_resnet50_batch", group="echo-mxnet/titan-xp", hw=BOARDS[row["hardware"]],
               model="resnet50", stack="mxnet-0.12", precision="fp32", batch=int(row["batch"]), metric="throughput",
               unit="samples/s", value=float(row["value"]), options="--set stack.operators.inplace_activation=true",
               source=f'{row["source"]}; MXNet 0.12.1 fork; its activations ask for their output alone unless USE_CUDNN_ACTIVATION '
                      "is 1 (UofT-EcoSystem/incubator-mxnet@42a41338, src/operator/activation-inl.h)")


def echo(row):
    return sequences.sockeye(row) if row["network"].startswith("Sockeye") else titan_xp(row)


def tensorflow_2017(row):
    if "cluster" in row["system"]:
        return scaling.tensorflow_cluster(row)
    board = BOARDS[row["device"]].split("-")[0]
    site = {"GCE n1-standard-32-k80x8": "gce", "EC2 p2.8xlarge": "ec2", "DGX-1 (P100)": ""}[row["system"]]
    fields = dict(stack="tensorflow-1.3", optimizer="sgd",
                  source=f'{row["source"]}; TensorFlow of May 2017, {row["system"]}; {row["notes"]}')
    # One GPU too fetches the variables that lie on the host, and leaves the update to it.
    on_host = "parameter_server(cpu)" in row["notes"] or (site == "ec2" and row["model"].startswith("Inception"))
    single = common(row, table="tensorflow_2017", group=f"tensorflow-2017/{board}", series=site,
                    exchange="ps" if on_host else "", **fields)
    # A scaling series belongs to one machine, so each machine is a group.
    machine = f"{board}-{site}" if site else board
    if "synthetic" not in row["dataset"]:
        real = common(row, table="tensorflow_2017_real_input", group=f"tensorflow-2017-real-input/{machine}", **fields)
        if isinstance(real, Run):
            real.hw, real.exchange, real.input = {"p100": "dgx1-p100", "k80": "k80"}[board], exchange_tensorflow_2017(row), "imagenet-records"
        return real
    multi = common(row, table="tensorflow_2017_multi_gpu", group=f"tensorflow-2017-multi-gpu/{machine}", **fields)
    if isinstance(multi, Run):
        multi.hw = {"p100": "dgx1-p100", "k80": "k80"}[board]
        multi.exchange = exchange_tensorflow_2017(row)
        multi.use = "fit" if site == "gce" else "validation"  # they set the K80's loss from sharing a board
    return [single, multi] if row["n_gpus"] == "1" else [multi]


def exchange_tensorflow_2017(row):
    """Which exchange a multi-GPU row used, as its notes say."""
    replicated = "replicated+NCCL" in row["notes"]
    if row["system"] == "EC2 p2.8xlarge":
        replicated = row["model"].startswith("ResNet")
    return "allreduce" if replicated else "ps"


def lambda_tf(row):
    if "synthetic" not in row["dataset"]:
        return scaling.lambda_real_input(row)
    if "XLA" in row["framework"]:
        return scaling.lambda_xla(row)
    if row["precision"] != "FP32":
        return LeftOut(f'precision {row["precision"]}')
    # Logs without a version in their path are of the same benchmark repository and years; its oldest named version.
    version = {"TF1.15": "1.15", "TF2.2": "2.2"}.get(row["framework"].split()[-1], "1.15")
    origin = row["source"].split(":")[0]
    commit = row["source"].rsplit("@", 1)[1]
    fields = dict(stack=f"tensorflow-{version}", run=f'{row["source"].split("/")[2]}@{commit}')
    board = BOARDS.get(row["device"])
    single = common(row, table="lambda_tf", group=f"lambda-tf/{board}",
                    source=f"{origin}; tf_cnn_benchmarks", **fields)
    if isinstance(single, LeftOut):
        return single
    rows = [single] if single.gpus == 1 else []
    if row["system"] in plain_lambda_systems():
        rows.append(common(row, table="lambda_tf_multi_gpu", group=f"lambda-tf-multi-gpu/{board}",
                           exchange="allreduce" if single.gpus > 1 else "",
                           source=f"{origin}; tf_cnn_benchmarks, variable_update=replicated", **fields))
    return rows or LeftOut("several GPUs with NVLink bridges or in a cloud machine whose wiring is not stated")


def plain_lambda_systems():
    """Machines whose GPUs meet over PCIe only and that ran 1 and more GPUs in one series."""
    return {f"Gold_6230-{board}_{runs}" for board in ("GeForce_RTX_2080_Ti", "Quadro_RTX_8000")
            for runs in ("trt_TF1_15", "trt2_TF1_15", "trt_TF2_2", "trt2_TF2_2")}


def github_small(row):
    if row["metric"] != "images/s" or "real" in row["dataset"]:
        return REAL_INPUT
    if row["precision"] != "FP32":
        return LeftOut(f'precision {row["precision"]}')
    model = network(row["model"])
    stack = ("mxnet-1.2" if "MXNet" in row["framework"] else "tensorflow-1.14" if "1.14" in row["framework"]
             else "tensorflow-1.3" if "TF1.3" in row["framework"] else "")
    batch = int(row["batch_per_gpu"]) if row["batch_per_gpu"] else TF_CNN_DEFAULT_BATCH[model]
    if row["n_gpus"] != "1":
        return LeftOut("several GPUs, or no 1-GPU row to go with them")
    publisher = {"cemizm": "cemizm", "tensorpack": "tensorpack", "apache": "mxnet-gluon"}
    origin = next((name for key, name in publisher.items() if key in row["source"]), "other")
    fields = dict(run=f'{row["framework"]} {row["notes"].split(";")[0]}') if origin == "tensorpack" else {}
    source = row["source"] if fields else f'{row["source"]}; {row["framework"]}'
    if not row["batch_per_gpu"]:
        source += "; batch not stated: tf_cnn_benchmarks' default"
    return common(row, table="github_small", group=f'github-small-{origin}/{BOARDS.get(row["device"])}', stack=stack,
                  batch=batch, source=source, **fields)


def u39kun(row):
    framework, version = row["framework"].split()
    if framework == "Caffe2":
        return LeftOut("Caffe2: no such stack")
    metric = "forward_s" if "forward only" in row["metric"] else "forward_backward_s"
    framework = framework.lower()
    half = row["precision"] == "FP16"
    fields = {}
    if framework == "pytorch" and metric == "forward_backward_s":
        # frameworks/pytorch/models.py@93d9169f sets gradients to zero and waits for the device within the timed step.
        fields = dict(metric="step_time_s", optimizer="none", options=whole_steps.WAITS)
    table = "u39kun_fp16" if half else "u39kun" if framework == "pytorch" else "u39kun_other"
    return common(row, table=table, group=f'u39kun-{framework}{"-fp16" if half else ""}/{BOARDS[row["device"]]}',
                  **{**dict(stack=f"{framework}-{version}", metric=metric, unit="s", value=float(row["value"]) / 1e3), **fields},
                  source=f'{row["source"]}; {row["notes"].split("; ")[-1]}')


def jcjohnson(row):
    if "no cuDNN" in row["framework"]:
        return LeftOut("Torch7 without cuDNN")
    metric = {"ms/batch (forward)": "forward_s", "ms/batch (backward)": "backward_s"}.get(row["metric"])
    if metric is None:
        return LeftOut("sum of forward and backward, which are there apart")
    generation = row["framework"].split()[-1][:3]
    board = BOARDS[row["device"]]
    fit = generation == "5.1" and board == "titan-x-pascal"
    return common(row, table="jcjohnson", group=f"torch7-cudnn{generation}/{board}", metric=metric, unit="s",
                  stack=f"torch7-cudnn{generation}", value=float(row["value"]) / 1e3,
                  use="fit" if fit else "validation")


def nvidia_examples(row):
    result = scaling.nvidia_resnet50(row)
    if not isinstance(result, LeftOut) or "not ResNet-50" not in result.reason:
        return result
    single, several = sequences.nvidia(row), scaling.nvidia_bert(row)
    both = [run for run in (single, several) if isinstance(run, Run)]
    return both or single


SOURCES = (("runs/mxnet_official.csv", mxnet), ("seeds/papers_numbers.csv", echo),
           ("runs/tensorflow_official_2017.csv", tensorflow_2017),
           ("runs/lambda_tf_cnn_benchmarks_logs.csv", lambda_tf), ("runs/misc_github_small.csv", github_small),
           ("runs/cscs_daint_aws_p100_k80.csv", scaling.cscs),
           ("runs/horovod_byteps_scaling_claims.csv", scaling.horovod),
           ("runs/nvidia_dle_train.csv", nvidia_examples),
           ("runs/lambda_pytorch_logs.csv", sequences.lambda_logs), ("runs/u39kun_dlbench.csv", u39kun), ("runs/jcjohnson_cnn_benchmarks.csv", jcjohnson))
# These also ask the catalogue.
WHOLE_STEPS = (("runs/ryujaehun_pytorch_gpu_train.csv", whole_steps.ryujaehun),
               ("runs/torchdynamo_a100_eager.csv", whole_steps.torchdynamo),
               ("runs/lambda_pytorch_more_boards.csv", whole_steps.lambda_more))


def convert(folder, catalogue):
    """(runs by table, left-out counts by source file, (rows, used) by source file)."""
    tables, left_out, totals = collections.OrderedDict(), {}, {}
    asking = tuple((name, functools.partial(classify, catalogue=catalogue)) for name, classify in WHOLE_STEPS)
    for name, classify in SOURCES + asking:
        rows = read_source(folder, name)
        reasons, used = collections.Counter(), 0
        for row in rows:
            result = classify(row)
            if isinstance(result, LeftOut):
                reasons[result.reason] += 1
                continue
            used += 1
            for run in result if isinstance(result, list) else [result]:
                tables.setdefault(run.table, []).append(run)
        assert used + sum(reasons.values()) == len(rows)
        left_out[name], totals[name] = reasons, (len(rows), used)
    return tables, left_out, totals


def index_text(counts, left_out, totals):
    lines = ["# Measured-run tables", "", "Generated by `scenarios/import/import_runs.py`; do not edit.", "",
             "| table | group | use | rows |", "|---|---|---|---|"]
    for table, groups in counts.items():
        lines += [f"| `{table}.csv` | {group} | {use} | {rows} |" for group, use, rows in groups]
    lines += ["", "## Published numbers read and left out", "",
              "Several runs of one point become one row, their median, so tables hold fewer rows than numbers used.",
              "", "| source | numbers | used | left out | reason |", "|---|---|---|---|---|"]
    for name, (rows, used) in totals.items():
        reasons = sorted(left_out[name].items(), key=lambda item: (-item[1], item[0])) or [("", 0)]
        for position, (reason, count) in enumerate(reasons):
            head = f"| {name} | {rows} | {used} " if position == 0 else "| | | "
            lines.append(f"{head}| {count} | {reason} |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tables, left_out, totals = convert(sys.argv[1], whole_steps.Catalogue(sys.argv[2]))
    PUBLISHED.mkdir(exist_ok=True)
    counts = {name: write_table(PUBLISHED, name, runs) for name, runs in tables.items()}
    (PUBLISHED / "INDEX.md").write_text(index_text(counts, left_out, totals), encoding="utf-8")


if __name__ == "__main__":
    main()
