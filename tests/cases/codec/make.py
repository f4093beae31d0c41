#!/usr/bin/python3
"""Makes the files of this folder: arrays as numpy writes them, pictures and what they decode to.

Needs Debian's python3-numpy and python3-pil (or Pillow of another source with TIFF and JPEG 2000). PICTURE.npy beside a picture is its uint8
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


def write_bmp(name, array, bits, header, compression=0, data=b"", palette=b"", masks=()):
    """A bitmap of `data`, whose pixels are `array` [height, width, 3]."""
    height, width = array.shape[:2]
    tail = b"".join(struct.pack("<I", mask) for mask in masks) + palette
    at = 14 + header + len(tail)
    with open(path(name), "wb") as f:
        f.write(struct.pack("<2sIII", b"BM", at + len(data), 0, at))
        if header == 12:
            f.write(struct.pack("<IHHHH", 12, width, height, 1, bits))
        else:
            f.write(struct.pack("<IiiHHIIiiII", 40, width, -height if compression == 3 else height,
                                1, bits, compression, len(data), 0, 0, len(palette) // 4, 0))
        f.write(tail + data)
    expect(name, array)


def bitmaps(picture, gray):
    save("rgb.bmp", picture)
    save("bits.bmp", Image.fromarray(np.asarray(gray) > 128))
    save("palette.bmp", picture.quantize(13))
    save("gray.bmp", gray)
    save("alpha.bmp", picture.convert("RGBA"))
    colors = [(0, 0, 0), (255, 0, 0), (0, 255, 0), (0, 0, 255)]
    quads = b"".join(bytes([b, g, r, 0]) for r, g, b in colors)
    indices = np.array([[1, 1, 1, 2, 3, 0], [2, 3, 2, 3, 2, 3], [0, 0, 3, 3, 0, 1]])
    colored = np.array(colors, np.uint8)[indices]
    # From the bottom: a move, runs and single pixels.
    runs8 = bytes([0, 2, 2, 0, 2, 3, 1, 0, 1, 1, 0, 0, 0, 6, 2, 3, 2, 3, 2, 3, 0, 0, 3, 1, 0, 3, 2,
                   3, 0, 0, 0, 1])
    write_bmp("runs8.bmp", colored, 8, 40, 1, runs8, quads)
    runs4 = bytes([0, 2, 2, 0, 2, 0x33, 1, 0, 1, 0x11, 0, 0, 6, 0x23, 0, 0, 3, 0x11, 0, 3, 0x23,
                   0x00, 0, 1])
    write_bmp("runs4.bmp", colored, 4, 40, 2, runs4, quads)
    core = b"".join(bytes([b, g, r]) for r, g, b in colors)
    rows = b"".join(bytes([row[0] << 4 | row[1], row[2] << 4 | row[3], row[4] << 4 | row[5], 0])
                    for row in indices[::-1])
    write_bmp("core.bmp", colored, 4, 12, 0, rows, core)
    words = RNG.integers(0, 65536, (3, 4))
    five_six = np.stack([(words >> 11) * 255 // 31, (words >> 5 & 63) * 255 // 63,
                         (words & 31) * 255 // 31], -1).astype(np.uint8)
    write_bmp("masks.bmp", five_six, 16, 40, 3, words.astype("<u2").tobytes(),
              masks=(0xf800, 0x7e0, 0x1f))


def maps(rgb, gray):
    save("rgb.ppm", Image.fromarray(rgb))
    save("gray.pgm", Image.fromarray(gray))
    save("bits.pbm", Image.fromarray(gray > 128))

    def write(name, content, array):
        with open(path(name), "wb") as f:
            f.write(content)
        expect(name, np.broadcast_to(array, array.shape[:2] + (3,)).astype(np.uint8))

    write("plain.ppm", b"P3 # text\n2 1\n# more\n100\n0 50 100\n25 75 1\n",
          np.array([[[0, 128, 255], [64, 191, 3]]]))
    write("plain.pbm", b"P1\n3 2\n0 1 0\n110", np.array([[255, 0, 255], [0, 0, 255]])[:, :, None])
    deep = RNG.integers(0, 65536, (4, 5, 1))
    write("deep.pgm", b"P5 5 4 65535\n" + deep.astype(">u2").tobytes(),
          np.floor(deep * 255 / 65535 + 0.5))
    head = b"P7\nWIDTH 18\nHEIGHT 13\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    alpha = RNG.integers(0, 256, (13, 18, 1))
    write("alpha.pam", head + np.concatenate([rgb, alpha], -1).astype(np.uint8).tobytes(), rgb)


def rich_pictures():
    """TIFF and JPEG 2000."""
    rgb, gray = smooth(13, 18, 3), smooth(13, 18, 1)[:, :, 0]
    picture = Image.fromarray(rgb)
    save("rgb.tiff", picture)
    save("lzw.tiff", picture, compression="tiff_lzw")
    save("deflate.tiff", picture, compression="tiff_adobe_deflate")
    save("bits.tiff", Image.fromarray(gray > 128), compression="group4")
    save("palette.tiff", picture.quantize(13))
    save("gray.tiff", Image.fromarray(gray))
    for orientation in range(2, 9):
        save(f"orientation{orientation}.tiff", picture.resize((8, 6)), tiffinfo={274: orientation})
    rgba = Image.fromarray(np.concatenate([rgb, smooth(13, 18, 1)], -1))
    save("alpha.tiff", rgba, compression="tiff_lzw")
    save("rgb.jp2", picture, irreversible=False, quality_layers=[0])
    save("gray.jp2", Image.fromarray(gray))
    save("alpha.jp2", rgba)
    save("codestream.j2k", picture)
    return picture, rgb, gray


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
    picture_, rgb_, gray_ = rich_pictures()
    bitmaps(picture_, Image.fromarray(gray_))
    maps(rgb_, gray_)
    arrays()
