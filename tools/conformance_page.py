#!/usr/bin/env python3
"""Prints docs/conformance.md: what `kheya conformance` counts over ONNX's own test cases.

tools/conformance_page.py KHEYA NAME=FOLDER...   each FOLDER holds node, simple, ...
"""
import json
import os
import re
import subprocess
import sys

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light")
COUNTS = ("passed", "failed", "skipped", "random")

INTRODUCTION = """# Conformance

Made by `tools/generate` from `kheya conformance`; do not edit.

The ONNX project's test cases: models with inputs and the outputs expected of them. Every case counts:
there is no list of cases that may fail. *Skipped* cases have an operator or a type that is refused by
name. *Random* ones draw numbers that the standard leaves open: types, shapes, ranges and that a run
can be repeated are checked of the outputs that depend on them; their other outputs must be right.

```bash
kheya conformance FOLDER [--json]
```

Cases that fail below, and why: `test_qlinearmatmul_*_int8_*` wrap results that do not fit in int8, which the standard
says saturate; `test_dft_inverse*` expect the rounding errors of another transform where the answer is 0;
`test_adam_multiple` was made with an epsilon that its model does not hold;
`test_attention_*_qk_matmul_bias*` and `*_softcap` have the order of cap and mask that the standard has turned since
([decision 8](decisions/0008-attention.md)).
"""


def run(kheya, folder):
    done = subprocess.run([kheya, "conformance", folder, "--json"], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(f"kheya conformance {folder}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    print("\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines))


def rounded(text):
    """Numbers of three digits, rounding errors as 0: the same text whatever the processor."""
    def short(match):
        number = float(match.group())
        return "0" if abs(number) < 1e-9 else f"{number:.3g}"
    return re.sub(r"-?\d+\.\d+(e[-+]?\d+)?", short, text)


def opset_key(name):
    return (not name.isdigit(), int(name) if name.isdigit() else 0)


def print_data(name, reports):
    print(f"\n## {name}\n")
    table(["cases", *COUNTS], [[kind, *(report[c] for c in COUNTS)]
                               for kind, report in reports.items()])
    print("\nThe node cases by the opset of ai.onnx that they declare:\n")
    opsets = reports["node"]["by_opset"]
    names = {opset: "none" if opset == "unknown" else opset for opset in opsets}
    table(["opset", *COUNTS], [[names[opset], *(opsets[opset][c] for c in COUNTS)]
                               for opset in sorted(opsets, key=opset_key)])
    for title, key in (("failed", "failures"), ("was skipped", "skips")):
        rows = [[f"{kind}/{found['case']}", rounded(found["reason"])]
                for kind, report in reports.items() for found in report[key]]
        if rows:
            print(f"\nWhat {title}:\n")
            table(["case", "why"], rows)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    print(INTRODUCTION, end="")
    for argument in sys.argv[2:]:
        name, folder = argument.split("=", 1)
        kinds = [kind for kind in KINDS if os.path.isdir(os.path.join(folder, kind))]
        print_data(name, {k: run(sys.argv[1], os.path.join(folder, k)) for k in kinds})


if __name__ == "__main__":
    main()
