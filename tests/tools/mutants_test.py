#!/usr/bin/env python3
"""tools/mutants.py finds the mutants of a source and writes them behind switches."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "tools"))
import mutants  # pylint: disable=wrong-import-position


def find(body):
    source = f"#include <a/b.h>\nconstexpr int kSizes[] = {{1, 2}};\nint F(int a, int b) {{\n{body}\n}}\n"
    return source, mutants.Finder("f.cpp", source).find()


class MutantsTest(unittest.TestCase):
    def expect(self, body, *whats):
        self.assertEqual([m.what for m in find(body)[1]], list(whats))

    def test_operators(self):
        self.expect("return a < b && a;", "< to <= in 'a < b && a'", "&& to || in 'a < b && a'")
        self.expect("return G(a + b, -a);", "+ to - in 'a + b'")
        self.expect("return std::min(a, b);", "std::max for 'std::min(a, b)'")

    def test_conditions_and_statements(self):
        self.expect("if (!a.ok()) return b;", "not '!a.ok()'", "'!a.ok()' without !",
                    "no 'return b;'")
        self.expect("KHEYA_RETURN_IF_ERROR(G(a));", "no 'KHEYA_RETURN_IF_ERROR(G(a));'")
        self.expect("a.b = b;", "no 'a.b = b;'")
        self.expect("if (const int c = a) return;", "no 'return;'")

    def test_not_in_declarations_types_and_text(self):
        self.expect("const std::vector<int>& c = b;")
        self.expect('G("a < 1 && b");  // a < 1', "no 'G(\"a < 1 && b\");'")
        self.expect("static constexpr int kTen = 10;")
        self.expect("return std::array<int, 4>();")

    def test_constants(self):
        self.expect("return 4;", "4 to 5", "4 to 3")
        self.expect("return 0;", "0 to 1")
        self.expect("return 0.5;")

    def test_switches_nest_and_keep_lines(self):
        source, found = find("return a <\n    b + 1;  // why")
        for number, mutant in enumerate(found, 1):
            mutant.number = number
        self.assertEqual([m.number for m in found if m.what.startswith(("<", "+", "1 to 2"))],
                         [1, 2, 3])
        text = mutants.with_switches(source, found[:3])
        self.assertEqual(text.count("\n"), source.count("\n"))
        self.assertIn("(KheyaMutant(1) ? (a <= b + 1) : ((KheyaMutant(2) ? (a < b - 1) : "
                      "(a <\n    b + (KheyaMutant(3) ? (2) : (1))))))", text)


if __name__ == "__main__":
    unittest.main()
