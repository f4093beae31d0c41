#!/usr/bin/python3
"""Exports the models that benchmarks and accuracy checks use: a MobileNetV2 and BERT-shaped encoders.

Usage: /usr/bin/python3 bench/make_models.py FOLDER

Needs Debian's python3-torch. Weights are random but fixed; BatchNorm statistics are set from data
first, so that outputs have a spread and differ between inputs. Writes NAME.onnx, NAME_input_I.npy and
NAME_output_0.npy (what torch computes).
"""
import math
import os
import sys

import numpy as np
import torch
from torch import nn


class ConvBnRelu(nn.Sequential):
    def __init__(self, channels_in, channels_out, kernel=3, stride=1, groups=1):
        super().__init__(
            nn.Conv2d(channels_in, channels_out, kernel, stride, (kernel - 1) // 2, groups=groups,
                      bias=False),
            nn.BatchNorm2d(channels_out), nn.ReLU6())


class InvertedResidual(nn.Module):
    def __init__(self, channels_in, channels_out, stride, expansion):
        super().__init__()
        hidden = channels_in * expansion
        layers = [ConvBnRelu(channels_in, hidden, kernel=1)] if expansion != 1 else []
        layers += [ConvBnRelu(hidden, hidden, stride=stride, groups=hidden),
                   nn.Conv2d(hidden, channels_out, 1, bias=False), nn.BatchNorm2d(channels_out)]
        self.layers = nn.Sequential(*layers)
        self.residual = stride == 1 and channels_in == channels_out

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(nn.Module):
    # Expansion, channels, repetitions, stride (Sandler et al. 2018, table 2).
    BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
              (6, 160, 3, 2), (6, 320, 1, 1)]

    def __init__(self):
        super().__init__()
        layers, channels = [ConvBnRelu(3, 32, stride=2)], 32
        for expansion, channels_out, repetitions, stride in self.BLOCKS:
            for i in range(repetitions):
                layers.append(InvertedResidual(channels, channels_out, stride if i == 0 else 1,
                                               expansion))
                channels = channels_out
        layers.append(ConvBnRelu(channels, 1280, kernel=1))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(1280, 1000)

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class EncoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x, mask):
        query, key, value = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + mask
        mixed = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(x.shape)
        x = self.norm1(x + self.output(mixed))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self, layers, width=768, heads=12, words=30522, positions=512):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(positions, width)
        self.types = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def forward(self, input_ids, attention_mask, token_type_ids):
        place = torch.arange(input_ids.shape[1]).unsqueeze(0)
        x = self.norm(self.words(input_ids) + self.positions(place) + self.types(token_type_ids))
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return torch.tanh(self.pooler(x[:, 0])), x


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


def write(folder, name, model, inputs, names, outputs, dynamic=None):
    with torch.no_grad():
        answers = model(*inputs)
    answers = answers if isinstance(answers, tuple) else (answers,)
    path = os.path.join(folder, name)
    torch.onnx.export(model, inputs, path + ".onnx", input_names=names, output_names=outputs,
                      dynamic_axes=dynamic, opset_version=13)
    for i, value in enumerate(inputs):
        np.save(f"{path}_input_{i}.npy", value.numpy())
    for i, value in enumerate(answers):
        np.save(f"{path}_output_{i}.npy", value.numpy())
        print(f"{name} {outputs[i]} {list(value.shape)}: spread {value.std():.3f}")


def make_mobilenet(folder):
    torch.manual_seed(1)
    model = MobileNetV2()
    set_batch_norm_statistics(model, torch.randn(8, 3, 224, 224))
    picture = torch.randn(1, 3, 224, 224)
    write(folder, "mobilenetv2", model, (picture,), ["input"], ["logits"])
    write(folder, "mobilenetv2_batch", model, (torch.randn(3, 3, 224, 224),), ["input"], ["logits"],
          {"input": {0: "batch"}, "logits": {0: "batch"}})


def make_encoder(folder, name, layers, dynamic):
    torch.manual_seed(2)
    model = Encoder(layers).eval()
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):  # as trained ones are: not all ones and zeros
            nn.init.normal_(module.weight, 1.0, 0.1)
            nn.init.normal_(module.bias, 0.0, 0.1)
    batch = 2 if dynamic else 1
    ids = torch.randint(0, 30522, (batch, 128))
    mask = torch.ones(batch, 128, dtype=torch.int64)
    mask[0, 100:] = 0
    names = ["input_ids", "attention_mask", "token_type_ids"]
    outputs = ["pooled", "hidden"]
    axes = {each: {0: "batch", 1: "length"} for each in names}
    axes.update({"pooled": {0: "batch"}, "hidden": {0: "batch", 1: "length"}})
    write(folder, name, model, (ids, mask, torch.zeros_like(ids)), names, outputs,
          axes if dynamic else None)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    make_mobilenet(folder)
    make_encoder(folder, "bert6", 6, dynamic=False)
    make_encoder(folder, "bert6_dynamic", 6, dynamic=True)


if __name__ == "__main__":
    main()
