"""Verbs as functions: keyword arguments in, questions to the library out."""
import inspect
import keyword
import numbers
import os
import pathlib
import threading

from . import _tbdsim
from ._answer import VerbAnswer, read_answer

# Verbs that answer, the class of the answer, and the lists of rows of which frames are made.
TABLE = {
    "predict": ("Prediction", ()),
    "scale": ("Scaling", ("rows",)),
    "compare": ("Comparison", ("rows",)),
    "memory": ("MemoryReport", ("batches", "layers")),
    "explain": ("Explanation", ("what_ifs",)),
    "sweep": ("Sweep", ("rows",)),
    "plan": ("Plan", ("rows",)),
    "validate": ("Validation", ("rows", "claims")),
}
UNASKED = ("format", "action", "as")  # answers are JSON, not settings of a framework; a sweep's other actions are of files
ASSIGNED = ("set",)  # takes a dictionary, too
REPEATED = ("set", "what-if", "calibration", "keep", "try")


class Error(ValueError):
    """A question that cannot be answered. `errors` holds each problem: text, message, file, line, column."""

    def __init__(self, errors):
        super().__init__("\n".join(error["text"] for error in errors))
        self.errors = tuple(errors)


class _Library:
    """The catalogue, read once in a process when it is first asked for."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answerer = None

    def open(self):
        with self.lock:
            if self.answerer is None:
                packaged = pathlib.Path(__file__).with_name("catalogue")
                named = os.environ.get("TBDSIM_CATALOGUE")
                self.answerer = _tbdsim.Answerer(str(packaged) if packaged.is_dir() and not named else "")
            return self.answerer


_library = _Library()


def _wrong(verb, name, expected, value):
    return TypeError(f"{verb}: {name}: expected {expected}, got {type(value).__name__}")


def _text(verb, name, value, expected):
    """A value as the command line would have it. Runs nothing of an object that is none of these types."""
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, bool) or kind.__name__ in ("bool_", "bool"):
        raise _wrong(verb, name, expected, value)
    if issubclass(kind, int):
        return int.__repr__(value)
    if issubclass(kind, float):
        return float.__repr__(value)
    if issubclass(kind, numbers.Integral):  # of numpy
        return int.__repr__(int(value))
    if issubclass(kind, numbers.Real):
        return float.__repr__(float(value))
    if issubclass(kind, pathlib.PurePath):
        return str(value)
    raise _wrong(verb, name, expected, value)


def _listed(value):
    kind = type(value)
    return issubclass(kind, (list, tuple, range)) or kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.ndim == 1


def _expected(row):
    if row["flag"]:
        return "True or False"
    if row["name"] in ASSIGNED:
        return 'text such as "KEY=VALUE", a list of them, or a dictionary'
    if row["list"] or row["name"] in REPEATED or row["word"]:
        return "text, a number, or a list of them"
    return "text or a number"


def _values(verb, row, name, value):
    """The values that an argument gives an option, in the order of the command line."""
    expected = _expected(row)
    if row["flag"]:
        if type(value) is not bool:
            raise _wrong(verb, name, expected, value)
        return ["true" if value else "false"]
    if row["name"] in ASSIGNED and issubclass(type(value), dict):
        return [f"{_text(verb, name, key, expected)}={_text(verb, name, one, expected)}" for key, one in value.items()]
    if not _listed(value):
        return [_text(verb, name, value, expected)]
    if row["name"] in REPEATED or row["word"]:
        return [_text(verb, name, one, expected) for one in value]
    if row["list"]:
        return [",".join(_text(verb, name, one, expected) for one in value)]
    raise _wrong(verb, name, expected, value)


def _annotation(row):
    if row["flag"]:
        return "bool"
    if row["name"] in ASSIGNED:
        return "str | Sequence[str] | Mapping[str, str | float]"
    if row["list"] or row["name"] in REPEATED or row["word"]:
        return "Value | Sequence[Value]"
    return "Value"


def _argument(option):
    """The name of an option in Python, which has words of its own: `try_`."""
    name = option.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def arguments_of(verb):
    """{argument: row of the option table} of a verb."""
    rows = [row for row in _tbdsim.options(verb) if row["name"] not in UNASKED]
    rows.sort(key=lambda row: not row["word"])
    return {_argument(row["name"]): row for row in rows}


def signature_of(verb):
    kinds = inspect.Parameter
    return inspect.Signature([
        kinds(name, kinds.POSITIONAL_OR_KEYWORD if row["word"] else kinds.KEYWORD_ONLY, default=None,
              annotation=f"{_annotation(row)} | None")
        for name, row in arguments_of(verb).items()
    ], return_annotation=TABLE[verb][0])


def documentation_of(verb):
    lines = [dict(_tbdsim.verbs())[verb] + ".", "", "Arguments are those of the command line; None leaves one out.", ""]
    lines += [f"{name}: {row['help']}" for name, row in arguments_of(verb).items()]
    lines += ["", "Raises Error for what the command line refuses, TypeError for a value of another type."]
    return "\n".join(lines)


def verb_function(verb):
    """The function of a verb and the class of its answers."""
    known = arguments_of(verb)
    kind_name, rows = TABLE[verb]
    kind = type(kind_name, (VerbAnswer,), {"__doc__": f"What `{verb}` answers.", "__module__": "tbdsim"})
    positional = [name for name, row in known.items() if row["word"]]

    def ask(*given, **arguments):
        if len(given) > len(positional):
            raise TypeError(f"{verb}: expected {len(positional) or 'no'} positional arguments, got {len(given)}")
        for name, value in zip(positional, given):
            if name in arguments:
                raise TypeError(f"{verb}: {name} is given twice")
            arguments[name] = value
        options, words = [], []
        for name, value in arguments.items():
            if value is None:
                continue
            row = known.get(name)
            if row is None:
                options.append((name, ""))  # the library says what is meant
            elif row["word"]:
                words += _values(verb, row, name, value)
            else:
                options += [(row["name"], one) for one in _values(verb, row, name, value)]
        text, notices, errors = _library.open().ask(verb, options, words)
        if errors is not None:
            raise Error(errors)
        return read_answer(kind, rows, text, notices)

    ask.__name__ = ask.__qualname__ = verb
    ask.__module__ = "tbdsim"
    ask.__signature__ = signature_of(verb)
    ask.__doc__ = documentation_of(verb)
    return ask, kind
