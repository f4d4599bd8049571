"""Runs the cells of docs/tour.ipynb one after the other, as a notebook does, without Jupyter. Cells tagged "pandas" or "numpy" are
left out where that is not installed.

Usage: tour_test.py PROGRAM SOURCE_DIR, with the module on PYTHONPATH
"""
import contextlib
import importlib.util
import io
import json
import os
import sys

with open(os.path.join(sys.argv[2], "docs", "tour.ipynb"), encoding="utf-8") as file:
    notebook = json.load(file)
assert notebook["nbformat"] == 4
names, ran, left_out = {}, 0, 0
for number, cell in enumerate(notebook["cells"]):
    if cell["cell_type"] != "code":
        continue
    tags = cell["metadata"].get("tags", [])
    if any(importlib.util.find_spec(tag) is None for tag in tags):
        left_out += 1
        continue
    assert not cell["outputs"] and cell["execution_count"] is None, "the notebook is kept without outputs"
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    assert said.getvalue().strip() or "print" not in "".join(cell["source"]), f"cell {number} prints nothing"
    ran += 1
assert ran >= 5, "the tour has cells"
print(f"{ran} cells ran, {left_out} left out")
