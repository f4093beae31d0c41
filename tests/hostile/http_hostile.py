#!/usr/bin/env python3
"""Hostile HTTP requests against `kheya serve`: clean errors alone, and alive afterwards.

  tests/hostile/http_hostile.py build/asan-ubsan/bin/kheya
  tests/hostile/http_hostile.py build/release/bin/kheya --soak 10000

--soak N also sends N mixed requests and checks that resident memory rises by less than 1 MB
(for builds without sanitizers, which keep freed memory).
"""
import argparse
import json
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOOD = b'{"input": [[1.0, 2.0, 3.0]]}'
PATIENCE = 60  # seconds for any one answer; the server's own limits are shorter


class Server:
    def __init__(self, binary, model):
        self.folder = tempfile.TemporaryDirectory()
        port_file = pathlib.Path(self.folder.name) / "port"
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [binary, "serve", model, "--name", "m", "--port", "0", "--port-file", port_file,
             "--no-access-log"], stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(600):
            if port_file.exists() or self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.port = int(port_file.read_text(encoding="utf-8"))

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def rss(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE)
        self.log.seek(0)
        return code, self.log.read()


def read_all(client):
    data = b""
    try:
        while part := client.recv(65536):
            data += part
    except ConnectionError:
        pass
    return data


def exchange(server, data):
    """Sends all, half-closes never, reads until the server closes or one answer is whole."""
    with server.connect() as client:
        try:
            client.sendall(data)
        except ConnectionError:
            pass
        answer = b""
        try:
            while not whole(answer) and (part := client.recv(65536)):
                answer += part
        except ConnectionError:
            pass
        return answer


def whole(answer):
    head, found, body = answer.partition(b"\r\n\r\n")
    if not found:
        return False
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return False


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer else 0


def post(path, body, *headers, length=None):
    lines = [f"POST {path} HTTP/1.1", "Host: h", "Connection: close", *headers]
    if length is not False:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def infer(change=None, binary=b"", **fields):
    """A KServe request with one input, some of its members replaced; None takes one away."""
    tensor = {"name": "input", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3]}
    tensor.update(fields)
    body = {"inputs": [{k: v for k, v in tensor.items() if v is not None}]}
    if change:
        change(body)
    text = json.dumps(body).encode()
    header = [f"Inference-Header-Content-Length: {len(text)}"] if binary else []
    return post("/v2/models/m/infer", text + binary, *header)


def broken_lines():
    """Requests whose lines and headers are wrong: (bytes, expected statuses)."""
    get = b"GET /v2 HTTP/1.1\r\nHost: h\r\n"
    for line in [b"", b" ", b"GET", b"GET /v2", b"GET  /v2 HTTP/1.1", b"GET /v2 HTTP/1.2.3",
                 b"GET /v2 HTTP/2.0", b"GET /v2 http/1.1", b"G\x00T /v2 HTTP/1.1",
                 b"\xff\xfe /v2 HTTP/1.1", b"GET /\x01 HTTP/1.1", b"PRI * HTTP/2.0",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"{\"input\": 1}"]:
        yield line + b"\r\nHost: h\r\n\r\n", (400, 404, 405)
    for header in [b"no colon", b": empty", b"A b: c", b"A\x00: b", b"A: b\x00c",
                   b"Host: again", b"Content-Length: x", b"Content-Length: -1",
                   b"Content-Length: 1e3", b"Content-Length: 0x10", b"Content-Length: +5",
                   b"Content-Length: 99999999999999999999",
                   b"Content-Length: 1\r\nContent-Length: 2",
                   b"Content-Length: 1\r\nTransfer-Encoding: chunked",
                   b"Expect: something"]:
        yield get + header + b"\r\n\r\n", (400, 417)
    for header in [b" folded: x", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity",
                   b"Transfer-Encoding: chunked, chunked", b"Upgrade: websocket",
                   b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c",
                   b"Content-Encoding: gzip", b"Content-Encoding: br"]:
        yield get + b"Connection: close\r\n" + header + b"\r\n\r\n", None
    yield get + b"A: " + b"a" * 70000 + b"\r\n\r\n", (431,)
    yield get + b"".join(b"A%d: b\r\n" % i for i in range(5000)) + b"\r\n", (431,)
    yield b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\nHost: h\r\n\r\n", (431,)
    for path in ["/", "/v2/", "//v2", "/v2/models/%", "/v2/models/%zz", "/v2/models/%00",
                 "/v2/models/..%2f..%2fetc%2fpasswd", "/v2/models/../../etc/passwd",
                 "/v2/models/" + "a" * 4000, "/v2/models/m/versions/-1", "/v2/models/m/versions/"
                 "99999999999999999999", "http://other/v2x", "*", "/predict/../v2x", "/%ff%fe"]:
        yield f"GET {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode("latin-1"), (400, 404)
    for verb in ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT", "BREW", "A" * 200]:
        yield f"{verb} /predict HTTP/1.1\r\nHost: h\r\n\r\n".encode(), (400, 405)


def broken_chunks():
    head = b"POST /predict HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    for chunks in [b"zz\r\n", b"-1\r\n", b"ffffffffffffffff\r\nx", b"10000000000000000\r\nx",
                   b"5\r\nabc\r\n0\r\n\r\n", b"5\r\nabcdefgh\r\n0\r\n\r\n", b"0x5\r\nabcde\r\n\r\n",
                   b"5;" + b"a" * 100000 + b"\r\nabcde\r\n", b" 5\r\nabcde\r\n", b"\r\n",
                   b"0\r\n" + b"A: b\r\n" * 20000 + b"\r\n", b"0\r\nbad trailer\r\n\r\n",
                   b"1\r\n{\r\n" * 1000 + b"0\r\n\r\n", b"0\r\n\r\n"]:
        yield head + chunks, (400, 413, 431)


def broken_json():
    deep = 100000
    for body in [b"", b"{", b"[", b"}", b"null", b"1", b"\"x\"", b"{}", b"[]", b"{\"input\"}",
                 b"{\"input\":}", b"{\"input\": [[1, 2, 3],]}", b"{'input': [[1, 2, 3]]}",
                 b"{\"input\": [[1, 2, 3]]} x", b"{\"input\": [[1, 2, 3]]", b"\xef\xbb\xbf" + GOOD,
                 b"{\"input\": [[NaN, 1, 2]]}", b"{\"input\": [[Infinity, 1, 2]]}",
                 b"{\"input\": [[1e999, 1, 2]]}", b"{\"input\": [[1e39, 1, 2]]}",
                 b"{\"input\": [[01, 1, 2]]}", b"{\"input\": [[+1, 1, 2]]}",
                 b"{\"input\": [[.5, 1, 2]]}", b"{\"input\": [[1., 1, 2]]}",
                 b"{\"input\": [[0x1, 1, 2]]}", b"{\"input\": [[1e, 1, 2]]}",
                 b"{\"input\": [[--1, 1, 2]]}", b"{\"input\": [[\"1\", 1, 2]]}",
                 b"{\"input\": [[null, 1, 2]]}", b"{\"input\": [[true, 1, 2]]}",
                 b"{\"input\": [[{}, 1, 2]]}", b"{\"input\": [1, 2, 3]}", b"{\"input\": 1}",
                 b"{\"input\": [[1, 2]]}", b"{\"input\": [[1, 2, 3, 4]]}", b"{\"input\": [[[]]]}",
                 b"{\"input\": [[1, 2, 3], [1]]}", b"{\"input\": [[1, 2, 3], 1]}",
                 b"{\"input\": []}", b"{\"input\": [[]]}", b"{\"other\": [[1, 2, 3]]}",
                 b"{\"input\": [[1, 2, 3]], \"input\": [[1, 2, 3]]}", b"{\"\\ud800\": 1}",
                 b"{\"\\u00\": 1}", b"{\"a\xff\": 1}", b"{\"a\x00\": 1}", b"\x00" * 100,
                 b"[" * deep, b"{\"input\": " + b"[" * deep, b"{\"a\":" * deep,
                 b"{\"input\": " + b"[" * 50 + b"1" + b"]" * 50 + b"}",
                 b"{\"input\": [[" + b"9" * 100000 + b", 1, 2]]}",
                 b"{\"input\": [[1, 2, 3]], \"" + b"k" * 100000 + b"\": 1}",
                 b"{\"input\": [[1, 2, 3]" + b", [1, 2, 3]" * 1000 + b", [1, 2]]}"]:
        yield post("/predict", body), (400,)
        yield post("/v2/models/m/infer", body), (400,)
    for kind in ["text/csv", "multipart/form-data; boundary=x", "application/octet-stream",
                 "x" * 1000, "image/png", "image/svg+xml"]:
        yield post("/predict", b"xyz", f"Content-Type: {kind}"), (400, 415)


def broken_tensors():
    big = 1 << 62
    for shape in [[-1, 3], [1, -3], [1 << 63, 3], [1 << 64, 3], [big, 3], [1 << 32, 1 << 32],
                  [0, 1 << 40, 1 << 40], [1.5, 3], "1,3", None, [], [3], [1, 3, 1], [[1, 3]],
                  [1, "3"], [True, 3], [1] * 17, [1] * 100000, {"a": 1}]:
        yield infer(shape=shape), (400,)
    for fields in [{"name": None}, {"name": ""}, {"name": "x"}, {"name": "a" * 100000},
                   {"name": 1}, {"datatype": "FP64"}, {"datatype": "fp32"}, {"datatype": ""},
                   {"datatype": "INT4"}, {"datatype": None}, {"data": None}, {"data": []},
                   {"data": [1, 2]}, {"data": [1] * 100000}, {"data": {}}, {"data": "AAA"},
                   {"data": [[1, 2], [3]]}, {"parameters": 1}, {"parameters": {"binary_data_size": 12}},
                   {"data": None, "parameters": {"binary_data_size": 12}},
                   {"data": None, "parameters": {"binary_data_size": -1}},
                   {"data": None, "parameters": {"binary_data_size": 2**64 - 1}},
                   {"data": None, "parameters": {"binary_data_size": "12"}},
                   {"data": None, "parameters": {"binary_data_size": 0}}]:
        yield infer(**fields), (400,)
    yield infer(data=None, parameters={"shared_memory_region": "secret"}), (501,)
    sized = {"data": None, "parameters": {"binary_data_size": 12}}
    yield infer(binary=b"\0" * 11, **sized), (400,)
    yield infer(binary=b"\0" * 13, **sized), (400,)
    yield infer(binary=b"\0" * 12), (400,)
    for header in ["-1", "1e9", "99999999999999999999", "x", "", "5", "0"]:
        yield post("/v2/models/m/infer", GOOD[:11],
                   f"Inference-Header-Content-Length: {header}"), (400,)
    for members in [{"inputs": {}}, {"inputs": 1}, {"inputs": [1]}, {"inputs": [[]]},
                    {"outputs": 1}, {"outputs": [{}]}, {"outputs": [{"name": "nothing"}]},
                    {"outputs": [{"name": "prediction"}] * 2}, {"id": 7}, {"id": "x" * 100000},
                    {"parameters": {"timeout": -1}}, {"parameters": {"triton_a": 1}},
                    {"parameters": {"headers": {}}}, {"parameters": [1]}, {"inputs": []},
                    {"outputs": [{"name": "prediction", "parameters": {"classification": -1}}]},
                    {"outputs": [{"name": "prediction", "parameters": {"binary_data": 3}}]}]:
        yield infer(lambda body, m=members: body.update(m)), (400,)
    yield infer(lambda body: body.update({"parameters": {"sequence_id": 1}})), (501,)
    yield infer(lambda body: body["inputs"].append(body["inputs"][0])), (400,)


def mutations(count):
    """Good requests with bytes changed, cut and repeated: any clean answer will do."""
    rng = random.Random(1)
    seeds = [post("/predict", GOOD), infer(),
             infer(binary=b"\0" * 12, data=None, parameters={"binary_data_size": 12})]
    for _ in range(count):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            data[at:at + rng.choice([0, 1, 1, 3])] = bytes(
                rng.choice(b'\0\r\n :,"[]{}-0e9\xff%/;') for _ in range(rng.randint(0, 3)))
        yield bytes(data)


class Suite:
    def __init__(self, server):
        self.server = server
        self.count = 0
        self.failures = []

    def expect(self, good, what):
        self.count += 1
        if not good:
            self.failures.append(what)

    def check(self, data, statuses):
        answer = exchange(self.server, data)
        status = status_of(answer)
        body = answer.partition(b"\r\n\r\n")[2]
        good = status in statuses if statuses else 200 <= status < 600
        if good and status >= 400:
            try:
                good = list(json.loads(body)) == ["error"]
            except ValueError:
                good = False
        self.expect(good, f"{data[:200]!r}: found {answer[:200]!r}, expected {statuses}")

    def check_mutation(self, data):
        """A broken length may leave the server waiting, so the client closes its half."""
        with self.server.connect() as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            answer = read_all(client)
        self.expect(not answer or answer.startswith(b"HTTP/1.1 "), f"{data!r}: {answer[:100]!r}")

    def check_alive(self):
        self.expect(status_of(exchange(self.server, post("/predict", GOOD))) == 200, "not alive")

    def truncated(self):
        data = post("/predict", GOOD)
        for end in list(range(1, len(data), 7)):
            with self.server.connect() as client:
                client.sendall(data[:end])
            self.count += 1
        self.check_alive()

    def hang_ups(self):
        for _ in range(50):
            with self.server.connect() as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.sendall(post("/predict", GOOD))
            self.count += 1
        self.check_alive()

    def large_bodies(self):
        block = b" " * (1 << 20)
        for chunked in (False, True):
            with self.server.connect() as client:
                head = post("/predict", b"", *(["Transfer-Encoding: chunked"] if chunked else []),
                            length=False if chunked else 1 << 30)
                sent = 0
                try:
                    client.sendall(head)
                    for _ in range(1024):
                        client.sendall(b"100000\r\n" + block + b"\r\n" if chunked else block)
                        sent += len(block)
                except (ConnectionError, socket.timeout):
                    pass
                answer = read_all(client)
            # The answer may be lost when the client sends on after the server has closed.
            self.expect(sent < 1 << 30 or status_of(answer) == 413, f"a body of 1 GB: {answer!r}")
        with self.server.connect() as client:
            client.sendall(post("/predict", b"", length=1 << 30))
            answer = read_all(client)
        self.expect(status_of(answer) == 413, f"a length of 1 GB: {answer!r}")
        self.check_alive()

    def run(self):
        slow = [self.server.connect() for _ in range(20)]
        for i, client in enumerate(slow):
            client.sendall(b"POST /predict HTTP/1.1\r\nHost: h\r\nA: b"[:i * 2 + 1])
        for group in (broken_lines, broken_chunks, broken_json, broken_tensors):
            for data, statuses in group():
                self.check(data, statuses)
            self.check_alive()
        for data in mutations(300):
            self.check_mutation(data)
        self.truncated()
        self.hang_ups()
        self.large_bodies()
        for client in slow:
            self.expect(not read_all(client).startswith(b"HTTP/1.1 2"), "a slow client was served")
            client.close()
        self.check_alive()


def soak(server, count):
    """The rise of resident memory over `count` mixed requests, after as many to warm up."""
    random.seed(1)
    tensor = struct.pack("<3f", 1, 2, 3)
    kinds = [post("/predict", GOOD), infer(), post("/predict", b"{"), post("/nothing", b""),
             infer(shape=[-1, 3]), infer(binary=tensor, data=None,
                                         parameters={"binary_data_size": 12}),
             post("/predict", b'{"input": [' + b", ".join([b"[1, 2, 3]"] * 500) + b"]}")]
    for _ in range(count // 2):
        exchange(server, random.choice(kinds))
    before = server.rss()
    for _ in range(count):
        exchange(server, random.choice(kinds))
    return server.rss() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--model", default=str(ROOT / "examples/first/first.onnx"))
    parser.add_argument("--soak", type=int, default=0, metavar="N")
    args = parser.parse_args()
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    server = Server(args.binary, args.model)
    suite = Suite(server)
    suite.run()
    if args.soak:
        rise = soak(server, args.soak)
        print(f"{args.soak} requests: resident memory rose by {rise} bytes")
        suite.expect(rise < 1 << 20, f"resident memory rose by {rise} bytes, expected under 1 MB")
    code, log = server.stop()
    suite.expect(code == 0, f"exit code {code}")
    suite.expect("Sanitizer" not in log and "runtime error" not in log, log[-4000:])
    print(f"{suite.count} checks, {len(suite.failures)} failed")
    for failure in suite.failures[:20]:
        print("  " + failure)
    return 1 if suite.failures else 0


if __name__ == "__main__":
    sys.exit(main())
