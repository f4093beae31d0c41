#!/usr/bin/env python3
"""The onnx package's checker over what `kheya convert` writes: onnx_checker_test.py KHEYA [FOLDER...]

Needs onnx (apt install python3-onnx, or pip in a virtual environment for newer opsets); exits with 77, which ctest takes as
skipped, where it is not there. FOLDERs hold NAME/model.onnx; by default those of tests/cases.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import onnx
except ImportError:
    print("skipped: onnx is not installed")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = [ROOT / "tests" / "cases" / name for name in ("models", "sklearn", "microsoft")]


def check(path):
    """None, or what the checker says, with inference of types and shapes."""
    try:
        onnx.checker.check_model(onnx.load(path), full_check=True)
    except Exception as error:  # the checker has several kinds
        return str(error).strip().splitlines()[0]
    return None


def main():
    kheya, folders = sys.argv[1], [pathlib.Path(f) for f in sys.argv[2:]] or FOLDERS
    newest = min(26, onnx.defs.onnx_opset_version())
    models = sorted(model for folder in folders for model in folder.glob("*/model.onnx"))
    wrong = 0
    for opset in sorted({newest, *(o for o in (21, 17, 13, 11) if o < newest)}):
        valid = refused = wrong_before = 0
        for model in models:
            with tempfile.TemporaryDirectory() as folder:
                written = pathlib.Path(folder) / "written.onnx"
                done = subprocess.run([kheya, "convert", model, "-o", written, "--opset", str(opset)],
                                      capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    refused += 1
                    continue
                error = check(written)
            if error is None:
                valid += 1
            elif check(model) is not None:
                wrong_before += 1
            else:
                wrong += 1
                print(f"opset {opset}: {model}: {error}")
        print(f"opset {opset}: {valid} valid, {refused} refused, {wrong_before} not valid before")
        if valid == 0:
            wrong += 1
            print(f"opset {opset}: no model was written")
    sys.exit(1 if wrong else 0)


main()
