#!/usr/bin/env python3
"""Writes type stubs of the module: signatures from the option table, classes from answers.   Usage: stubs.py FILE.pyi

An attribute has the types that it has in the answers to QUESTIONS; one that some answers lack may be absent.
"""
import json
import keyword
import os
import sys

sys.path.pop(0)  # this folder, whose tbdsim/ lacks the compiled part
import tbdsim
from tbdsim._question import TABLE, documentation_of, signature_of

JOB = {"hw": "dgx1", "model": "resnet50"}
PLAN = {"hw": "dgx-a100-80gb", "model": "gpt2", "gpus": 8, "global_batch": 64, "top": 2,
        "keep": ["pipeline-parallel=1", "tensor-parallel=1"]}
QUESTIONS = {
    "predict": [JOB, dict(JOB, gpus=1, layers=True, kernels=True, host=True), dict(JOB, nodes=2, links=True),
                dict(JOB, samples="1M", epochs=2, input="imagenet-records"), dict(JOB, profiling=True)],
    "scale": [dict(JOB, gpus=[1, 2], samples="1M"), dict(JOB, gpus=[1, 2], samples="1M", weak=True)],
    "compare": [{"hw": ["titan-xp", "p4000"], "model": "resnet50"}, {"hw": ["titan-xp", "k80"], "model": "resnet50", "years": 3}],
    "memory": [JOB, dict(JOB, max_batch=True), dict(JOB, batch=[16, 32])],
    "explain": [JOB, dict(JOB, layers=True)],
    "sweep": [dict(JOB, batch=[16, 32]), dict(JOB, gpus=[1, 3])],
    "plan": [PLAN, dict(PLAN, tokens="10B", explain=True)],
    "validate": [{"file": "seeds"}],
}
HEAD = '''"""{doc}"""
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Optional, Union
import numpy
import pandas

Value = Union[str, int, float, PurePath]
__version__: str

class Error(ValueError):
    errors: tuple[dict[str, Any], ...]

class Answer(dict[str, Any]):
    def __getattr__(self, name: str) -> Any: ...

class VerbAnswer(Answer):
    @property
    def notices(self) -> tuple[str, ...]: ...
    def rows(self, key: Optional[str] = None) -> list[dict[str, Any]]: ...
    def frame(self, key: Optional[str] = None) -> pandas.DataFrame: ...
    def array(self, column: str, key: Optional[str] = None) -> numpy.ndarray: ...
'''


class Shape:
    """The types that one place in answers was seen to have."""

    def __init__(self):
        self.plain, self.fields, self.items, self.absent = set(), None, None, False

    def see(self, value):
        if isinstance(value, dict):
            if self.fields is None:
                self.fields = {}
            else:
                for name in set(value) ^ set(self.fields):
                    self.fields.setdefault(name, Shape()).absent = True
            for name, inner in value.items():
                self.fields.setdefault(name, Shape()).see(inner)
        elif isinstance(value, list):
            self.items = self.items or Shape()
            for inner in value:
                self.items.see(inner)
        else:
            self.plain.add("None" if value is None else type(value).__name__)

    def written(self, name, classes):
        """The type as text; adds the classes that it needs."""
        types = set(self.plain) - ({"int"} if "float" in self.plain else set())
        if self.fields is not None:
            proper = all(key.isidentifier() for key in self.fields)
            types.add(self.class_written(name, classes) if proper and self.fields else "Answer")
        if self.items is not None:
            types.add(f"list[{self.items.written(name + 'Row', classes) or 'Any'}]")
        if self.absent:
            types.add("None")
        return " | ".join(sorted(types, key=lambda word: (word == "None", word)))

    def class_written(self, name, classes, base="Answer"):
        lines = [f"class {name}({base}):"]
        for key, inner in self.fields.items():
            if keyword.iskeyword(key):
                continue  # answer["pass"] has it
            lines.append(f"    {key}: {inner.written(name + camel(key), classes) or 'Any'}")
        classes.append("\n".join(lines))
        return name


def camel(key):
    return "".join(word.capitalize() for word in key.split("_"))


def indented(text):
    return text.replace("\\", "\\\\").replace("\n", "\n    ").replace("\n    \n", "\n\n")


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    text = HEAD.format(doc=tbdsim.__doc__.strip())
    for verb, (kind, _) in TABLE.items():
        shape = Shape()
        for question in QUESTIONS.get(verb, []):
            shape.see(json.loads(json.dumps(ask(verb, question))))
        classes = []
        if shape.fields is None:
            classes.append(f"class {kind}(VerbAnswer): ...")
        else:
            shape.fields.pop("notices", None)  # the property stands for it
            shape.class_written(kind, classes, "VerbAnswer")
        text += "\n" + "\n\n".join(classes)
        text += f"\n\ndef {verb}{str(signature_of(verb)).replace(chr(39), '')}:\n    \"\"\"{indented(documentation_of(verb))}\"\"\"\n"
    with open(arguments[1], "w", encoding="utf-8") as file:
        file.write(text)


def ask(verb, question):
    if verb != "validate":
        return getattr(tbdsim, verb)(**question)
    return tbdsim.validate(os.path.join(os.environ["TBDSIM_CATALOGUE"], "scenarios", question["file"]))


if __name__ == "__main__":
    main(sys.argv)
