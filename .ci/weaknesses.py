"""The table of weak rows in docs/ACCURACY.md: what `readme.py` puts there.

Each entry names published rows by patterns of their columns. The figures are those of the present `validate`, so they never grow stale.
"""
import csv
import glob
import io
import os
import re
import statistics
import subprocess
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FEWEST = 2  # rows that make a line

ONE, SEVERAL = "1", "[2-9]|1[0-9]"
HALVES, SINGLES = "amp|fp16|bf16", "fp32|tf32"
VOLTA, TURING, A100 = ".*v100.*|titan-v|dgx2|dgx-station", "rtx-20.*|titan-rtx|t4|rtx-[68]000", ".*a100.*"
GDDR_AMPERE = "rtx-30.*|a[0-9]000|a40"
CUDNN_7, CUDNN_8_0 = "pytorch-ngc-(19|20.0[1-5]).*", "pytorch-ngc-20.(0[6-9]|1).*"

# Words, and patterns that whole columns match. Columns: those of the tables, and `file`.
ENTRIES = [
    ("Kepler boards", {"gpus": ONE, "hw": "k80"}),
    ("Inception, TensorFlow", {"gpus": ONE, "model": "inception.*", "stack": "tensorflow.*"}),
    ("Inception, TensorFlow, Ampere", {"gpus": ONE, "model": "inception.*", "stack": "tensorflow.*", "hw": f"{A100}|{GDDR_AMPERE}"}),
    ("TensorFlow with XLA, 16 bits, Volta and A100", {"gpus": ONE, "stack": "tensorflow.*xla", "precision": HALVES, "hw": "dgx.*"}),
    ("TensorFlow with XLA, 16 bits, Ampere with GDDR",
     {"gpus": ONE, "stack": "tensorflow.*xla", "precision": HALVES, "hw": GDDR_AMPERE}),
    ("VGG, 16 bits, Volta", {"gpus": ONE, "model": "vgg.*", "hw": VOLTA, "precision": HALVES}),
    ("Mask R-CNN, 16 bits", {"gpus": ONE, "model": "mask.*", "precision": HALVES}),
    ("Mask R-CNN, fp32 and tf32", {"gpus": ONE, "model": "mask.*", "precision": SINGLES}),
    ("AlexNet, 16 bits, A100", {"gpus": ONE, "model": "alexnet", "precision": HALVES, "hw": A100}),
    ("AlexNet, 16 bits, other boards", {"gpus": ONE, "model": "alexnet", "precision": HALVES, "hw": f"(?!{A100}).*"}),
    ("WaveGlow, 16 bits, cuDNN 8.0", {"gpus": ONE, "model": "waveglow", "precision": HALVES, "stack": CUDNN_8_0}),
    ("WaveGlow, 16 bits, cuDNN 7.6", {"gpus": ONE, "model": "waveglow", "precision": HALVES, "stack": CUDNN_7}),
    ("WaveGlow, tf32, A100", {"gpus": ONE, "model": "waveglow", "precision": "tf32", "hw": A100}),
    ("Tacotron 2, fp32, Turing, cuDNN 7.6", {"gpus": ONE, "model": "tacotron2", "precision": "fp32", "stack": CUDNN_7, "hw": TURING}),
    ("Tacotron 2, tf32", {"gpus": ONE, "model": "tacotron2", "precision": "tf32"}),
    ("BERT's fine-tuning, 16 bits, Volta", {"gpus": ONE, "model": "bert-.*squad.*", "precision": HALVES, "hw": VOLTA}),
    ("BERT's fine-tuning, 16 bits, Turing", {"gpus": ONE, "model": "bert-.*squad.*", "precision": HALVES, "hw": TURING}),
    ("BERT's fine-tuning, 16 bits, Ampere",
     {"gpus": ONE, "model": "bert-.*squad.*", "precision": HALVES, "hw": f"{A100}|{GDDR_AMPERE}"}),
    ("BERT's fine-tuning, several GPUs", {"gpus": SEVERAL, "model": "bert-.*squad.*"}),
    ("Transformer-XL, 16 bits, Ampere with GDDR", {"gpus": ONE, "model": "transformer-xl.*", "precision": HALVES, "hw": GDDR_AMPERE}),
    ("Transformer-XL, 16 bits, RTX 4090", {"gpus": ONE, "model": "transformer-xl.*", "precision": HALVES, "hw": "rtx-4090"}),
    ("ResNet-50, channels last, A100", {"gpus": ONE, "model": "resnet50.*", "stack": ".*nhwc", "hw": A100}),
    ("VGG, DLA, NFNet, U-Net, ConvNeXt, PyTorch 2.0",
     {"gpus": ONE, "model": "vgg.*|dla.*|dm_nfnet.*|.*unet|convnext.*", "file": "torchdynamo"}),
    ("DeBERTa, Longformer and TNT", {"gpus": ONE, "model": "Deberta.*|Allenai.*|tnt.*"}),
    ("AlexNet, MXNet", {"gpus": ONE, "model": "alexnet", "stack": "mxnet.*"}),
]


def matches(row, patterns):
    return all(re.fullmatch(pattern, row[column] or "") for column, pattern in patterns.items())


def chosen_rows(folder):
    """Rows of the published tables that an entry names, by their names, with `file`. Writes their tables into the folder."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "scenarios", "published", "*.csv"))):
        with open(path, encoding="utf-8") as file:
            reader = csv.DictReader(file)
            table = os.path.splitext(os.path.basename(path))[0]
            rows = [row for row in reader if any(matches({**row, "file": table}, patterns) for _, patterns in ENTRIES)]
        if rows:
            with open(os.path.join(folder, os.path.basename(path)), "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, reader.fieldnames)
                writer.writeheader()
                writer.writerows(rows)
            found.update((row["id"], {**row, "file": table}) for row in rows)
    return found


def errors(program):
    """(row, error of its time) of each chosen row that validates."""
    with tempfile.TemporaryDirectory() as folder:
        rows = chosen_rows(folder)
        done = subprocess.run([program, "validate", folder, "--format", "csv"], capture_output=True, text=True,
                              env=dict(os.environ, TBDSIM_CATALOGUE=ROOT))
    if done.returncode:
        raise SystemExit(f"tbdsim validate: exit {done.returncode}: {done.stderr}")
    return [(rows[row["id"]], float(row["time_error"])) for row in csv.DictReader(io.StringIO(done.stdout))
            if row["use"] == "validation" and row["time_error"]]


def table(program):
    """Lines of Markdown."""
    found = errors(program)
    lines = ["| rows | n | mean | bias | fastest | slowest |", "|---|---|---|---|---|---|"]
    for words, patterns in ENTRIES:
        chosen = [error for row, error in found if matches(row, patterns)]
        if len(chosen) < FEWEST:
            raise SystemExit(f"weaknesses.py: \"{words}\" names {len(chosen)} rows, fewer than {FEWEST}")
        figures = [f"{statistics.mean(map(abs, chosen)):.0%}"]
        figures += [f"{figure:+.0%}" for figure in (statistics.mean(chosen), min(chosen), max(chosen))]
        lines.append(f"| {words} | {len(chosen)} | {' | '.join(figures)} |".replace("-0%", "+0%").replace("%", " %"))
    return "\n".join(lines) + "\n"
