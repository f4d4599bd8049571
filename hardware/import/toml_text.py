"""Small helpers shared by the importers: reading the CSV tables and writing TOML text."""
import csv
import os


# Rows of boards and systems that the data folder lacks, in tables of the same name and columns.
MORE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "more")


def rows(folder, *path):
    found = []
    for name in (os.path.join(folder, *path), os.path.join(MORE, path[-1])):
        if os.path.exists(name):
            with open(name, newline="", encoding="utf-8") as file:
                found += csv.DictReader(file)
    assert found, os.path.join(folder, *path)
    return found


def number(text):
    """Shortest decimal text of a number: 25.0 -> 25, 1.5 -> 1.5, 15.670000000000002 -> 15.67."""
    return f"{float(text):.10g}"


# How the tables call things that a reader of the catalogue knows under another name, or not at all.
WORDS = (("Seed deck: ", ""), ("seed deck", "performance and profiling deck"), ("seed text: ", ""),
         ("exact adjacency in topologies.csv", ""), (" in a fetched source", ""), (", vendor figure not re-fetched", ""))


def quoted(text):
    for word, ours in WORDS:
        text = text.replace(word, ours)
    text = text.strip()
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def quantity(text, unit):
    return quoted(f"{number(text)} {unit}")


class Table:
    """Lines of one TOML table; empty values are left out, because what is not known is absent."""

    def __init__(self, header=None):
        self.lines = [header] if header else []

    def text(self, key, value):
        if value and quoted(value) != '""':
            self.lines.append(f"{key} = {quoted(value)}")
        return self

    def fraction(self, key, value):
        self.lines.append(f"{key} = {value:g}")
        return self

    def integer(self, key, value):
        if value not in ("", None):
            self.lines.append(f"{key} = {int(float(value))}")
        return self

    def amount(self, key, value, unit):
        if value not in ("", None):
            self.lines.append(f"{key} = {quantity(value, unit)}")
        return self

    def flag(self, key, value):
        self.lines.append(f"{key} = {'true' if value else 'false'}")
        return self

    def __str__(self):
        return "\n".join(self.lines) + "\n"


def kept_section(path, marker):
    """What an earlier file holds from its first line that starts with `marker`; empty when there is none."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if line.startswith(marker)), None)
    if start is None:
        return ""
    while start > 0 and lines[start - 1].startswith("#"):
        start -= 1
    return "\n" + "".join(lines[start:])


def write(path, script, body, kept=""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# Written by hardware/import/{script}; edit your own copy, not this file.\nschema = 1\n{body}{kept}")
