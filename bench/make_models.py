#!/usr/bin/python3
"""Exports the models that benchmarks and accuracy checks use, with torch.

Usage: /usr/bin/python3 bench/make_models.py FOLDER [NAME...]

Needs Debian's python3-torch and python3-torchvision. Weights are random but fixed, and BatchNorm
statistics are set from data first, so that outputs have a spread and differ between inputs. Writes
NAME.onnx, NAME_input_I.npy and NAME_output_I.npy (what torch computes). The tree ensembles are made by
bench/make_trees.py.
"""
import os
import sys
import warnings

import torch

from models import small, text, vision


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")  # of the tracer, about the fixed shapes that are meant
    for module in (small, text, vision):
        module.make(folder, lambda name: not names or name in names)


if __name__ == "__main__":
    main()
