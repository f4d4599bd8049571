#!/usr/bin/env python3
"""Converts published runs of language models that are divided over GPUs into measured-run tables.

    python3 scenarios/import/import_layouts.py SOURCE_DATA_FOLDER

The folder holds `runs/*.csv`. Writes scenarios/layouts/*.csv and the networks there that no catalogue name stands for. Rows that
cannot be used are counted by reason and listed in scenarios/layouts/LEFT_OUT.md.
"""

import collections
import csv
import pathlib
import re
import sys

import import_parallel

TARGET = pathlib.Path(__file__).resolve().parent.parent / "layouts"
COLUMNS = ("id,hw,model,stack,precision,gpus,nodes,network,batch_per_gpu,seq_len,optimizer,options,metric,unit,measured,use,group,"
           "source").split(",")
GPT = """schema = 1
name = "{name}"
batch = 1
input_unit = "sequence"

[transformer]
decoder_layers = {layers}
width = {width}
heads = {heads}
words = {words}
length = {length}
positions = {length}
fused_projection = true
"""
VTRAIN_WORDS = 50257

INTERNLM = """# InternLM 7B: a Llama whose projections of attention have biases. Source: internlm/internlm-7b config.json.
schema = 1
name = "internlm-7b"
batch = 1
input_unit = "sequence"

[transformer]
decoder_layers = 32
width = 4096
heads = 32
filter = 11008
words = 103168
length = 2048
rotary = true
norm = "rms"
gated = true
activation = "silu"
attention_bias = true
feed_forward_bias = false
dropout = 0.0
tied = false
"""
MEGATRON = {"megatron-22B": "megatron-22b", "gpt3-175B": "megatron-175b", "turing-530B": "megatron-530b", "megatron-1T": "megatron-1t",
            "GPT 174.6B": "megatron-175b", "GPT 529.6B": "megatron-530b", "GPT 1.7B h2304 l24 a24": "megatron-1.7b",
            "GPT 3.6B h3072 l30 a32": "megatron-3.6b", "GPT 7.5B h4096 l36 a32": "megatron-7.5b",
            "GPT 18B h6144 l40 a48": "megatron-18.4b", "GPT 39B h8192 l48 a64": "megatron-39.1b",
            "GPT 76B h10240 l60 a80": "megatron-76.1b", "GPT 145B h12288 l80 a96": "megatron-145.6b",
            "GPT 310B h16384 l96 a128": "megatron-310.1b", "GPT 530B h20480 l105 a128": "megatron-529.6b",
            "GPT 1T h25600 l128 a160": "megatron-1008b"}
# layers, width, words 51200: for the papers' formula of FLOP.
SHAPES = {"megatron-1.7b": (24, 2304), "megatron-3.6b": (30, 3072), "megatron-7.5b": (36, 4096), "megatron-18.4b": (40, 6144),
          "megatron-39.1b": (48, 8192), "megatron-76.1b": (60, 10240), "megatron-145.6b": (80, 12288), "megatron-310.1b": (96, 16384),
          "megatron-529.6b": (105, 20480), "megatron-1008b": (128, 25600), "megatron-175b": (96, 12288), "megatron-530b": (105, 20480)}
LLAMA = {"Llama 3.1 8B": "llama-3.1-8b", "Llama 3 8B": "llama-3-8b", "Llama 3.1 70B": "llama-3.1-70b", "Llama 3 70B": "llama-3-70b",
         "Llama 3.1 405B": "llama-3.1-405b", "Llama 2 13B": "llama-2-13b", "Llama 2 70B": "llama-2-70b", "Llama 2 7B": "llama-2-7b",
         "Qwen3 8B": "qwen3-8b", "Llama 3 8B (model not restated; torchtitan default)": "llama-3-8b"}
BOARDS = {"H100-SXM5-96GB (HBM2e, 500 W)": "grand-teton-h100-96gb", "H100-SXM5-95GB (HBM2e, lower TDP)": "grand-teton-h100-96gb",
          "A100-SXM4-80GB": "dgx-a100-80gb", "H200-SXM-141GB": "dgx-h200", "H100-SXM5 (memory size not stated)": "grand-teton-h100-96gb",
          "MI300X": "mi300x-platform"}


# InternEvo's nodes: "NVSwitch + 4x 100 Gb/s RoCE per node". A DGX A100's wiring with a port for two GPUs.
ROCE = "systems/a100-4x100g-roce.toml"
FEWER_PORTS = (("^name = .*", 'name = "HGX A100 80GB, 4x 100G RoCE"'), ("^network = .*", 'network = "ethernet-100g-roce"'),
               ("^nics = 8", "nics = 4"), ('^  {a = "nic[1357]".*\n', ""), ('"nic2"', '"nic1"'), ('"nic4"', '"nic2"'), ('"nic6"', '"nic3"'))


# Jean Zay's nodes of four V100 with "4x Omni-Path 100Gb": a Dell C4140's wiring. InfiniBand EDR stands for the network, at the same rate.
JEAN_ZAY = "systems/jean-zay-{board}.toml"
JEAN_ZAY_TEXT = (("^name = .*", 'name = "Jean Zay, 4x {board}"'), ("^device = .*", 'device = "{board}"'),
                 ("^gpus = 4", 'gpus = 4\nnetwork = "infiniband-edr"\nnics = 4'))


class LeftOut(Exception):
    """Why a row enters no table."""


def numbers(notes):
    """tp=1 pp=2 of a note."""
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", notes)}


def options(**values):
    """Options of a row, without those that are as by default."""
    plain = {"tensor_parallel": 1, "pipeline_parallel": 1, "virtual_stages": 1, "context_parallel": 1, "accumulate": 1, "zero": None,
             "recompute": "none", "sequence_parallel": None, "schedule": None}
    return " ".join(f"--{key.replace('_', '-')} {value}" for key, value in values.items() if value not in (None, "") and value != plain.get(key))


def vtrain(row):
    n = numbers(row["notes"])
    found = re.fullmatch(r"GPT h(\d+) l(\d+) a(\d+)", row["model"])
    width, layers, heads = map(int, found.groups())
    # src/config.py of vTrain: vocab_size 50257; src/model/gpt_modeling.py: vocab_size // world_size of them on each GPU of the tensor axis.
    words = VTRAIN_WORDS // n["tp"] * n["tp"]
    name = f"gpt-h{width}-l{layers}-{words}"
    (TARGET / "networks" / f"{name}.toml").write_text(GPT.format(name=name, layers=layers, width=width, heads=heads, words=words, length=1024))
    micro = n["global_batch"] // (n["micro_batch"] * n["dp"])
    kind = "".join(letter for letter, ways in (("T", n["tp"]), ("P", n["pp"]), ("D", n["dp"])) if ways > 1)
    return dict(id=f"h{width} l{layers} t{n['tp']} d{n['dp']} p{n['pp']} b{n['micro_batch']} m{micro}", hw="dgx-a100-80gb",
                model=f"networks/{name}.toml", stack="megatron-deepspeed-2022", precision="fp16", batch_per_gpu=n["micro_batch"],
                optimizer="adam",
                options=options(tensor_parallel=n["tp"], pipeline_parallel=n["pp"], accumulate=micro), metric="step_time_s", unit="s",
                measured=float(row["value"]) / 1e3, use="fit" if (width, layers) == (1024, 12) else "validation",
                group=f"vtrain {kind}")


def korthikanti(row):
    if row["metric"] != "s/iter":
        raise LeftOut("another measure of the same run, or activations alone (a test has these)")
    n = numbers(row["notes"])
    model = MEGATRON[row["model"]]
    batch = int(row["batch_per_gpu"].split()[-1])
    virtual = 3 if model in {"megatron-175b", "megatron-530b"} else 1
    selective = row["notes"].startswith("selective")
    micro = n["global_batch"] // (batch * n["dp"])
    return dict(id=f"{model} {'selective' if selective else 'full'}", hw="dgx-a100-80gb", model=model, stack="megatron-lm-2022",
                precision="fp16", batch_per_gpu=batch, optimizer="adam",
                options=options(tensor_parallel=n["tp"], pipeline_parallel=n["pp"], virtual_stages=virtual, accumulate=micro,
                                recompute="selective" if selective else "layer", sequence_parallel="on" if selective else "off"),
                metric="step_time_s", unit="s", measured=float(row["value"]), group="korthikanti")


def narayanan(row):
    if "DeepSpeed" in row["framework"]:
        raise LeftOut("DeepSpeed ZeRO-3 of 2021: the paper states neither its settings nor a micro-batch")
    n = numbers(row["notes"])
    found = re.search(r"model-parallel size (\d+)", row["notes"])
    if found:  # eight GPUs of a node share a layer, as in the paper's other tables
        n.update(tp=8, pp=int(found.group(1)) // 8)
    model = MEGATRON[row["model"]]
    batch = int(re.search(r"\d+", row["batch_per_gpu"]).group())
    layers, width = SHAPES[model]
    samples, length, words = n["global_batch"], 2048, 51200
    flop = 96 * samples * length * layers * width**2 * (1 + length / (6 * width) + words / (16 * layers * width))
    gpus = int(row["n_gpus"])
    data = n.get("dp", gpus // (n["tp"] * n["pp"]))
    return dict(id=f"{model} on {gpus}", hw="dgx-a100-80gb", model=model, stack="megatron-lm-2021", precision="fp16",
                batch_per_gpu=batch, optimizer="adam",
                options=options(tensor_parallel=n["tp"], pipeline_parallel=n["pp"], accumulate=samples // (batch * data),
                                recompute="layer"),
                metric="step_time_s", unit="s", measured=flop / (float(row["value"]) * 1e12 * gpus), group="narayanan")


def layout_row(row, stack, model, **more):
    """What the newer files state in columns."""
    reserved = row["metric"].startswith("GiB (max reserved")
    if row["metric"] not in ("tokens/s/GPU", "tokens/s") and not reserved:
        raise LeftOut(f"another measure: {row['metric']}")
    if row["seq_len"] in ("", "not stated"):
        raise LeftOut("length of a sequence not stated")
    precision = row["precision"]
    kind = "bf16" if precision.startswith("bf16") else "fp8" if precision.startswith("fp8") else "mxfp8" if "mxfp8" in precision.lower() else None
    if kind is None or "rowwise" in precision:
        raise LeftOut(f"precision {precision}")
    tensor, pipe, context = (int(row[key] or 1) for key in ("tp", "pp", "cp"))
    gpus = int(row["n_gpus"])
    data = int(row["dp"] or gpus // (tensor * pipe * context))
    if not row["micro_batch"].isdigit() or not row["global_batch"].isdigit():
        raise LeftOut("micro-batch not stated")
    micro = int(row["micro_batch"])
    accumulate = int(row["global_batch"]) // (micro * data)
    value = float(row["value"]) * (2**30 if reserved else gpus if row["metric"] == "tokens/s/GPU" else 1)
    hw = BOARDS.get(row["device"])
    if hw is None:
        raise LeftOut(f"board not in the catalogue: {row['device']}")
    recompute = row["recompute"]
    again = "layer" if recompute.startswith("full") else "selective" if recompute.startswith("selective") else "none"
    if "selective layer" in recompute:
        raise LeftOut("every second layer is computed again")
    fields = dict(id=f"{model} {kind} {stack} on {gpus}, t{tensor} c{context} p{pipe} b{micro} m{accumulate} s{row['seq_len']} {again}",
                  hw=hw, model=model, stack=stack, precision=kind, batch_per_gpu=micro, seq_len=row["seq_len"], optimizer="adam",
                  options=options(tensor_parallel=tensor, context_parallel=context, pipeline_parallel=pipe, accumulate=accumulate,
                                  recompute=again),
                  metric="peak_reserved_bytes" if reserved else "throughput", unit="bytes" if reserved else "tokens/s",
                  measured=value)
    fields.update(more)
    if reserved:
        fields.update(id=f"memory of {fields['id']}", group=f"{fields['group']}, memory")
    return fields


def torchtitan(row):
    model = LLAMA.get(row["model"])
    if model is None:
        raise LeftOut(f"network: {row['model']}")
    # 8 bits are of use with compiled casts alone, as the pages of torchao say.
    compiled = "fp8" in row["precision"] or "compile" in row["notes"] and "compile state not stated" not in row["notes"]
    version = "2.8" if re.search("_2025-?(0[5-9]|1)", row["source"]) else "2.6"
    pieces = re.search("async ?tp", row["notes"], re.IGNORECASE)
    group = f"torchtitan {'fp8' if 'fp8' in row['precision'] else 'bf16'} {row['device'].split('-')[0]}"
    fields = layout_row(row, f"fsdp2-{version}-compile" if compiled else f"fsdp2-{version}", model,
                        group=group + (" asynchronous" if pieces else ""))
    if pieces:
        fields.update(id=f"asynchronous {fields['id']}", options=f"{fields['options']} --set stack.parallel.tensor_overlap=one-product")
    return fields


def open_frameworks(row):
    if row["framework"].startswith("InternEvo") and row["device"] == "A100-SXM4-80GB":
        if row["zero"] == "ZeRO-1 within 4":
            raise LeftOut("states divided over four GPUs of a node")
        everywhere = "all ranks" in row["zero"]
        return layout_row(row, "internevo-0.2-all-ranks" if everywhere else "internevo-0.2", "networks/internlm-7b.toml",
                          hw=ROCE, seq_len="",
                          group=f"internevo states {'over all ranks' if everywhere else 'inside a node'}")
    if row["framework"].startswith("torchtitan") and row["model"] in LLAMA:
        stack = "fsdp2-2.6-rocm-compile" if row["device"].startswith("MI") else "fsdp2-2.6-compile"
        return layout_row(row, stack, LLAMA[row["model"]], group="torchao")
    raise LeftOut(f"framework {row['framework']}, {row['device']}")


def bigscience(row):
    if row["metric"] != "s/iter":
        raise LeftOut("another measure of the same run")
    if row["model"] not in import_parallel.MODELS:
        raise LeftOut("layers and width not stated beside the row")
    n, section = import_parallel.fields(row["notes"])
    if "Zero" in n or "ZeRO" in section or "HF" in section or "BNB" in section:
        raise LeftOut("states sharded or moved to the host beside layers, or an optimiser of 8 bits")
    if n.get("DS") != "Y" and row["model"] != "GPT 1.3B":
        raise LeftOut("Megatron without DeepSpeed, or not stated")
    batch = int(n.get("MBS", n.get("Mic-BS", 0)))
    total = int(n.get("GBS", n.get("Glob-BS", import_parallel.GLOBAL_BATCH.get(row["model"], 0))))
    data, tensor, stages = int(n["DP"]), int(n.get("TP", 4)), int(n.get("PP", 1))
    if "GAS" in n:
        batch = total // (data * int(n["GAS"]))
    if not batch or not total:
        raise LeftOut("micro-batch not stated")
    # FLOP/s count three or four passes, as import_parallel.py says.
    kept = row["model"] == "GPT 1.3B" and float(n["TFlops"]) * float(n["Speed"]) < 0.875 * 29 * 47.0
    model, board, micro = import_parallel.MODELS[row["model"]], row["device"].lower(), total // (data * batch)
    # The script of the page's main table sets ZeRO 0. Its tables with a bucket size stand under "zero_stage:1 + reduce_bucket_size" and
    # "Experiment 1: ... DS_ZeRO Stage 1".
    divided = data > 1 and (row["model"] != "GPT 52B" or "bucket" in n)
    return dict(id=f"{model} on {row['n_gpus']} {board}, t{tensor} d{data} p{stages} b{batch} m{micro}",
                hw=JEAN_ZAY.format(board=board), model=model,
                stack="megatron-deepspeed-2022", precision="fp16", batch_per_gpu=batch, optimizer="adam",
                options=options(tensor_parallel=tensor, pipeline_parallel=stages, accumulate=micro,
                                zero=1 if divided else None, recompute="none" if kept else "layer"),
                metric="step_time_s", unit="s", measured=float(row["value"]),
                group=f"bigscience {'whole layers' if tensor == 1 else 'shared layers'}")


def write_systems():
    """Machines that the catalogue lacks, of those with the same wiring."""
    made = [("dgx-a100-80gb", ROCE, FEWER_PORTS, "")]
    made += [("dell-c4140", JEAN_ZAY.format(board=board), JEAN_ZAY_TEXT, board) for board in ("v100-sxm2-16gb", "v100-sxm2-32gb")]
    (TARGET / "systems").mkdir(exist_ok=True)
    for source, target, changes, board in made:
        system = (TARGET.parent.parent / "hardware" / "systems" / f"{source}.toml").read_text()
        for pattern, text in changes:
            system = re.sub(pattern, text.replace("{board}", board), system, flags=re.MULTILINE)
        (TARGET / target).write_text(system)


TABLES = {"bigscience": ("bigscience_megatron_ds", bigscience), "vtrain": ("vtrain_megatron_deepspeed_a100", vtrain), "korthikanti": ("megatron_korthikanti_a100", korthikanti),
          "narayanan": ("megatron_narayanan2021_a100", narayanan), "torchtitan": ("torchtitan_public", torchtitan),
          "open_frameworks": ("llm_open_frameworks", open_frameworks)}


def main(folder):
    (TARGET / "networks").mkdir(parents=True, exist_ok=True)
    (TARGET / "networks" / "internlm-7b.toml").write_text(INTERNLM)
    write_systems()
    left = []
    for table, (source, convert) in TABLES.items():
        rows, reasons, ids = [], collections.Counter(), collections.Counter()
        with open(pathlib.Path(folder) / "runs" / f"{source}.csv", newline="", encoding="utf-8") as file:
            for run in csv.DictReader(file):
                try:
                    row = convert(run)
                except LeftOut as reason:
                    reasons[str(reason)] += 1
                    continue
                ids[row["id"]] += 1
                if ids[row["id"]] > 1:
                    row["id"] += f" ({ids[row['id']]})"
                rows.append({"gpus": int(run["n_gpus"]), "nodes": int(run["n_nodes"]), "use": "validation",
                             "source": f'{run["source"]}; {run["framework"]}', **row})
        with open(TARGET / f"{table}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        left += [f"- `{table}`: {count} rows: {reason}" for reason, count in sorted(reasons.items())]
        print(f"{table}: {len(rows)} rows, {sum(reasons.values())} left out")
    (TARGET / "LEFT_OUT.md").write_text("# Rows that enter no table\n\nWritten by `scenarios/import/import_layouts.py`.\n\n" + "\n".join(left) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
