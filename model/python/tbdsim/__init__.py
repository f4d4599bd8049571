"""Predicts how fast a deep network trains on described hardware, how far it scales, and whether it fits.

    >>> import tbdsim
    >>> answer = tbdsim.predict(hw="dgx1", model="resnet50")
    >>> answer.step_time_s.value, answer.memory.fits

Functions are verbs of the command line and take the same options, with `_` for `-`. Answers are what `--format json` prints:
dictionaries whose keys are attributes, too. Keys carry their units.
"""
from ._answer import Answer
from ._question import TABLE, Error, verb_function
from ._tbdsim import version as __version__

__all__ = ["Answer", "Error", "__version__"]
for _verb in TABLE:
    _function, _kind = verb_function(_verb)
    globals().update({_verb: _function, _kind.__name__: _kind})
    __all__ += [_verb, _kind.__name__]
del _verb, _function, _kind
