#!/usr/bin/env python3
"""Commands that get little memory (RLIMIT_AS) answer or fail with one line and exit code 1, whatever
step memory ends at. Usage: memory_limit_cli.py KHEYA"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIRST = ROOT / "examples" / "first" / "first.onnx"
FASHION = ROOT / "examples" / "fashion" / "fashion.onnx"
ONNX_DATA = pathlib.Path(os.environ.get(
    "KHEYA_ONNX_TESTDATA", "/usr/lib/python3/dist-packages/onnx/backend/test/data"))
MIB = 1 << 20


def run(kheya, args, limit):
    def cap():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run([kheya, *args], preexec_fn=cap, capture_output=True, text=True, timeout=120)


def starts_at(kheya):
    """The least memory, in MiB, that the program itself starts with."""
    low, high = 1, 4096
    while low < high:
        middle = (low + high) // 2
        if run(kheya, ["--version"], middle * MIB).returncode == 0:
            high = middle
        else:
            low = middle + 1
    return low


def check(kheya, args, limit):
    """True when the command worked."""
    done = run(kheya, args, limit)
    if done.returncode == 0:
        return True
    lines = done.stderr.strip().splitlines()
    if done.returncode != 1 or not lines or not lines[0].startswith("error: "):
        sys.exit(f"{args} within {limit / MIB:.2f} MiB: exit code {done.returncode}, "
                 f"{done.stderr[-500:]!r}")
    return False


def check_start(kheya, least):
    """Just below `least` MiB loading ends with 127, what comes after it with 1: never by a signal."""
    codes = set()
    for limit in range((least - 2) * MIB, least * MIB, MIB // 64):
        done = run(kheya, ["--version"], limit)
        codes.add(done.returncode)
        if done.returncode not in (0, 1, 127) or (done.returncode != 0 and not done.stderr):
            sys.exit(f"--version within {limit / MIB:.2f} MiB: exit code {done.returncode}, "
                     f"{done.stderr[-500:]!r}")
    print(f"--version: exit codes {sorted(codes)} below {least} MiB")


def main():
    kheya = sys.argv[1]
    least = starts_at(kheya)
    check_start(kheya, least)
    with tempfile.TemporaryDirectory() as folder:
        commands = [["run", FIRST, "--random", "1"],
                    ["run", FASHION, "--random", "1"],
                    ["bench", FASHION, "--iterations", "3"],
                    ["convert", FASHION, "-o", f"{folder}/out.onnx", "--simplify"],
                    ["inspect", FASHION]]
        cases = sorted(ONNX_DATA.glob("node/test_add*"))
        if cases:
            commands.append(["conformance", *cases])
        for args in commands:
            args = [str(arg) for arg in args]
            worked = failed = 0
            extra = 0.0
            while extra < 400 and worked < 3:
                if check(kheya, args, int((least + extra) * MIB)):
                    worked += 1
                else:
                    failed += 1
                extra += 0.25 + extra / 6
            print(f"{args[0]}: failed at {failed} limits, then worked")
            if worked == 0:
                sys.exit(f"{args} never worked")


main()
