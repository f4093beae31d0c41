#!/usr/bin/env python3
"""Runs the console examples of docs/http-api.md against real servers: doc_examples.py build/dev/bin/kheya

A line "$ COMMAND" must print the lines below it, where "..." stands for anything.
"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SERVERS = {"8000": "examples/first/first.onnx", "8001": "examples/fashion/fashion.onnx"}


def examples(text):
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for example in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = example.partition("\n")
            yield command, output


def start(binary, model, folder):
    port_file = pathlib.Path(folder) / pathlib.Path(model).stem
    process = subprocess.Popen([binary, "serve", ROOT / model, "--port", "0", "--port-file",
                                port_file, "--no-access-log"], stderr=subprocess.DEVNULL)
    while not port_file.exists() and process.poll() is None:
        time.sleep(0.05)
    return process, port_file.read_text(encoding="utf-8").strip()


def main():
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        running = {port: start(sys.argv[1], model, folder) for port, model in SERVERS.items()}
        for command, expected in examples((ROOT / "docs/http-api.md").read_text(encoding="utf-8")):
            for port, (_, real) in running.items():
                command = command.replace(f":{port}/", f":{real}/")
            found = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True,
                                   text=True, check=False).stdout
            pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
            count += 1
            if not re.fullmatch(pattern, found.strip(), re.S):
                failures += 1
                print(f"$ {command}\nfound:    {found}\nexpected: {expected}")
        for process, _ in running.values():
            process.send_signal(signal.SIGTERM)
            failures += process.wait(timeout=60) != 0
    print(f"{count} examples, {failures} failures")
    return 1 if failures or count < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
