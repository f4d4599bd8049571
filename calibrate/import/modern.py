"""Kernels of A100 and later boards (attention, row kernels, expert layers) -> samples, thinned.

Times are of the device: CUDA graphs (aiconfigurator), kernel durations of a profiler (vidur, cuDNN frontend): `timing` is `kernel`.
Which of a table's shapes are kept is decided by a hash of the shape: half of the shapes may serve a fit, of these as many as fits need;
`held_out` is the other half, for a check on rows that fitted nothing.
"""
import hashlib
from collections import defaultdict

from sample_file import rows, seconds, shape

DEVICES = {"b300": "b300-sxm-288gb"}
UNKNOWN = {"rtx-a5000"}  # no board of the catalogue
PRECISIONS = {"bfloat16": "bf16", "bf16": "bf16", "fp16": "fp16", "fp8": "fp8"}
AIC, VIDUR = "aiconfigurator@095f58a", "vidur@7d47513"

# Kernel of a table, and what its times include beside: the write of keys and values into a cache, rotation of queries and keys.
# Left out: TensorRT-LLM's 8-bit kernels on L40S, whose times follow the width and no physics; Triton's; rows of a GB300.
CACHE, FMHA = ("cache-write",), ("cache-write", "rope")
KERNELS = {
    ("a100-sxm4-80gb", "flash_attention"): ("flash-2-split", CACHE),
    ("a100-sxm4-80gb", "vllm_flash_attn"): ("flash-2-paged", CACHE),
    ("a100-sxm4-80gb", "torch_flow"): ("fmha", FMHA),
    ("l40s", "flashinfer"): ("flashinfer", CACHE),
    ("l40s", "vllm_flash_attn_fa2"): ("flash-2-paged", CACHE),
    ("l40s", "torch_flow"): ("fmha", FMHA),
    ("l40s", "vllm_vit_flash_attn_fa2"): ("flash-2", ()),
    ("h100-sxm5-80gb", "fa3"): ("flash-3-paged", CACHE),
    ("h100-sxm5-80gb", "vllm_flash_attn_fa3"): ("flash-3-vllm", CACHE),
    ("h100-sxm5-80gb", "torch_flow"): ("fmha-hopper", FMHA),
    ("h100-sxm5-80gb", "flash_attention_v3"): ("flash-3", ()),
    ("h100-sxm5-80gb", "vllm_vit_flash_attn_fa3"): ("flash-3", ()),
    ("b300", "trtllm_mha"): ("fmha-blackwell", CACHE),
    ("b300", "torch_flow"): ("fmha-blackwell-trtllm", FMHA),
    ("b300", "vllm_flashinfer_trtllmprefill"): ("fmha-blackwell", CACHE),
}
PER_ATTENTION_TABLE = {"bf16": 320, "fp8": 160}

TRAINING_KERNELS = {"FlashAttention-2": "flash-2", "FlashAttention-3": "flash-3", "cuDNN": "cudnn-9", "cudnn": "cudnn-9",
                    "cudnn sdpa": "cudnn-9", "pytorch sdpa": "flash-2", "aiter": "aiter"}
PASSES = {"fwd": "forward", "bwd": "backward"}

# vidur's names of operators, and who wrote the kernels. Its layer norms, 51 rows by PyTorch, are too few beside single calls.
ROW_OPERATORS = {("norm", "rms_norm"): ("rms_norm", "vllm"), ("norm_post", "rms_norm"): ("rms_norm", "vllm"),
                 ("activation", "silu_and_mul"): ("gated_activation", "vllm"),
                 ("rope", "rope"): ("rope", "vllm")}
PER_ROW_OPERATOR = 110
PER_EXPERT_TABLE = {"bf16": 550, "fp8": 450}


def place(keys):
    """A number between 0 and 1 that depends on the shape alone."""
    return int.from_bytes(hashlib.sha256(keys.encode()).digest()[:6], "big") / 2.0**48


def device_of(row):
    return DEVICES.get(row["device"], row["device"])


def thinned(samples, wanted):
    """Of each device, library, algorithm and precision up to `wanted` (a function of the sample) shapes of the half that may fit."""
    tables = defaultdict(list)
    for sample in samples:
        if place(sample["shape"]) < 0.5:
            tables[tuple(sample.get(key) for key in ("device", "library", "algorithm", "precision", "family"))].append(sample)
    kept = []
    for table in tables.values():
        ordered = sorted(table, key=lambda sample: place(sample["shape"]))
        kept += ordered[:wanted(table[0])]
    return kept


def held_out(samples):
    return [sample for sample in samples if place(sample["shape"]) >= 0.5]


def attention(folder):
    samples = []
    for name in ("a100", "h100", "l40s", "b300", "noncausal"):
        for row in rows(folder, f"modern_attention_{name}.csv"):
            kernel = KERNELS.get((row["device"], row["kernel"]))
            if kernel is None or (row["device"], row["kernel"], row["dtype"]) == ("l40s", "torch_flow", "fp8"):
                continue
            if row["library"] == "sglang 0.5.14" and row["device"] == "b300":
                continue
            # FlashInfer took no notice of the window: its times are those of the whole mask.
            window = 0 if kernel[0] == "flashinfer" else int(row["window"])
            keys = {"b": row["batch"], "heads": row["heads"], "kv_heads": row["kv_heads"], "sq": row["seq"], "sk": row["seq"],
                    "d": row["head_dim"], "causal": row["causal"], **({"window": window} if window else {}), "fused": 1}
            samples.append({"device": device_of(row), "family": "attention", "op": "attention", "precision": PRECISIONS[row["dtype"]],
                            "pass": "forward", "shape": shape(**keys), "time_s": seconds(row["time_ms"]), "timing": "kernel",
                            "algorithm": kernel[0], "library": row["library"], "flags": " ".join(kernel[1]), "source": AIC})
    return samples


def whole_mask_again(row):
    """cuDNN's 8-bit causal gradient takes, from 8,192 rows on, as long as that without a mask."""
    return (row["dtype"], row["pass"], row["causal"]) == ("fp8", "bwd", "1") and int(row["seq"]) >= 8192


def training_attention(folder):
    samples = []
    for row in rows(folder, "modern_attention_training.csv"):
        kernel = TRAINING_KERNELS.get(row["kernel"])
        if kernel is None or row["device"] in UNKNOWN or whole_mask_again(row):
            continue
        values = row["head_dim_v"] if row["head_dim_v"] != row["head_dim"] else None
        window = int(row["window"] or 0)
        keys = {"b": row["batch"], "heads": row["heads"], "kv_heads": row["kv_heads"], "sq": row["seq"], "sk": row["kv_seq"],
                "d": row["head_dim"], **({"d_v": values} if values else {}), "causal": row["causal"],
                **({"window": window} if window else {}), "fused": 1}
        samples.append({"device": device_of(row), "family": "attention", "op": "attention", "precision": PRECISIONS[row["dtype"]],
                        "pass": PASSES[row["pass"]], "shape": shape(**keys), "time_s": seconds(row["time_ms"]), "timing": "kernel",
                        "algorithm": kernel, "library": row["library"] or row["kernel"],
                        "flags": "deterministic" if row["deterministic"] == "1" else "", "source": row["source"].split(":")[0]})
    return samples


def row_kernels(folder):
    samples = []
    for row in rows(folder, "modern_memory_ops.csv"):
        operator = ROW_OPERATORS.get((row["op"], row["kernel"]))
        if operator is None:
            continue
        samples.append({"device": device_of(row), "family": operator[0], "op": operator[0], "precision": PRECISIONS[row["dtype"]],
                        "pass": "forward", "shape": shape(rows=row["rows"], cols=row["cols"]), "time_s": seconds(row["time_ms"]),
                        "timing": "kernel", "algorithm": operator[1], "library": "torch", "source": VIDUR})
    return samples


def additions(folder):
    """PyTorch's vectorised addition, where the operands are beyond any cache: at least four times the largest of a board.
    2,560 columns were added by two kernels."""
    cache = {"a40": 6 << 20, "a100-sxm4-80gb": 40 << 20, "h100-sxm5-80gb": 50 << 20}
    return [{"device": device_of(row), "family": "elementwise", "op": "add", "precision": PRECISIONS[row["dtype"]], "pass": "forward",
             "shape": shape(elements=int(row["rows"]) * int(row["cols"]), inputs=2, outputs=1), "time_s": seconds(row["time_ms"]),
             "timing": "kernel", "library": "torch", "source": VIDUR}
            for row in rows(folder, "modern_memory_ops.csv")
            if row["op"] == "add" and row["cols"] != "2560" and int(row["bytes"]) >= 4 * cache[row["device"]]]


def training_norms(folder):
    kernels = {"cudnn": "cudnn", "pytorch": "pytorch", "torch_compile": "compiled"}
    return [{"device": device_of(row), "family": row["op"], "op": row["op"], "precision": PRECISIONS[row["dtype"]],
             "pass": PASSES[row["pass"]], "shape": shape(rows=row["rows"], cols=row["cols"]), "time_s": seconds(row["time_ms"]),
             "timing": "kernel", "algorithm": kernels[row["kernel"]], "library": "torch", "source": row["source"].split(":")[0]}
            for row in rows(folder, "modern_norms_training.csv") if row["op"] == "rms_norm"]


def bad_tactic(row):
    """Weights that do not fit the cache, few rows an expert, and still below four tenths of the bandwidth: a kernel badly chosen."""
    chosen = {("5120", "8192", "1", "16"), ("4096", "1024", "10", "512")}
    return row["device"] == "h100-sxm5-80gb" and (row["hidden"], row["inter"], row["topk"], row["experts"]) in chosen


def experts(folder):
    """Balanced routing on TensorRT-LLM's CUTLASS kernels. Triton's with tables that nobody tuned, and skewed routing, tell nothing of the
    board; another framework's routing around the same kernels takes other kernels."""
    samples = []
    for name in ("modern_moe", "modern_moe_b300"):
        for row in rows(folder, f"{name}.csv"):
            if row["distribution"] != "balanced" or row["dtype"] not in PRECISIONS or bad_tactic(row):
                continue
            if row["kernel"] not in ("moe_torch_flow_cutlass", "moe_torch_flow_nongated"):
                continue
            keys = {key: row[key] for key in ("tokens", "hidden", "inter", "topk", "experts", "tp", "ep", "gated")}
            samples.append({"device": device_of(row), "family": "experts", "op": "experts", "precision": PRECISIONS[row["dtype"]],
                            "pass": "forward", "shape": shape(**keys), "time_s": seconds(row["time_ms"]), "timing": "kernel",
                            "algorithm": "cutlass", "library": row["library"], "source": AIC})
    return samples


TABLES = {"modern_attention": (attention, lambda sample: PER_ATTENTION_TABLE[sample["precision"]]),
          "modern_attention_training": (training_attention, lambda sample: 1000),
          "modern_row_kernels": (row_kernels, lambda sample: PER_ROW_OPERATOR),
          "modern_additions": (additions, lambda sample: 1000),
          "modern_norms": (training_norms, lambda sample: 1000),
          "modern_experts": (experts, lambda sample: PER_EXPERT_TABLE[sample["precision"]])}
FILES = {name: lambda folder, read=read, wanted=wanted: thinned(read(folder), wanted) for name, (read, wanted) in TABLES.items()}
HELD_OUT = {f"{name}_held_out": lambda folder, read=read: held_out(read(folder)) for name, (read, _) in TABLES.items()}
