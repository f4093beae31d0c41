#!/usr/bin/python3
"""Makes the files of this folder: arrays as numpy writes them, pictures and what they decode to.

Needs Debian's python3-numpy and python3-pil. PICTURE.npy beside a picture is its uint8
[height, width, 3] as Pillow decodes it (16 bits: rounded v * 255 / 65535).
"""

import os
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps

HERE = os.path.dirname(os.path.abspath(__file__))
RNG = np.random.default_rng(7)


def path(name, folder="pictures"):
    return os.path.join(HERE, folder, name)


def smooth(height, width, channels):
    y, x = np.mgrid[0:height, 0:width]
    planes = [np.sin(x / 3 + c) * 60 + np.cos(y / 2 - c) * 60 + 128 for c in range(channels)]
    noise = RNG.integers(-6, 7, (height, width, channels))
    return np.clip(np.stack(planes, -1) + noise, 0, 255).astype(np.uint8)


def expect(name, array):
    np.save(path(f"{name}.npy"), array)


def save(name, picture, **options):
    picture.save(path(name), **options)
    expect(name, np.asarray(ImageOps.exif_transpose(Image.open(path(name))).convert("RGB")))


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def write_png(name, array, depth, color, interlaced=False):
    """`array` [height, width, channels] of big-endian 16-bit or 8-bit samples; filter 0."""
    height, width = array.shape[:2]
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
              (0, 1, 1, 2)] if interlaced else [(0, 0, 1, 1)]
    raw = b""
    for x, y, dx, dy in passes:
        part = array[y::dy, x::dx]
        if part.size:
            raw += b"".join(b"\0" + row.tobytes() for row in part)
    with open(path(name), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        f.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0,
                                           interlaced)))
        f.write(chunk(b"IDAT", zlib.compress(raw)))
        f.write(chunk(b"IEND", b""))


def pictures():
    rgb, gray = smooth(13, 18, 3), smooth(13, 18, 1)[:, :, 0]
    picture = Image.fromarray(rgb)
    save("rgb.jpg", picture, quality=90)
    save("progressive.jpg", picture, quality=80, progressive=True)
    save("gray.jpg", Image.fromarray(gray), quality=90)
    save("cmyk.jpg", picture.convert("CMYK"), quality=90)
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        save(f"orientation{orientation}.jpg", picture.resize((8, 6)), quality=90, exif=exif)
    save("rgb.png", picture)
    save("gray.png", Image.fromarray(gray))
    save("bits.png", Image.fromarray(gray > 128))
    save("palette.png", picture.quantize(13))
    rgba = smooth(13, 18, 4)
    save("alpha.png", Image.fromarray(rgba))
    save("gray-alpha.png", Image.fromarray(rgba[:, :, :2]))
    save("transparent-palette.png", picture.quantize(13), transparency=2)
    write_png("interlaced.png", rgb, 8, 2, interlaced=True)
    expect("interlaced.png", rgb)
    deep = RNG.integers(0, 65536, (5, 7, 3))
    write_png("deep.png", deep.astype(">u2"), 16, 2)
    expect("deep.png", np.floor(deep * 255 / 65535 + 0.5).astype(np.uint8))
    save("lossy.webp", picture, quality=80)
    save("lossless.webp", picture, lossless=True)
    save("alpha.webp", Image.fromarray(rgba), lossless=True, exact=True)
    picture.save(path("animation.webp"), save_all=True, append_images=[picture.transpose(1)])


def arrays():
    base = np.arange(24).reshape(2, 3, 4)
    several = {"x": base.astype(np.float32), "y": np.array([1, 0], np.int64)}
    np.savez(path("stored.npz", "arrays"), **several)
    np.savez_compressed(path("deflated.npz", "arrays"), **several)
    for version in (1, 2, 3):
        with open(path(f"version{version}.npy", "arrays"), "wb") as f:
            np.lib.format.write_array(f, base.astype(np.float32), version=(version, 0))
    np.save(path("fortran.npy", "arrays"), np.asfortranarray(base.astype(np.float32)))
    for descr in ("<f8", ">f4", "<f2", "|u1", "|i1", "<u2", ">i2", "<i4", "<u4", "<i8", ">u8",
                  "|b1", "<c8", ">c16"):
        name = descr.replace("<", "little-").replace(">", "big-").replace("|", "")
        np.save(path(f"{name}.npy", "arrays"), base.astype(descr))


if __name__ == "__main__":
    pictures()
    arrays()
