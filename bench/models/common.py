"""What the exports share: living weights, BatchNorm statistics from data, and the files written."""
import math
import os

import numpy as np
import torch
from torch import nn


def pictures(count, size):
    """Smooth shapes with some grain, so that two pictures differ in more than their noise."""
    coarse = nn.functional.interpolate(torch.randn(count, 3, 7, 7), size, mode="bicubic")
    return coarse + 0.3 * torch.randn(count, 3, size, size)


def enliven(model):
    """Norms and biases as trained ones are: not all ones and zeros; linears that keep the scale."""
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
            nn.init.normal_(module.weight, 1.0, 0.1)
            nn.init.normal_(module.bias, 0.0, 0.1)
        elif isinstance(module, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0.0, 1.0 / math.sqrt(module.in_features))
            if module.bias is not None:
                nn.init.normal_(module.bias, 0.0, 0.05)


def set_batch_norm_statistics(model, data):
    """Runs data through in training mode, so that every layer sees normalized values."""
    model.train()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None  # a plain average
    with torch.no_grad():
        for _ in range(2):
            model(data)
    model.eval()


def answers_of(model, inputs):
    with torch.no_grad():
        answers = model(*inputs)
    return answers if isinstance(answers, tuple) else (answers,)


def distance(first, second):
    return float((first - second).norm() / first.norm())


def write(folder, name, model, inputs, names, outputs, dynamic=None, opset=13, others=None):
    """Writes NAME.onnx, NAME_input_I.npy and NAME_output_I.npy (what torch computes).

    Prints each output's spread and, with `others` (a second set of inputs), how far apart the
    answers to the two are, relative to the first.
    """
    model.eval()
    answers = answers_of(model, inputs)
    different = answers_of(model, others) if others is not None else None
    path = os.path.join(folder, name)
    torch.onnx.export(model, inputs, path + ".onnx", input_names=names, output_names=outputs,
                      dynamic_axes=dynamic, opset_version=opset)
    for i, value in enumerate(inputs):
        np.save(f"{path}_input_{i}.npy", value.numpy())
    for i, value in enumerate(answers):
        np.save(f"{path}_output_{i}.npy", value.numpy())
        apart = f", apart {distance(value, different[i]):.2f}" if different else ""
        print(f"{name} {outputs[i]} {list(value.shape)}: spread {value.std():.3f}{apart}",
              flush=True)
