#!/usr/bin/env python3
"""Triton's own Python client against `kheya serve`: tritonclient_test.py build/dev/bin/kheya

Needs tritonclient[http] (python3 -m venv v && v/bin/pip install 'tritonclient[http]'); exits with
77, which ctest takes as skipped, where it is not there.
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import tritonclient.http as triton
except ImportError:
    print("skipped: tritonclient[http] is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROWS = numpy.array([[1, 2, 3], [0, -1, 0.5]], dtype=numpy.float32)


def infer(client, binary_in, outputs):
    tensor = triton.InferInput("input", list(ROWS.shape), "FP32")
    tensor.set_data_from_numpy(ROWS, binary_data=binary_in)
    result = client.infer("first", [tensor], outputs=outputs, request_id="7")
    assert result.get_response()["id"] == "7"
    return result.as_numpy("prediction")


def check(client):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("first") and client.is_model_ready("first", "1")
    assert not client.is_model_ready("other")
    assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
    assert client.get_model_metadata("first")["inputs"][0]["shape"] == [-1, 3]
    first = None
    for binary_in in (True, False):
        for outputs in (None, [triton.InferRequestedOutput("prediction", binary_data=True)],
                        [triton.InferRequestedOutput("prediction", binary_data=False)]):
            found = infer(client, binary_in, outputs)
            first = found if first is None else first
            assert found.shape == (2, 3) and found.dtype == numpy.float32
            assert (found == first).all(), (found, first)
    classes = infer(client, True, [triton.InferRequestedOutput("prediction", class_count=1)])
    label = f":{first[0].argmax()}".encode()
    assert classes.shape == (2, 1) and label in classes[0, 0], classes
    wrong = triton.InferInput("input", [3], "FP32")
    wrong.set_data_from_numpy(ROWS[0])
    try:
        client.infer("first", [wrong])
        raise AssertionError("a wrong shape was taken")
    except triton.InferenceServerException as error:
        assert "found shape [3], expected [batch,3]" in error.message(), error


def main():
    with tempfile.TemporaryDirectory() as folder:
        port_file = pathlib.Path(folder) / "port"
        process = subprocess.Popen([sys.argv[1], "serve", ROOT / "examples/first/first.onnx",
                                    "--port", "0", "--port-file", port_file, "--no-access-log"])
        while not port_file.exists() and process.poll() is None:
            time.sleep(0.05)
        try:
            with triton.InferenceServerClient(
                    f"127.0.0.1:{port_file.read_text(encoding='utf-8').strip()}") as client:
                check(client)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    print("tritonclient: ok")


if __name__ == "__main__":
    main()
