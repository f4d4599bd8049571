#!/usr/bin/env python3
"""Makes every table and figure of the DGX-1 study from the tool.   Usage: study.py --write|--check TBDSIM

Four kinds of commands give every prediction: `scale` for LeNet and for the other networks, `validate` for the memory table, `memory` for
the largest batches, `topology` for the links. published.csv holds the figures that the study prints, scenarios/seeds/dgx1_memory.csv those of its memory table.
--write makes results.csv, the pictures and the tables of README.md; --check fails where they are not what the tool says now.
"""
import csv
import io
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
NAMES = {"lenet": "LeNet", "alexnet": "AlexNet", "googlenet": "GoogLeNet", "inception_v3": "Inception-v3", "resnet50": "ResNet-50"}
STORES = {"p2p": "P2P", "nccl": "NCCL"}
GPUS, BATCHES = (1, 2, 4, 8), (16, 32, 64)
SCALE = ["scale", "--hw", "dgx1", "--stack", "mxnet-18.04", "--exchange", "p2p,nccl", "--batch", "16,32,64", "--gpus", "1,2,4,8", "--samples", "256000"]
GB = 1000 * 1024 ** 2  # of the memory table: MiB / 1000
BEGIN, END = "<!-- generated: %s -->\n", "<!-- end -->"
COLUMNS = ("quantity", "network", "store", "batch_per_gpu", "gpus", "unit", "predicted", "low", "high", "published", "published_kind", "use")


def asked(program, arguments):
    done = subprocess.run([program, *arguments, "--format", "json"], cwd=ROOT, env=dict(os.environ, TBDSIM_CATALOGUE=ROOT), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tbdsim {' '.join(arguments)}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def three_digits(value):
    return float(f"{value:.4g}")


def row(quantity, network, store, batch, gpus, unit, predicted, low="", high=""):
    return {"quantity": quantity, "network": network, "store": store, "batch_per_gpu": batch, "gpus": gpus, "unit": unit,
            **{name: "" if value == "" else three_digits(value) for name, value in (("predicted", predicted), ("low", low), ("high", high))},
            "published": "", "published_kind": "", "use": ""}


def scaled(program):
    """Rows of speed-up, epoch, stages, overhead and weak scaling."""
    rows = []
    for network in (["--model", "lenet", "--image", "224"], ["--model", "alexnet,googlenet,inception_v3,resnet50"]):
        for r in asked(program, [*SCALE, *network])["rows"]:
            at = r["model"], r["exchange"], r["batch_per_gpu"], r["gpus"]
            stages = r["epoch_stages_s"]
            rows += [row("epoch", *at, "s", r["epoch_time_s"], **r["epoch_time_range_s"]),
                     row("forward_and_backward", *at, "s", stages["forward"] + stages["backward"] + (stages["weight_update"] if r["gpus"] == 1 else 0)),
                     row("weight_update", *at, "s", stages["exchange_total"] + (stages["weight_update"] if r["gpus"] > 1 else 0))]
            if r["gpus"] > 1:
                rows += [row("speedup", *at, "times", r["speedup"], **r["speedup_range"]), row("weak_saving", *at, "%", 100 * r["weak_saving"])]
            if at[1:] == ("p2p", 16, 1):
                rows.append(row("parameters", r["model"], "", "", "", "millions", r["parameters"] / 1e6))
            if r["exchange"] == "nccl":
                rows.append(row("overhead", *at, "%", 100 * r["overhead"]))
    return rows


def memory(program):
    """Rows of the memory table, whose published figures come with it."""
    names = {"pre": "memory_before_training", "gpu0": "memory_of_gpu0", "gpux": "memory_of_other_gpus"}
    rows = []
    for r in asked(program, ["validate", "scenarios/seeds/dgx1_memory.csv"])["rows"]:
        _, _, network, batch, which = r["id"].rsplit("-", 4)
        network = {"inception": "inception_v3"}.get(network, network)
        made = row(names[which], network, "nccl", int(batch[1:]), 8, "GB", r["predicted"] / GB, r["low"] / GB, r["high"] / GB)
        rows.append({**made, "published": round(r["measured"] / GB, 2), "published_kind": "measured", "use": r["use"]})
    return rows


def largest(program):
    found = []
    for network in ("inception_v3", "resnet50"):
        answer = asked(program, ["memory", "--hw", "dgx1", "--stack", "mxnet-18.04", "--exchange", "nccl", "--model", network, "--max-batch"])
        found.append(row("largest_batch", network, "nccl", "", 8, "images", answer["max_batch_per_gpu"], answer["max_batch"]["low"], answer["max_batch"]["high"]))
    return found


def links(program):
    """The matrix of NVLinks as a table."""
    wiring = asked(program, ["topology", "--hw", "dgx1"])
    joined = {(p["from"], p["to"]): p for p in wiring["pairs"]}
    lines = [[a] + ["" if a == b else f"{joined[a, b]['nvlinks']}" if joined[a, b]["nvlinks"] else "host" for b in wiring["gpus"]] for a in wiring["gpus"]]
    return markdown(["", *wiring["gpus"]], lines)


def results(program):
    rows = scaled(program) + memory(program) + largest(program)
    with open(os.path.join(HERE, "published.csv"), encoding="utf-8", newline="") as file:
        for p in csv.DictReader(line for line in file if not line.startswith("#")):
            for r in rows:
                if (r["quantity"], r["network"]) == (p["quantity"], p["network"]) and p["store"] in ("", r["store"]) and \
                        p["batch"] in ("", str(r["batch_per_gpu"])) and p["gpus"] in ("", str(r["gpus"])):
                    r.update(published=float(p["value"]), published_kind=p["kind"], use=p["use"])
    return rows


def pick(rows, quantity, **of):
    return [r for r in rows if r["quantity"] == quantity and all(r[key] == value for key, value in of.items())]


# --- pictures: panels of curves, one network each -------------------------------------------------------------------------------------
WIDE, TALL, LEFT, TOP, GAP = 190, 190, 56, 30, 24  # pixels of a panel and around it
COLOURS = {"p2p": "#0072b2", "nccl": "#d55e00", "before": "#56b4e9", "gpu0": "#882255", "other": "#009e73"}


def nice_top(value):
    power = 10 ** (len(str(int(value))) - 1) if value >= 1 else 0.1
    return next(power * step for step in (1, 2, 3, 4, 5, 6, 8, 10, 20) if power * step >= value)


def mark(x, y, kind, colour):
    if kind == "below":  # an upper bound: a bar with an arrow down
        return f'<path d="M{x - 7:.1f} {y:.1f}h14M{x:.1f} {y:.1f}v8m-3 -4l3 4l3 -4" stroke="{colour}" stroke-width="1.5"/>'
    if kind == "measured":
        return f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="2"/>'
    if kind == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.8" fill="{colour}"/>'


def panel(left, title, across, top, series, label):
    """One plot; series: (colour key, marker, rows), drawn over `across`, the places of the x axis."""
    places = {value: left + 16 + i * (WIDE - 32) / (len(across) - 1) for i, value in enumerate(across)}

    def up(value):
        return TOP + TALL * (1 - value / top)

    parts = [f'<text x="{left + WIDE / 2}" y="{TOP - 10}" text-anchor="middle" font-weight="bold">{title}</text>',
             f'<text x="{left + WIDE / 2}" y="{TOP + TALL + 36}" text-anchor="middle">{label}</text>']
    for i in range(6):
        y = up(top * i / 5)
        parts += [f'<path d="M{left} {y:.1f}h{WIDE}" stroke="#dfe3e8"/>', f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{top * i / 5:.4g}</text>']
    parts += [f'<text x="{x:.1f}" y="{TOP + TALL + 17}" text-anchor="middle">{value}</text>' for value, x in places.items()]
    for key, marker, rows, axis in series:
        colour = COLOURS[key]
        points = [(places[r[axis]], r) for r in rows]
        if all(r["low"] != "" for r in rows):
            outline = [f"{x:.1f} {up(r['high']):.1f}" for x, r in points] + [f"{x:.1f} {up(r['low']):.1f}" for x, r in reversed(points)]
            parts.append(f'<path d="M{"L".join(outline)}Z" fill="{colour}" fill-opacity=".15"/>')
        line = "L".join(f"{x:.1f} {up(r['predicted']):.1f}" for x, r in points)
        parts.append(f'<path d="M{line}" stroke="{colour}" stroke-width="2"/>')
        parts += [mark(x, up(r["predicted"]), marker, colour) for x, r in points]
        parts += [mark(x, up(r["published"]), r["published_kind"], "#111" if r["published_kind"] == "measured" else colour) for x, r in points
                  if r["published_kind"] in ("measured", "below") and r["published"] <= top]
    return parts


def picture(title, label, unit, panels, legend, shared_top=False):
    """panels: (title, across, series)."""
    def highest(series):
        return max(max(r["predicted"], r["high"] or 0, r["published"] or 0) for _, _, rows, _ in series for r in rows)

    width, height = LEFT + len(panels) * (WIDE + GAP + 24), TOP + TALL + 76
    every = max(highest(series) for _, _, series in panels)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
             'font-family="DejaVu Sans, sans-serif" font-size="12" fill="none">', f"<title>{title}</title>", '<rect width="100%" height="100%" fill="#fff"/>', '<g fill="#222">']
    for i, (name, across, series) in enumerate(panels):
        parts += [part.replace("<path ", '<path fill="none" ') if "fill=" not in part else part
                  for part in panel(LEFT + i * (WIDE + GAP + 24), name, across, nice_top(every if shared_top else highest(series)), series, label)]
    parts.append(f'<text transform="translate(14 {TOP + TALL / 2}) rotate(-90)" text-anchor="middle">{unit}</text>')
    x, y = LEFT, height - 14
    for key, marker, text in legend:
        parts += [mark(x, y - 4, marker, COLOURS.get(key, "#111")).replace("<path ", '<path fill="none" '), f'<text x="{x + 12}" y="{y}">{text}</text>']
        x += 40 + 7 * len(text)
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def pictures(rows):
    def stores(quantity, batch):
        return [(NAMES[n], GPUS if quantity != "speedup" else GPUS[1:],
                 [(s, "circle" if s == "p2p" else "square", pick(rows, quantity, network=n, store=s, batch_per_gpu=batch), "gpus") for s in STORES]) for n in NAMES]

    both = [("p2p", "circle", "P2P"), ("nccl", "square", "NCCL")]
    parts = [(NAMES[n], BATCHES, [(key, marker, pick(rows, quantity, network=n), "batch_per_gpu") for key, marker, quantity in (
        ("gpu0", "circle", "memory_of_gpu0"), ("other", "square", "memory_of_other_gpus"), ("before", "circle", "memory_before_training"))]) for n in NAMES]
    stages = [(NAMES[n], GPUS[1:], [(s, "circle" if s == "p2p" else "square", pick(rows, "weight_update", network=n, store=s, batch_per_gpu=16)[1:], "gpus") for s in STORES]) for n in NAMES]
    return {
        "speedup.svg": picture("Speed-up over one GPU, batch 16", "GPUs", "speed-up, times", stores("speedup", 16), [
            *both, ("", "measured", "published (LeNet)"), ("", "below", "published upper bound")], True),
        "epoch.svg": picture("Time of an epoch of 256,000 images, batch 16", "GPUs", "epoch, s", stores("epoch", 16), both),
        "weight_update.svg": picture("Exchange and update of an epoch, batch 16", "GPUs", "weight update, s", stages, both),
        "overhead.svg": picture("Overhead of NCCL on one GPU", "batch per GPU", "overhead of NCCL, %", [
            (NAMES[n], BATCHES, [("nccl", "square", pick(rows, "overhead", network=n, gpus=1), "batch_per_gpu")]) for n in NAMES], [
                ("nccl", "square", "predicted"), ("", "measured", "published")], True),
        "memory.svg": picture("Memory of a GPU, NCCL on 8 GPUs", "batch per GPU", "memory, GB", parts, [
            ("gpu0", "circle", "GPU 0"), ("other", "square", "other GPUs"), ("before", "circle", "before training"), ("", "measured", "published")]),
    }


# --- tables -----------------------------------------------------------------------------------------------------------------------------
def number(value):
    return "" if value == "" else f"{value:.3g}"


def within(r):
    """How a prediction stands to what is published."""
    if r["published_kind"] == "":
        return ""
    if r["published_kind"] == "measured":
        return f"{100 * (r['predicted'] / r['published'] - 1):+.1f} %"
    return "within" if r["predicted"] < r["published"] or (r["published_kind"] == "at most" and r["predicted"] <= r["published"]) else "**above**"


def markdown(head, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines]) + "\n"


def printed(r):
    return {"measured": "", "below": "< ", "at most": "at most ", "": ""}[r["published_kind"]] + number(r["published"]) + (" (fit)" if r["use"] == "fit" else "")


def tables(rows, program):
    def side_by_side(r):
        return [number(r["predicted"]), f"{number(r['low'])} to {number(r['high'])}" if r["low"] != "" else "", printed(r), within(r)]

    speedups = [[NAMES[r["network"]], STORES[r["store"]], str(r["gpus"]), *side_by_side(r)] for r in pick(rows, "speedup", batch_per_gpu=16)]
    overheads = [[NAMES[r["network"]], str(r["batch_per_gpu"]), number(r["predicted"]) + " %", printed(r), f"{r['predicted'] - r['published']:+.1f}"] for r in pick(rows, "overhead", gpus=1)]
    kinds = ("memory_before_training", "memory_of_gpu0", "memory_of_other_gpus")
    held = []
    for n in NAMES:
        for b in BATCHES:
            of = [pick(rows, kind, network=n, batch_per_gpu=b)[0] for kind in kinds]
            held.append([NAMES[n], str(b)] + [text for r in of for text in (f"{r['predicted']:.2f}", f"{r['published']:.2f}" + (" (fit)" if r["use"] == "fit" else ""))])
    weak = [[NAMES[n], number(max(r["predicted"] for r in of)) + " %", printed(of[0]) + " %", "within" if max(r["predicted"] for r in of) <= of[0]["published"] else "**above**"]
            for n in NAMES for of in [pick(rows, "weak_saving", network=n)]]
    fits = [[NAMES[r["network"]], *side_by_side(r)[:3]] for r in pick(rows, "largest_batch")]
    sizes = [[NAMES[r["network"]], number(r["predicted"]), number(r["published"])] for n in NAMES for r in pick(rows, "parameters", network=n)]
    return {
        "networks": markdown(["network", "parameters, millions", "published"], sizes),
        "links": links(program),
        "speed-up": markdown(["network", "store", "GPUs", "predicted", "80 % range", "published", "difference"], speedups),
        "overhead": markdown(["network", "batch", "predicted", "published, %", "points"], overheads),
        "memory": markdown(["network", "batch", "before training", "published", "GPU 0", "published", "other GPUs", "published"], held),
        "weak scaling": markdown(["network", "largest saving", "published", ""], weak),
        "largest batch": markdown(["network", "predicted", "80 % range", "published"], fits),
    }


def made(program):
    """Every file of the study, by name."""
    rows = results(program)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files = {"results.csv": text.getvalue(), **pictures(rows)}
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        page = file.read()
    for name, table in tables(rows, program).items():
        start = page.index(BEGIN % name) + len(BEGIN % name)
        page = page[:start] + table + page[page.index(END, start):]
    files["README.md"] = page
    return files


def main(arguments):
    if len(arguments) != 3 or arguments[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    stale = []
    for name, text in made(os.path.abspath(arguments[2])).items():
        path = os.path.join(HERE, name)
        if arguments[1] == "--write":
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                stale.append(name)
    if stale:
        sys.exit(f"not what the tool says now: {', '.join(stale)}; run docs/dgx1-study/study.py --write TBDSIM")


if __name__ == "__main__":
    main(sys.argv)
