#!/usr/bin/python3
"""Trains a tiny network that says which of three numbers is the largest; writes first.onnx.

Needs Debian's python3-torch and python3-onnx.
"""

import json
import os

import onnx
import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = {"version": 1, "input": "input", "batch_axis": 0, "labels": ["first", "second", "third"],
        "postprocess": "none"}


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    body = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(),
                         nn.Linear(16, 3))
    optimizer = torch.optim.Adam(body.parameters(), lr=3e-3)
    for _ in range(4000):
        x = torch.rand(256, 3) * 20 - 10
        loss = F.cross_entropy(body(x), x.argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    model = nn.Sequential(body, nn.Softmax(dim=1)).eval()
    x = torch.rand(10000, 3) * 20 - 10
    right = (model(x).argmax(1) == x.argmax(1)).float().mean().item()
    print(f"right on 10000 random rows: {right:.4f}")
    print("[1, 2, 3] ->", model(torch.tensor([[1.0, 2.0, 3.0]])).tolist())
    path = os.path.join(HERE, "first.onnx")
    torch.onnx.export(model, torch.zeros(1, 3), path, opset_version=13, input_names=["input"],
                      output_names=["prediction"],
                      dynamic_axes={"input": {0: "batch"}, "prediction": {0: "batch"}})
    proto = onnx.load(path)
    proto.metadata_props.add(key="kheya.spec", value=json.dumps(SPEC))
    onnx.save(proto, path)


if __name__ == "__main__":
    main()
