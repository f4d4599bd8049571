"""Reading the published tables and writing sample files (columns: calibrate/samples/README.md)."""
import csv
import os

COLUMNS = ("device", "family", "op", "precision", "pass", "shape", "time_s", "spread_s", "timing", "algorithm", "layout",
           "clock_mhz", "memory_clock_mhz", "power_w", "driver", "library", "date", "flags", "source")


def rows(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shape(**keys):
    return ";".join(f"{key}={value}" for key, value in keys.items())


def seconds(milliseconds):
    """Six significant digits, more than any of the sources prints."""
    return f"{float(milliseconds) * 1e-3:.6g}"


def without_copies(samples):
    """Rows that repeat another one, time included: a table listed the shape twice and tells nothing new."""
    seen = {}
    for sample in samples:
        key = tuple(sample.get(column, "") for column in COLUMNS if column != "algorithm")
        seen.setdefault(key, sample)
    return list(seen.values())


def write(path, samples):
    """Columns that are empty in every row and have only such columns after them are left out."""
    used = max(i for i, column in enumerate(COLUMNS) if any(sample.get(column) for sample in samples))
    columns = COLUMNS[:used + 1]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for sample in samples:
            assert not set(sample) - set(COLUMNS), sample
            writer.writerow([sample.get(column, "") for column in columns])
    return len(samples), os.path.getsize(path)
