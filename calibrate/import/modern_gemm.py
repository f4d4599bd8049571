"""Matrix products of boards since Ampere -> samples.   Tables: modern_gemm_*.csv (aiconfigurator's and vidur's measurements).

A row is y[m,n] = x[m,k] W[n,k]^T, timed on the device, many replays of a graph. The tables are thinned: of every (n, k) some m,
by turns. A quarter of the (n, k), chosen by a hash, serves no fit: its rows go to a file of their own, for accuracy on new shapes.
"""
import functools
import math
import pathlib
import re
import tomllib
import zlib

from sample_file import rows, seconds, shape

AICONFIGURATOR = "aiconfigurator@095f58a"
VIDUR = "vidur@7d47513:mlp"
# The files' names of boards that the catalogue calls otherwise.
BOARDS = {"b300": "b300-sxm-288gb"}
PRECISIONS = {"bfloat16": "bf16", "fp16": "fp16", "fp8": "fp8", "fp8_block": "fp8"}
# Kernels behind a framework and data type: library, algorithm. Rows of vLLM are left out: its weights in 16 bits are not
# initialised, those in fp8 all the same, so boards keep higher clocks. `fp8_static` holds a quantising pass of unknown kind.
LIBRARIES = {("sglang", "bfloat16"): ("cublas", ""), ("trtllm", "bfloat16"): ("cublas", ""),
             ("sglang", "fp8"): ("cutlass", "per-token"), ("trtllm", "fp8"): ("cublas", "per-tensor"),
             ("sglang", "fp8_block"): ("deepgemm", "block-128"), ("trtllm", "fp8_block"): ("trtllm", "block-128")}
TABLES = ("a100", "h100_bf16", "h100_fp8", "l40s_bf16", "l40s_fp8", "b300")
# Recorded on another board than the table is named after.
OTHER_BOARD = "sglang 0.5.14"
# The weights of a row are one of so many copies in turn, so that they are mostly not in the cache. SGLang's rows have six.
# TensorRT-LLM's have as many as just fill the cache, five at most: on the L40S, whose cache is of one part, weights of 16, 24, 48 and
# 96 MiB are read at 1 to 4 TB/s, those of 20, 28, 32 and 40 MiB at the memory's rate.
COPIES = {"sglang": 6, "trtllm": 5}
CACHE_FILLING = "trtllm"
QUANTIZES = "quantizes"  # the time holds the passes that turn 16-bit activations into fp8
HELD_OUT_QUARTER = 4


def number(*words):
    """A number that depends on the words alone."""
    return zlib.crc32(" ".join(map(str, words)).encode())


def held_out(row):
    return number("shape", row["n"], row["k"]) % HELD_OUT_QUARTER == 0


def turn(row, of):
    """One of `of` rows of each (n, k), another m for the next (n, k)."""
    return number("turn", row["n"], row["k"], row["m"]) % of == 0


@functools.cache
def cache(device):
    """Bytes of a board's last-level cache."""
    with open(pathlib.Path(__file__).resolve().parents[2] / "hardware" / "gpus" / f"{device}.toml", "rb") as file:
        number_, unit = re.fullmatch(r"(\d+) (KiB|MiB)", tomllib.load(file)["l2_capacity"]).groups()
    return int(number_) << {"KiB": 10, "MiB": 20}[unit]


def copies(row, framework):
    """How many copies of its weights a row's benchmark cycles through."""
    if framework != CACHE_FILLING:
        return COPIES[framework]
    weights = int(row["n"]) * int(row["k"]) * (1 if PRECISIONS[row["dtype"]] == "fp8" else 2)
    return min(COPIES[framework], math.ceil(cache(BOARDS.get(row["device"], row["device"])) / weights))


def sample(row, library, algorithm, flags, source):
    return {"device": BOARDS.get(row["device"], row["device"]), "family": "gemm", "op": "linear",
            "precision": PRECISIONS[row["dtype"]], "pass": "forward", "time_s": seconds(row["time_ms"]), "timing": "kernel",
            "shape": shape(b=1, m=row["m"], n=row["n"], k=row["k"], ta=0, tb=1), "algorithm": algorithm, "library": library,
            "flags": flags, "source": source}


def from_tables(folder, framework, dtype, of):
    """Rows of one framework and data type of all boards, one of `of` kept; small tables lose fewer."""
    library, algorithm = LIBRARIES[framework, dtype]
    flags = QUANTIZES + " " if dtype.startswith("fp8") else ""
    result = []
    for table in TABLES:
        own = [row for row in rows(folder, f"modern_gemm_{table}.csv")
               if row["dtype"] == dtype and row["library"].split()[0] == framework
               and not (row["device"] == "b300" and row["library"] == OTHER_BOARD)]
        few = len(own) < 3000
        result += [(row, sample(row, f"{library}; {row['library']}", algorithm, f"{flags}weight_copies={copies(row, framework)}",
                                AICONFIGURATOR)) for row in own
                   if turn(row, max(1, of // 2) if few else of)]
    return result


def from_models(folder):
    """Layers of language models as an older framework ran them, one by one: rounded to 1 us, so the short ones are left out."""
    shortest_ms = 0.01
    result = []
    for table in ("vidur_a100_a40", "vidur_h100"):
        result += [(row, sample(row, "cublas; torch.nn.Linear", "", "", VIDUR)) for row in rows(folder, f"modern_gemm_{table}.csv")
                   if float(row["time_ms"]) >= shortest_ms and (turn(row, 2 if row["device"] == "a40" else 8))]
    return result


def products(folder):
    sets = [(("sglang", "bfloat16"), 5), (("trtllm", "bfloat16"), 24), (("sglang", "fp8"), 7), (("trtllm", "fp8"), 7),
            (("sglang", "fp8_block"), 18), (("trtllm", "fp8_block"), 18)]
    pairs = [pair for (framework, dtype), of in sets for pair in from_tables(folder, framework, dtype, of)]
    return pairs + from_models(folder)


def fitted(folder):
    return [made for row, made in products(folder) if not held_out(row)]


def new_shapes(folder):
    """Two of three rows: enough for an accuracy, and less to carry."""
    return [made for row, made in products(folder) if held_out(row) and number("told", row["n"], row["k"], row["m"]) % 3]
