"""Rows of measured-run tables: how they are collected, merged, checked and written."""

import collections
import csv
import dataclasses
import pathlib
import statistics

from names import BOARDS, PRECISIONS, network

COLUMNS = ("id,hw,model,stack,precision,gpus,nodes,network,batch_per_gpu,seq_len,exchange,optimizer,input,options,"
           "metric,unit,measured,spread,use,group,source").split(",")


@dataclasses.dataclass
class Run:
    """One published number, ready for a table. `run` names the run where several are merged into a median."""
    table: str
    group: str
    hw: str
    model: str
    stack: str
    precision: str
    batch: int
    metric: str
    unit: str
    value: float
    source: str
    gpus: int = 1
    nodes: int = 1
    exchange: str = ""
    network_name: str = ""  # between nodes
    series: str = ""   # tells rows apart that agree in everything else
    run: str = ""
    use: str = "validation"
    seq_len: object = ""
    optimizer: str = ""
    input: str = ""
    options: str = ""  # further ones, verbatim


@dataclasses.dataclass
class LeftOut:
    """A published number that enters no table."""
    reason: str


def common(row, **fields):
    """A run with what all sources share; fields given override."""
    values = dict(hw=BOARDS.get(row["device"]), precision=PRECISIONS.get(row["precision"]), metric="throughput",
                  unit="samples/s", value=float(row["value"]), gpus=int(row["n_gpus"] or 1),
                  nodes=int(row["n_nodes"] or 1), source=f'{row["source"]}; {row["framework"]}')
    if "model" not in fields:
        values["model"] = network(row["model"])
    if "batch" not in fields:
        values["batch"] = int(row["batch_per_gpu"]) if row["batch_per_gpu"] else None
    values.update(fields)
    if values["hw"] is None:
        return LeftOut(f'board not in the catalogue: {row["device"]}')
    if values["model"] is None:
        return LeftOut(f'network not in the catalogue: {row["model"]}')
    assert values["batch"] is not None, row
    return Run(**values)


def number(value):
    return f"{value:.10g}"


def read_source(folder, name):
    with open(pathlib.Path(folder) / name, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def spread_of(values):
    """One standard deviation; of two values half the range; of one none."""
    if len(values) > 2:
        return number(statistics.stdev(values))
    return number((max(values) - min(values)) / 2) if len(values) == 2 else ""


def merge(runs):
    """Rows of one table in first-seen order; runs that agree in board, network, batch and metric become their median.

    The stack of a median is the one most of its runs used (ties: the oldest version name).
    """
    by_point = collections.OrderedDict()
    for run in runs:
        key = (run.group, run.hw, run.model, run.precision, run.gpus, run.nodes, run.batch, run.seq_len,
               run.metric, run.series)
        if not run.run:
            key += (run.stack,)
        by_point.setdefault(key, []).append(run)
    merged = []
    for same in by_point.values():
        first = same[0]
        if len(same) > 1 and not first.run:
            raise SystemExit(f"two rows for one point: {first}")
        values = [run.value for run in same]
        votes = collections.Counter(run.stack for run in same)
        stack = min(votes, key=lambda name: (-votes[name], name))
        source = first.source
        if len(same) > 1:
            source += f"; median of {len(same)} runs"
        if first.run:
            source += ": " + ", ".join(run.run for run in same)
        merged.append((dataclasses.replace(first, value=statistics.median(values), stack=stack, source=source),
                       spread_of(values)))
    return merged


def row_id(run):
    parts = [run.group.replace("/", "-"), run.series, run.model, run.precision if run.precision != "fp32" else "",
             f"b{run.batch}", f"s{run.seq_len}" if run.seq_len else "", f"g{run.gpus}" if run.table.endswith(("multi_gpu", "real_input")) else ""]
    if run.table.startswith(("u39kun", "jcjohnson")):
        parts += [run.metric.removesuffix("_s")]
    if run.table.startswith("u39kun"):
        parts += [run.stack]
    return "-".join(part for part in parts if part)


def write_table(folder, name, runs):
    """Writes one table and returns its rows per group as (group, use, rows)."""
    counts = collections.OrderedDict()
    with open(pathlib.Path(folder) / f"{name}.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for run, spread in merge(runs):
            writer.writerow(dict(id=row_id(run), hw=run.hw, model=run.model, stack=run.stack, precision=run.precision,
                                 gpus=run.gpus, nodes=run.nodes, network=run.network_name, batch_per_gpu=run.batch, exchange=run.exchange,
                                 metric=run.metric, unit=run.unit, measured=number(run.value), spread=spread,
                                 seq_len=run.seq_len, optimizer=run.optimizer, input=run.input, options=run.options, use=run.use,
                                 group=run.group, source=run.source))
            counts[run.group, run.use] = counts.get((run.group, run.use), 0) + 1
    return [(group, use, count) for (group, use), count in counts.items()]
