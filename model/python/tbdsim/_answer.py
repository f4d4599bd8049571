"""What verbs answer."""
import json


class Answer(dict):
    """JSON of a verb. `answer.step_time_s.value` is `answer["step_time_s"]["value"]`."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this answer has no {name!r}; it has {', '.join(map(str, self))}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


class VerbAnswer(Answer):
    """The whole answer of one verb. `notices` holds the remarks that the command line prints beside it."""

    _rows = ()
    _remarks = ()

    @property
    def notices(self):
        """Remarks on this answer."""
        return self._remarks

    def rows(self, key=None):
        """Rows of a list of the answer, as flat dictionaries: `step_time_s.value`. Without a key: the list that the verb is
        about, or the answer itself as one row."""
        if key is None:
            key = next((name for name in self._rows if name in self), None)
        if key is None:
            return [flattened({name: value for name, value in self.items() if not isinstance(value, list)})]
        listed = self[key]
        if not isinstance(listed, list) or not all(isinstance(row, dict) for row in listed):
            raise TypeError(f"{key}: not a list of rows; lists of rows are {', '.join(lists_of_rows(self)) or 'none'}")
        return [flattened(row) for row in listed]

    def frame(self, key=None):
        """The same rows as a pandas.DataFrame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows(key))

    def array(self, column, key=None):
        """One column of the same rows as a numpy.ndarray. A row without it holds NaN, or None beside texts. Needs numpy."""
        import numpy

        rows = self.rows(key)
        if not any(column in row for row in rows):
            known = dict.fromkeys(name for row in rows for name in row)
            raise KeyError(f"no row has {column!r}; columns are {', '.join(known)}")
        values = [row.get(column) for row in rows]
        numbers = all(value is None or isinstance(value, (int, float)) for value in values)
        return numpy.array(values, dtype=float if numbers and None in values else None)


def lists_of_rows(answer):
    return [name for name, value in answer.items() if isinstance(value, list) and value and isinstance(value[0], dict)]


def flattened(row, begin=""):
    """Nested dictionaries as one, their keys joined by dots."""
    flat = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update(flattened(value, f"{begin}{name}."))
        else:
            flat[begin + name] = value
    return flat


def read_answer(kind, rows, text, notices):
    """`kind` of the JSON `text`; `rows` are the lists that its frames are made of, the first that is there."""
    answer = kind(json.loads(text, object_hook=Answer))
    answer._rows = rows
    answer._remarks = tuple(notices)
    return answer
