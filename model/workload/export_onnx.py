#!/usr/bin/env python3
"""Writes the training graph of a PyTorch module as a small ONNX file for `tbdsim --model FILE.onnx`.

In a program:

    from export_onnx import export
    export(model, example, "mine.onnx")         # example: a tensor or a tuple of tensors, batch first

From a shell, for a function of an importable module that returns (model, example):

    python3 export_onnx.py mine:build mine.onnx

The file holds structure and shapes only. No weights are written, whatever their size: every parameter becomes an input
of the graph. The first dimension of each example is the batch and stays symbolic ("N"), so one file serves every batch
size; give the example a batch of at least 2. Batch norm and dropout are kept, as in training. Parameters and buffers that
are not trained are named in the file's metadata ("tbdsim.frozen"), so that they get no gradient and no update.

Needs PyTorch 1.12 or newer, and the `onnx` package to write that metadata; without it, buffers and frozen parameters
count as trained. Not written: the loss (tbdsim adds one to every output), the optimiser (`--optimizer`), and
control flow that depends on data (the example decides which branch is traced).
"""
import importlib
import sys


def export(model, example, path, opset=14):
    """Writes `path` and returns the number of trainable parameters. `model` is left in the mode it was in."""
    import torch

    example = example if isinstance(example, tuple) else (example,)
    for tensor in example:
        if not torch.is_tensor(tensor) or tensor.dim() < 1:
            raise TypeError("example: expected a tensor, or a tuple of tensors, with the batch first")
    inputs = [f"input{i}" for i in range(len(example))] if len(example) > 1 else ["input"]
    was_training = model.training
    model.train()
    dropouts = _without_layer_dropout(torch, model)
    try:
        with torch.no_grad():
            outputs = [f"output{i}" for i in range(_tensors(model(*example)))]
            batch = {name: {0: "N"} for name in inputs + outputs}
            options = {"dynamo": False} if _takes_dynamo(torch) else {}
            torch.onnx.export(model, example, path, export_params=False, training=torch.onnx.TrainingMode.TRAINING,
                              do_constant_folding=False, opset_version=opset, input_names=inputs, output_names=outputs,
                              dynamic_axes=batch, **options)
    finally:
        model.train(was_training)
        for module, dropout in dropouts:
            module.dropout = dropout
    frozen = [name for name, _ in model.named_buffers()]
    frozen += [name for name, parameter in model.named_parameters() if not parameter.requires_grad]
    if frozen:
        _note_frozen(path, frozen)
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def _tensors(result):
    """How many tensors a result holds, in the order in which the exporter names them."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return sum(_tensors(part) for part in result)
    return 0 if result is None else 1


def _without_layer_dropout(torch, model):
    """PyTorch cannot export the dropout between the layers of an nn.LSTM, nn.GRU or nn.RNN: it is left out, and said."""
    dropouts = [(m, m.dropout) for m in model.modules() if isinstance(m, torch.nn.RNNBase) and m.dropout > 0]
    for module, dropout in dropouts:
        print(f"note: dropout {dropout} between the layers of {type(module).__name__} is left out", file=sys.stderr)
        module.dropout = 0.0
    return dropouts


def _takes_dynamo(torch):
    """PyTorch 2.5 and later can also trace with torch.export, which keeps no training mode."""
    import inspect

    return "dynamo" in inspect.signature(torch.onnx.export).parameters


def _note_frozen(path, names):
    try:
        import onnx
    except ImportError:
        print(f"{path}: the onnx package is missing; buffers and frozen parameters count as trained", file=sys.stderr)
        return
    file = onnx.load(path, load_external_data=False)
    entry = file.metadata_props.add()
    entry.key = "tbdsim.frozen"
    entry.value = "\n".join(names)
    onnx.save(file, path)


def main():
    if len(sys.argv) != 3 or ":" not in sys.argv[1]:
        sys.exit("usage: python3 export_onnx.py MODULE:FUNCTION FILE.onnx   (FUNCTION returns model, example)")
    sys.path.insert(0, "")
    module, function = sys.argv[1].split(":", 1)
    model, example = getattr(importlib.import_module(module), function)()
    count = export(model, example, sys.argv[2])
    print(f"{sys.argv[2]}: {count} trainable parameters")


if __name__ == "__main__":
    main()
