#!/usr/bin/python3
"""Makes the .npz files of this folder: a picture and, by HEIGHTxWIDTH, what Pillow resizes it to.

Needs Debian's python3-numpy and python3-pil.
"""

import os

import numpy as np
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
RNG = np.random.default_rng(11)
SIZES = [(1, 1), (3, 5), (8, 8), (7, 31), (20, 16), (40, 3), (16, 20)]


def main():
    for name, shape in (("color", (16, 20, 3)), ("gray", (33, 9, 1)), ("strip", (1, 50, 3))):
        picture = RNG.integers(0, 256, shape, np.uint8)
        arrays = {"picture": picture}
        for height, width in SIZES:
            image = Image.fromarray(picture if shape[2] == 3 else picture[:, :, 0])
            resized = np.asarray(image.resize((width, height), Image.BILINEAR))
            arrays[f"{height}x{width}"] = resized.reshape(height, width, shape[2])
        np.savez_compressed(os.path.join(HERE, f"resize_{name}.npz"), **arrays)


if __name__ == "__main__":
    main()
