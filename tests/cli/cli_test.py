#!/usr/bin/env python3
"""Tests of the command line. Usage: cli_test.py KHEYA [unittest's arguments]

tests/cases/cli/*.json hold commands with what they must answer: a list of objects with
  name     what is tested
  args     after `kheya`; {first}, {fashion}, {add}, {unknown}, {pictures}, {cases} and {tmp} are paths
  exit     the exit code, 0 when left out
  stdout, stderr   regular expressions, each to be found; [] for none: nothing must be printed
  keys     the keys that stdout, a JSON object, must have
  equal    members that it must have with these values
Here are the tests that need more than one command.
"""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import files

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KHEYA = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
CASES = ROOT / "tests" / "cases" / "cli"
FIRST = ROOT / "examples" / "first" / "first.onnx"
FASHION = ROOT / "examples" / "fashion" / "fashion.onnx"
PICTURES = ROOT / "examples" / "fashion" / "pictures"
DATASET = pathlib.Path("/usr/share/datasets/fashion-mnist")
LIMIT = 300  # seconds until a command counts as hung


def run(*args, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KHEYA_") and k != "NO_COLOR"}
    env["KHEYA_DETERMINISTIC"] = "1"
    return subprocess.run([KHEYA, *map(str, args)], capture_output=True, text=True, timeout=LIMIT,
                          stdin=subprocess.DEVNULL, env=env | environment, check=False)


def flat(nested):
    return [x for item in nested for x in flat(item)] if isinstance(nested, list) else [nested]


class Scratch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tmp = pathlib.Path(tempfile.mkdtemp(prefix="kheya-cli-"))
        cls.add = cls.tmp / "add.onnx"
        cls.add.write_bytes(files.onnx_model("Add", ["a", "b"], "sum", ["rows", 2]))
        cls.unknown = cls.tmp / "unknown.onnx"
        cls.unknown.write_bytes(files.onnx_model("NoSuchOperator", ["a"], "out", [2]))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tmp)

    def ok(self, *args):
        done = run(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class CaseFiles(Scratch):
    def check(self, case):
        paths = {"first": FIRST, "fashion": FASHION, "add": self.add, "unknown": self.unknown,
                 "pictures": PICTURES, "cases": CASES, "tmp": self.tmp}
        args = [re.sub(r"\{(\w+)\}", lambda m: str(paths.get(m[1], m[0])), a) for a in case["args"]]
        done = run(*args)
        what = f"$ kheya {' '.join(args)}\n{done.stdout}\n{done.stderr}"
        self.assertEqual(done.returncode, case.get("exit", 0), what)
        for stream in ("stdout", "stderr"):
            text = getattr(done, stream)
            self.assertNotIn("\033", text, "an escape sequence without a terminal\n" + what)
            if case.get(stream) == []:
                self.assertEqual(text, "", what)
            for pattern in case.get(stream, []):
                self.assertRegex(text, re.compile(pattern, re.M), what)
        if "keys" in case or "equal" in case:
            answer = json.loads(done.stdout)
            self.assertEqual([k for k in case.get("keys", []) if k not in answer], [], what)
            for key, value in case.get("equal", {}).items():
                self.assertEqual(answer.get(key), value, what)

    def test_cases(self):
        known = {"name", "args", "exit", "stdout", "stderr", "keys", "equal"}
        paths = sorted(CASES.glob("*.json"))
        self.assertTrue(paths, f"found no cases in {CASES}")
        for path in paths:
            for case in json.loads(path.read_text()):
                with self.subTest(f"{path.stem}: {case['name']}"):
                    self.assertLessEqual(set(case), known)
                    self.check(case)


class Help(Scratch):
    def test_every_command_shows_an_example_of_itself(self):
        listing = self.ok("--help").split("Subcommands:")[1]
        commands = re.findall(r"^  (\w+) ", listing, re.M)
        self.assertEqual(commands, ["inspect", "run", "bench", "compile", "evaluate", "serve",
                                    "convert", "optimize", "conformance", "devices", "completion"])
        for command in commands:
            text = self.ok(command, "--help")
            self.assertRegex(text, rf"Example:\n(.*\n)*?.*kheya {command}")


class Profiles(Scratch):
    """What `bench` says of the steps of a run."""

    def test_groups_and_steps_agree(self):
        answer = json.loads(self.ok("bench", FASHION, "--iterations", "3", "--threads", "1",
                                    "--profile", "--json"))
        steps, groups = answer["steps"], answer["profile"]
        self.assertEqual(sum(each["count"] for each in groups), len(steps))
        for rows in (steps, groups):
            self.assertAlmostEqual(sum(each["share"] for each in rows), 1, delta=1e-6)
            self.assertTrue(all(each["min_ms"] <= each["mean_ms"] for each in rows), rows)
        macs = sum(each["gflops"] * each["min_ms"] / 2e-6 for each in steps if each["gflops"])
        self.assertAlmostEqual(macs / answer["macs"], 1, delta=1e-6)
        bound = sum(each["roofline"] * each["min_ms"] for each in steps)
        self.assertAlmostEqual(bound / answer["roofline_ms"], 1, delta=1e-6)
        for name in ("bytes_read", "bytes_written"):
            self.assertEqual(sum(each[name] for each in steps), sum(each[name] for each in groups))

    def test_compared_kernels_hold_the_one_taken(self):
        answer = json.loads(self.ok("bench", FASHION, "--iterations", "1", "--compare-tactics",
                                    "--json"))
        self.assertNotIn("steps", answer)
        self.assertTrue(answer["comparison"])
        self.assertTrue(any(len(each["tactics"]) > 1 for each in answer["comparison"]))
        for each in answer["comparison"]:
            self.assertIn(each["tactic"], each["tactics"])
            self.assertTrue(all(ms is None or ms > 0 for ms in each["tactics"].values()), each)

    def test_a_trace_has_every_step_in_order(self):
        path = self.tmp / "trace.json"
        answer = json.loads(self.ok("bench", FASHION, "--iterations", "1", "--batch", "64",
                                    "--profile", "--trace", path, "--json"))
        events = json.loads(path.read_text())["traceEvents"]
        spans = [each for each in events if each["ph"] == "X"]
        names = {each["tid"]: each["args"]["name"] for each in events if each["ph"] == "M"}
        self.assertEqual({each["tid"] for each in spans}, set(names))
        self.assertEqual(names[0], "steps")
        steps = [each for each in spans if each["tid"] == 0]
        self.assertEqual([each["cat"] for each in steps], [each["op"] for each in answer["steps"]])
        self.assertEqual([each["args"]["tactic"] for each in steps],
                         [each["tactic"] for each in answer["steps"]])
        for one, after in zip(steps, steps[1:]):
            self.assertLessEqual(one["ts"] + one["dur"], after["ts"] + 1e-3)


class Inputs(Scratch):
    """Whichever way an input is given, the answer is the same."""

    def test_formats_of_tensors(self):
        a, b = ([2, 2], [1.0, -2.5, 3.0, 0.25]), ([2, 2], [10.0, 20.0, 30.0, 40.0])
        for name, (dims, values) in (("a", a), ("b", b)):
            (self.tmp / f"{name}.npy").write_bytes(files.npy(dims, values))
            (self.tmp / f"{name}.pb").write_bytes(files.tensor_proto(dims, values))
            (self.tmp / f"{name}.json").write_text(json.dumps([values[:2], values[2:]]))
        files.npz(self.tmp / "ab.npz", {"a": a, "b": b})
        given = {"json": ["a=[[1, -2.5], [3, 0.25]]", "b=[[10, 20], [30, 40]]"],
                 ".npy": [f"a=@{self.tmp}/a.npy", f"b=@{self.tmp}/b.npy"],
                 ".pb": [f"a=@{self.tmp}/a.pb", f"b=@{self.tmp}/b.pb"],
                 ".json": [f"a=@{self.tmp}/a.json", f"b=@{self.tmp}/b.json"],
                 ".npz": [f"@{self.tmp}/ab.npz"],
                 "mixed": [f"b=@{self.tmp}/b.npy", "a=[[1, -2.5], [3, 0.25]]"]}
        for kind, inputs in given.items():
            with self.subTest(kind):
                flags = [word for text in inputs for word in ("--input", text)]
                answer = json.loads(self.ok("run", self.add, *flags, "--json"))
                self.assertEqual(answer["outputs"]["sum"]["shape"], [2, 2])
                self.assertEqual(answer["outputs"]["sum"]["dtype"], "float32")
                self.assertEqual(flat(answer["outputs"]["sum"]["data"]), [11.0, 17.5, 33.0, 40.25])

    def test_names_that_begin_with_digits(self):
        model = self.tmp / "digits.onnx"
        model.write_bytes(files.onnx_model("Add", ["0", "1.x"], "2", ["rows", 2]))
        text = self.ok("run", model, "--input", "0=[[1, 2]]", "--input", "1.x=[[3, 4]]")
        self.assertRegex(text, r"^Prediction: \[\[4\.0, ?6\.0\]\]\n$")

    def test_a_png_is_what_its_pixels_are(self):
        pixels = [[(x * 9 + y * 5) % 256 for x in range(28)] for y in range(28)]
        (self.tmp / "picture.png").write_bytes(files.gray_png(pixels))
        spec = re.search(rb'\{"version": 1.*?\}', FASHION.read_bytes(), re.S)
        self.assertIsNotNone(spec)
        spec = json.loads(spec[0])
        values = [(v * spec["scale"] - spec["mean"][0]) / spec["std"][0]
                  for row in pixels for v in row]
        (self.tmp / "picture.npy").write_bytes(files.npy([1, 1, 28, 28], values))
        answers = []
        for ending in ("png", "npy"):
            text = self.ok("run", FASHION, "--input", f"@{self.tmp}/picture.{ending}", "--json")
            answers.append(flat(json.loads(text)["outputs"]["logits"]["data"]))
        for one, other in zip(*answers):
            self.assertAlmostEqual(one, other, delta=1e-4)

    def test_types_that_numpy_lacks(self):
        given = {"int4": (22, [-8, 0, 7]), "float8e5m2": (19, [0.5, -57344.0, 1.0]),
                 "float8e8m0": (24, [0.25, 1.0, 2.0]), "complex64": (14, [[1.0, 2.0], [0.5, -1.0]]),
                 "string": (8, ["a", "b c"])}
        for name, (dtype, values) in given.items():
            with self.subTest(name):
                model = self.tmp / f"{name}.onnx"
                model.write_bytes(files.onnx_model("Identity", ["x"], "y", [len(values)],
                                                   dtype=dtype, opset=25))
                folder = self.tmp / f"of_{name}"
                text = self.ok("run", model, "--input", json.dumps(values), "--json",
                               "--output-dir", folder)
                output = json.loads(text)["outputs"]["y"]
                self.assertEqual((output["dtype"], output["data"]), (name, values))
                written = list(folder.iterdir())
                self.assertEqual(len(written), 1)
                again = self.ok("run", model, "--input", f"@{written[0]}", "--json")
                self.assertEqual(again, text)
                once = self.ok("run", model, "--random", "1")
                self.assertEqual(once, self.ok("run", model, "--random", "1"))
                self.ok("bench", model, "--iterations", "1")

    def test_only_tensors_are_made_up(self):
        model = self.tmp / "sequence.onnx"
        model.write_bytes(files.sequence_model())
        self.assertIn("3", self.ok("run", model, "--input", "s=[1, 2, 3]"))
        for args in (["bench", model], ["run", model, "--random", "1"]):
            done = run(*args)
            self.assertEqual(done.returncode, 1)
            self.assertIn("input 's': found seq(float32[]), only tensors", done.stderr)
            self.assertIn("--input s=", done.stderr)

    def test_a_default_can_be_given(self):
        model = self.tmp / "default.onnx"
        model.write_bytes(files.onnx_model("Add", ["x", "w"], "y", [2], defaults=[
            files.tensor_proto([2], [100.0, 100.0], "w")]))
        copy = self.tmp / "copy.onnx"
        self.ok("convert", model, "-o", copy)
        for path in (model, copy):
            self.assertIn("[101.0,102.0]", self.ok("run", path, "--input", "x=[1, 2]"))
            self.assertIn("[6.0,8.0]",
                          self.ok("run", path, "--input", "x=[1, 2]", "--input", "w=[5, 6]"))

    def test_errors_that_nobody_can_read(self):
        for arguments, code in ((["inspect", self.tmp / "nowhere"], 1), (["inspect", "--bogus"], 2)):
            with open("/dev/full", "w") as full:
                done = subprocess.run([KHEYA, *map(str, arguments)], stdout=subprocess.DEVNULL,
                                      stderr=full, timeout=LIMIT, check=False)
            self.assertEqual(done.returncode, code, arguments)

    def test_random_inputs_repeat(self):
        once = self.ok("run", FASHION, "--random", "7", "--json")
        self.assertEqual(once, self.ok("run", FASHION, "--random", "7", "--json"))
        self.assertNotEqual(once, self.ok("run", FASHION, "--random", "8", "--json"))

    def test_output_dir_round_trip(self):
        folder = self.tmp / "out"
        text = self.ok("run", self.add, "--input", "a=[[1, 2]]", "--input", "b=[[0.5, 0.25]]",
                       "--output-dir", folder)
        self.assertRegex(text, r"^Prediction: \[\[1\.5, ?2\.25\]\]\n$")
        written = list(folder.iterdir())
        self.assertEqual([path.suffix for path in written], [".npy"])
        self.assertEqual(files.read_npy(written[0]), ([1, 2], [1.5, 2.25]))
        again = self.ok("run", self.add, "--input", f"a=@{written[0]}", "--input", "b=[[1, 1]]")
        self.assertRegex(again, r"^Prediction: \[\[2\.5, ?3\.25\]\]\n$")

    def test_top_agrees_with_the_scores(self):
        logits = flat(json.loads(self.ok("run", FASHION, "--random", "3", "--json"))
                      ["outputs"]["logits"]["data"])
        top = json.loads(self.ok("run", FASHION, "--random", "3", "--top", "10", "--json"))["top"]
        self.assertEqual(len(top), 1)
        order = sorted(range(10), key=lambda i: -logits[i])
        self.assertEqual([entry["index"] for entry in top[0]], order)
        self.assertAlmostEqual(sum(entry["score"] for entry in top[0]), 1.0, delta=1e-5)
        self.assertTrue(all(entry["label"] for entry in top[0]))

    def test_threads_and_tactics_agree(self):
        def logits(*flags):
            text = self.ok("run", FASHION, "--random", "5", "--json", *flags)
            return flat(json.loads(text)["outputs"]["logits"]["data"])

        reference = logits("--tactics", "reference")
        for flags in (["--threads", "1"], ["--threads", "2"], ["--tactics", "portable"]):
            for found, expected in zip(logits(*flags), reference):
                self.assertAlmostEqual(found, expected, delta=1e-3, msg=flags)


class Evaluate(Scratch):
    @unittest.skipUnless(DATASET.exists(), "the package dataset-fashion-mnist is not installed")
    def test_fashion_mnist(self):
        answer = json.loads(self.ok("evaluate", FASHION, "--data", DATASET, "--json"))
        self.assertEqual(answer["count"], 10000)
        self.assertGreaterEqual(answer["accuracy"], 0.92)
        self.assertEqual(answer["accuracy"], answer["correct"] / answer["count"])

    def test_picture_folders(self):
        for label in ("Trouser", "Pullover", "Ankle boot"):
            (self.tmp / "data" / label).mkdir(parents=True)
            name = label.lower().replace(" ", "-") + ".png"
            shutil.copy(PICTURES / name, self.tmp / "data" / label)
        answer = json.loads(self.ok("evaluate", FASHION, "--data", self.tmp / "data", "--json"))
        self.assertEqual((answer["count"], answer["accuracy"]), (3, 1.0))


    def test_a_fixed_batch_is_filled_up(self):
        data, model = self.tmp / "dots", self.tmp / "four.onnx"
        model.write_bytes(files.onnx_model("Flatten", ["pixels"], "scores", [4, 1, 1, 2], [4, 2]))
        for i in range(5):  # one more than the batch
            (data / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
            dot = [255, 0] if i % 2 == 0 else [0, 255]
            (data / "ab"[i % 2] / f"{i}.png").write_bytes(files.gray_png([dot]))
        (self.tmp / "ab.txt").write_text("a\nb\n")
        answer = json.loads(self.ok("evaluate", model, "--data", data, "--size", "1x2", "--color",
                                    "GRAY", "--labels", self.tmp / "ab.txt", "--json"))
        self.assertEqual((answer["count"], answer["accuracy"]), (5, 1.0))


class Convert(Scratch):
    def test_a_pipe_is_not_replaced(self):
        pipe = self.tmp / "pipe"
        os.mkfifo(pipe)
        done = run("convert", FASHION, "-o", pipe, "--external-data")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^error: .*pipe': found a pipe, expected a regular file")
        self.assertTrue(pipe.is_fifo())
        self.assertFalse((self.tmp / "pipe.data").exists())

    def test_a_link_stays_and_the_weights_lie_beside_the_model(self):
        folder = self.tmp / "target"
        folder.mkdir()
        (self.tmp / "link.onnx").symlink_to("target/model.onnx")
        for _ in range(2):  # first to what is not there, then over it
            self.ok("convert", FASHION, "-o", self.tmp / "link.onnx", "--external-data")
            self.assertTrue((self.tmp / "link.onnx").is_symlink())
            self.assertEqual(sorted(p.name for p in folder.iterdir()),
                             ["model.onnx", "model.onnx.data"])
            self.ok("run", folder / "model.onnx", "--random", "1")


class Conformance(Scratch):
    def write_case(self, name):
        data = self.tmp / "cases" / name / "test_data_set_0"
        data.mkdir(parents=True)
        (data.parent / "model.onnx").write_bytes(files.onnx_model("Relu", ["x"], "y", [2]))
        (data / "input_0.pb").write_bytes(files.tensor_proto([2], [-1.0, 2.0]))
        (data / "output_0.pb").write_bytes(files.tensor_proto([2], [0.0, 2.0]))
        return data.parent

    def test_a_damaged_case_fails_alone(self):
        self.write_case("good")
        (self.write_case("bad") / "data.json").write_text("{bad")
        done = run("conformance", self.tmp / "cases", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["passed"], answer["failed"], answer["skipped"]), (1, 1, 0))
        self.assertEqual([f["case"] for f in answer["failures"]], ["bad"])
        self.assertRegex(answer["failures"][0]["reason"], "data.json.*malformed")
        text = self.ok("conformance", self.tmp / "cases", "--filter", "good")
        self.assertEqual(text, "1 passed, 0 failed, 0 skipped\n")


class Terminal(Scratch):
    """What differs when a person looks on."""

    def on_terminal(self, *args, until, **environment):
        """Runs with stderr on a terminal until `until` was printed; returns what was."""
        master, slave = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {
            "TERM": "xterm", "KHEYA_DETERMINISTIC": "1"}
        process = subprocess.Popen([KHEYA, *map(str, args)], stdout=subprocess.DEVNULL,
                                   stderr=slave, stdin=subprocess.DEVNULL, env=env | environment)
        os.close(slave)
        seen, end = b"", time.monotonic() + LIMIT
        try:
            while until not in seen and time.monotonic() < end:
                if not select.select([master], [], [], 1)[0]:
                    continue
                try:
                    seen += os.read(master, 4096)
                except OSError:  # the process has ended
                    break
        finally:
            process.kill()
            process.wait()
            os.close(master)
        return seen.decode(errors="replace")

    def test_errors_are_coloured_unless_no_color_is_set(self):
        coloured = self.on_terminal("inspect", "nowhere.onnx", until=b"\n")
        self.assertIn("\033[", coloured)
        plain = self.on_terminal("inspect", "nowhere.onnx", until=b"\n", NO_COLOR="1")
        self.assertIn("error: ", plain)
        self.assertNotIn("\033[", plain)

    def test_a_bar_shows_progress(self):
        work = ("bench", FASHION, "--threads", "1", "--iterations", "1000000000")
        self.assertIn("s left", self.on_terminal(*work, until=b"s left"))

    def test_no_bar_without_a_terminal(self):
        process = subprocess.Popen(
            [KHEYA, "bench", FASHION, "--threads", "1", "--iterations", "1000000000"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(4)  # a bar would have come after two
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.communicate()[0], b"")


class Completion(Scratch):
    def complete(self, *words):
        quoted = " ".join(f"'{word}'" for word in words)
        script = (f'source <("{KHEYA}" completion bash) && COMP_WORDS=({quoted}) && '
                  f'COMP_CWORD={len(words) - 1} && _kheya && echo "${{COMPREPLY[*]}}"')
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("kheya", "ins"), ["inspect"])
        self.assertIn("--iterations", self.complete("kheya", "bench", "--it"))
        self.assertNotIn("--iterations", self.complete("kheya", "run", "--"))
        self.assertEqual(self.complete("kheya", "run", f"{self.tmp}/add"), [str(self.add)])

    def test_other_shells(self):
        for shell in ("zsh", "fish"):
            script = self.ok("completion", shell)
            for word in ("inspect", "evaluate", "kheya"):
                self.assertIn(word, script)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n"], input=script, text=True, check=False,
                                      capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


class Graphs(Scratch):
    def test_dot(self):
        text = self.ok("inspect", FASHION, "--dot")
        self.assertRegex(text, r"^digraph ")
        self.assertEqual(text.count("{"), text.count("}"))
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tsvg"], input=text, text=True, check=True,
                           stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    if KHEYA is None or not KHEYA.exists():
        sys.exit(__doc__)
    unittest.main()
