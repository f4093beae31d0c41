"""Files for the tests of the command line, made and read with Python's standard library alone."""
import ast
import math
import struct
import zipfile
import zlib


def _varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _field(number, value):
    """A protobuf field: an int as varint, text, bytes or a message as length-delimited."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _value_info(name, dims, dtype):
    shape = b"".join(_field(1, _field(1, d) if isinstance(d, int) else _field(2, d)) for d in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, dtype) + _field(2, shape)))


def _sequence_info(name):
    tensor = _field(1, _field(1, 1) + _field(2, b""))
    return _field(1, name) + _field(2, _field(4, _field(1, tensor)))


def sequence_model():
    """An ONNX file with a sequence of numbers as its input "s" and how many they are as "n"."""
    node = _field(1, "s") + _field(2, "n") + _field(4, "SequenceLength")
    graph = _field(1, node) + _field(2, "g") + _field(11, _sequence_info("s"))
    graph += _field(12, _value_info("n", [], 7))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))


def onnx_model(op, inputs, output, dims, output_dims=None, dtype=1, opset=13, defaults=()):
    """An ONNX file with one node `op` named "the_node": inputs and output of type `dtype` (1 is
    float32) and of `dims`, the output of its own `output_dims` if given. `defaults` are
    initializers, messages of tensor_proto."""
    node = b"".join(_field(1, name) for name in inputs)
    node += _field(2, output) + _field(3, "the_node") + _field(4, op)
    graph = _field(1, node) + _field(2, "g") + b"".join(_field(5, each) for each in defaults)
    graph += b"".join(_field(11, _value_info(name, dims, dtype)) for name in inputs)
    graph += _field(12, _value_info(output, output_dims or dims, dtype))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, opset))


def tensor_proto(dims, values, name=""):
    """A TensorProto of float32."""
    data = struct.pack(f"<{len(values)}f", *values)
    return b"".join(_field(1, d) for d in dims) + _field(2, 1) + _field(8, name) + _field(9, data)


def npy(dims, values):
    shape = "(" + "".join(f"{d}, " for d in dims) + ")"
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * ((-len(header) - 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}f", *values))


def read_npy(path):
    """The shape and the values of a float32 .npy file of version 1."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:end].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    count = math.prod(header["shape"])
    return list(header["shape"]), list(struct.unpack(f"<{count}f", data[end:]))


def npz(path, arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (dims, values) in arrays.items():
            archive.writestr(name + ".npy", npy(dims, values))


def gray_png(pixels):
    """`pixels`: rows of numbers of 0 to 255."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))

    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 0, 0, 0, 0)
    rows = b"".join(b"\x00" + bytes(row) for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
