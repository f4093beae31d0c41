#!/usr/bin/env python3
"""Serves the models of examples/ and asks them as a user would: with the lines of
examples/first/client.py, with curl, and with a picture. Usage: serve_test.py KHEYA"""
import ast
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KHEYA = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
FIRST = ROOT / "examples" / "first"
FASHION = ROOT / "examples" / "fashion"
LIMIT = 120  # seconds until something counts as hung


class Served:
    """A server of one model while the `with` lasts; its exit code must be 0 after SIGTERM."""

    def __init__(self, model, *flags):
        self.folder = tempfile.TemporaryDirectory(prefix="kheya-serve-")
        port_file = pathlib.Path(self.folder.name) / "port"
        self.log = pathlib.Path(self.folder.name) / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [KHEYA, "serve", model, "--port", "0", "--port-file", port_file, *flags],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        end = time.monotonic() + LIMIT
        while not port_file.exists() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        if not port_file.exists():
            self.process.kill()
            raise AssertionError(f"the server did not begin:\n{self.log.read_text()}")
        self.url = f"http://127.0.0.1:{port_file.read_text().strip()}"

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = "none: it hung"
        log = self.log.read_text()
        self.folder.cleanup()
        if code != 0 and kind is None:
            raise AssertionError(f"exit code {code} after SIGTERM, expected 0:\n{log}")


def run(*args):
    done = subprocess.run([KHEYA, "run", *map(str, args), "--json"], capture_output=True,
                          text=True, timeout=LIMIT, check=True)
    return json.loads(done.stdout)


def curl(url, *flags):
    """Status and body."""
    done = subprocess.run(["curl", "-sS", "--max-time", str(LIMIT), "-w", "\n%{http_code}", url,
                           *map(str, flags)], capture_output=True, check=True)
    body, _, status = done.stdout.rpartition(b"\n")
    return int(status), body


def flat(nested):
    return [x for item in nested for x in flat(item)] if isinstance(nested, list) else [nested]


class ServeTest(unittest.TestCase):
    def assert_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            self.assertAlmostEqual(one, other, delta=1e-6)

    def ask_json(self, url, *flags, status=200):
        code, body = curl(url, *flags)
        self.assertEqual(code, status, body)
        return json.loads(body)


class First(ServeTest):
    ROW = "[[1.0, 2.0, 3.0]]"

    @classmethod
    def setUpClass(cls):
        cls.expected = flat(run(FIRST / "first.onnx", "--input", cls.ROW)
                            ["outputs"]["prediction"]["data"])
        cls.served = Served(FIRST / "first.onnx")
        cls.url = cls.served.url

    @classmethod
    def tearDownClass(cls):
        cls.served.__exit__(None, None, None)

    def test_the_lines_of_the_client(self):
        lines = (FIRST / "client.py").read_text()
        self.assertIn("requests.post", lines)
        self.assertIn("http://127.0.0.1:8000", lines)
        lines = lines.replace("http://127.0.0.1:8000", self.url)
        done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = ast.literal_eval(done.stdout)
        self.assertEqual(list(answer), ["prediction"])
        self.assert_close(flat(answer["prediction"]), self.expected)
        self.assertAlmostEqual(sum(self.expected), 1.0, delta=1e-5)

    def test_the_same_lines_stand_in_the_readme(self):
        for name in ("README.md", "README.bn.md"):
            self.assertIn('requests.post("http://127.0.0.1:8000/predict", '
                          'json={"input": [[1.0, 2.0, 3.0]]})', (ROOT / name).read_text())

    def test_rows_in_rows_out(self):
        answer = self.ask_json(f"{self.url}/predict", "-d", '{"input": [[1, 2, 3], [0, 0, 0]]}')
        self.assertEqual([len(row) for row in answer["prediction"]], [3, 3])
        self.assert_close(answer["prediction"][0], self.expected)

    def test_health_and_metadata(self):
        for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/first/ready"):
            self.assertEqual(curl(self.url + path)[0], 200, path)
        self.assertIn("name", self.ask_json(f"{self.url}/v2"))
        model = self.ask_json(f"{self.url}/v2/models/first")
        self.assertEqual(model["name"], "first")
        self.assertEqual(model["inputs"],
                         [{"name": "input", "datatype": "FP32", "shape": [-1, 3]}])

    def test_kserve_with_json(self):
        body = {"id": "42", "inputs": [{"name": "input", "shape": [1, 3], "datatype": "FP32",
                                        "data": [1, 2, 3]}]}
        answer = self.ask_json(f"{self.url}/v2/models/first/infer", "-d", json.dumps(body))
        self.assertEqual((answer["model_name"], answer["id"]), ("first", "42"))
        output = answer["outputs"][0]
        self.assertEqual((output["datatype"], output["shape"]), ("FP32", [1, 3]))
        self.assert_close(output["data"], self.expected)

    def test_kserve_with_binary_tensors(self):
        header = json.dumps({"inputs": [{"name": "input", "shape": [1, 3], "datatype": "FP32",
                                         "parameters": {"binary_data_size": 12}}],
                             "outputs": [{"name": "prediction",
                                          "parameters": {"binary_data": True}}]}).encode()
        with tempfile.NamedTemporaryFile() as body:
            body.write(header + struct.pack("<3f", 1, 2, 3))
            body.flush()
            status, answer = curl(f"{self.url}/v2/models/first/infer", "--data-binary",
                                  f"@{body.name}", "-H", "Content-Type: application/octet-stream",
                                  "-H", f"Inference-Header-Content-Length: {len(header)}")
        self.assertEqual(status, 200, answer)
        self.assert_close(struct.unpack("<3f", answer[-12:]), self.expected)
        output = json.loads(answer[:-12])["outputs"][0]
        self.assertEqual(output["parameters"], {"binary_data_size": 12})

    def test_mistakes_are_told(self):
        for status, path, flags in (
                (404, "/nowhere", []), (404, "/v2/models/other", []), (405, "/predict", []),
                (400, "/predict", ["-d", '{"input": [[1, 2]]}']),
                (400, "/predict", ["-d", '{"input": [[1, 2, "x"]]}']),
                (400, "/predict", ["-d", '{"rows": [[1, 2, 3]]}']),
                (400, "/predict", ["-d", '{"input": [[1, 2, 3]']),
                (400, "/predict", ["-d", ""])):
            with self.subTest(path=path, flags=flags):
                answer = self.ask_json(self.url + path, *flags, status=status)
                self.assertTrue(answer["error"])


class Fashion(ServeTest):
    def test_pictures(self):
        with Served(FASHION / "fashion.onnx", "--threads", "1") as served:
            for name, kind in (("ankle-boot.png", "image/png"), ("trouser.png", "image/png"),
                               ("pullover.png", "image/png")):
                path = FASHION / "pictures" / name
                answer = self.ask_json(f"{served.url}/predict", "--data-binary", f"@{path}", "-H",
                                       f"Content-Type: {kind}")
                expected = run(FASHION / "fashion.onnx", "--input", f"@{path}", "--top", "1")
                label = expected["top"][0][0]["label"]
                self.assertEqual(label.lower().replace(" ", "-") + ".png", name)
                self.assertIn(label, json.dumps(answer))
            for content in (b"", b"not a picture"):
                code, body = curl(f"{served.url}/predict", "--data-binary", content.decode(), "-H",
                                  "Content-Type: image/png")
                self.assertEqual(code, 400, body)


class Ending(ServeTest):
    def test_sigint_ends_it_too(self):
        with Served(FIRST / "first.onnx") as served:
            served.process.send_signal(signal.SIGINT)
            self.assertEqual(served.process.wait(LIMIT), 0)

    def test_a_port_in_use_is_told(self):
        with Served(FIRST / "first.onnx") as served:
            port = served.url.rsplit(":", 1)[1]
            done = subprocess.run([KHEYA, "serve", FIRST / "first.onnx", "--port", port],
                                  capture_output=True, text=True, timeout=LIMIT, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"error: .*{port}")


if __name__ == "__main__":
    if KHEYA is None or not KHEYA.exists():
        sys.exit(__doc__)
    os.environ.pop("KHEYA_PORT", None)
    unittest.main()
