#!/usr/bin/python3
"""Trains the classifier of this folder on Fashion-MNIST and writes fashion.onnx and pictures/.

Needs Debian's python3-torch, python3-onnx, python3-pil and dataset-fashion-mnist.
"""

import argparse
import gzip
import json
import os
import time

import numpy as np
import onnx
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
LABELS = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
          "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
MEAN, STD = 0.2860, 0.3530  # of the training pictures' pixels, scaled to [0, 1]
SPEC = {
    "version": 1,
    "input": "input",
    "layout": "NCHW",
    "size": [28, 28],
    "resize": "stretch",
    "color": "GRAY",
    "scale": 1 / 255,
    "mean": [MEAN],
    "std": [STD],
    "dtype": "float32",
    "batch_axis": 0,
    "labels": LABELS,
    "postprocess": "softmax",
}


class Residual(nn.Module):
    """relu(x + bn(conv(x)))."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(x + self.bn(self.conv(x)))


def conv(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs),
            nn.ReLU()]


def make_model():
    return nn.Sequential(
        *conv(1, 16), nn.MaxPool2d(2),
        *conv(16, 48), nn.MaxPool2d(2),
        *conv(48, 80), Residual(80), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.4), nn.Linear(80 * 3 * 3, 10))


def read_idx(path):
    with gzip.open(path, "rb") as f:
        data = f.read()
    dims = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def read_split(folder, name):
    pictures = read_idx(os.path.join(folder, f"{name}-images-idx3-ubyte.gz"))
    labels = read_idx(os.path.join(folder, f"{name}-labels-idx1-ubyte.gz"))
    x = (torch.from_numpy(pictures.astype(np.float32)) / 255 - MEAN) / STD
    return pictures, x[:, None], torch.from_numpy(labels.astype(np.int64))


def augment(x):
    """Mirrors half of the pictures."""
    return torch.where(torch.rand(len(x), 1, 1, 1) < 0.5, x.flip(3), x)


def train(model, x, y, epochs, report, batch=128):
    steps = len(x) // batch
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, epochs * steps)
    for epoch in range(epochs):
        model.train()
        start, total = time.time(), 0.0
        order = torch.randperm(len(x))
        for i in range(steps):
            chosen = order[i * batch:(i + 1) * batch]
            loss = F.cross_entropy(model(augment(x[chosen])), y[chosen])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{epochs}: loss {total / steps:.4f}, "
              f"test accuracy {report():.4f}, {time.time() - start:.0f} s", flush=True)


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        right = sum((model(a).argmax(1) == b).sum().item()
                    for a, b in zip(x.split(500), y.split(500)))
    return right / len(x)


def export(model, path):
    model.eval()
    # PRESERVE keeps the BatchNormalization nodes, which exporting as EVAL would fold away.
    torch.onnx.export(model, torch.zeros(1, 1, 28, 28), path, opset_version=13,
                      input_names=["input"], output_names=["logits"],
                      dynamic_axes={"input": {0: "batch"}, "logits": {0: "batch"}},
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    proto = onnx.load(path)
    proto.metadata_props.add(key="kheya.spec", value=json.dumps(SPEC))
    onnx.checker.check_model(proto)
    onnx.save(proto, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0, help="0: as many as torch likes")
    parser.add_argument("--output", default=HERE)
    args = parser.parse_args()
    torch.manual_seed(1)
    if args.threads:
        torch.set_num_threads(args.threads)

    model = make_model()
    _, x, y = read_split(args.data, "train")
    pictures, test_x, test_y = read_split(args.data, "t10k")
    train(model, x, y, args.epochs, lambda: accuracy(model, test_x, test_y))
    print(f"accuracy on {len(test_x)} test pictures: {accuracy(model, test_x, test_y):.4f}")
    path = os.path.join(args.output, "fashion.onnx")
    export(model, path)
    print(f"{path}: {os.path.getsize(path)} bytes")

    os.makedirs(os.path.join(args.output, "pictures"), exist_ok=True)
    for index in (0, 1, 2):
        name = LABELS[test_y[index]].lower().replace(" ", "-")
        Image.fromarray(pictures[index]).save(os.path.join(args.output, "pictures", f"{name}.png"))


if __name__ == "__main__":
    main()
