#!/usr/bin/env python3
"""tools/check_layers and tools/check_sizes catch what they are there for."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
TABLE = """
| room | holds | may include | outside libraries |
|---|---|---|---|
| base | x | - | spdlog |
| tensor | x | base | - |
| kernels | x | tensor base | oneDNN |
| runtime | x | kernels and below | - |
| app | x | all | CLI11 |

More text | with | bars | here
"""


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("ARCHITECTURE.md", TABLE)
        (self.root / "src").mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_tool(self, tool):
        done = subprocess.run([sys.executable, str(ROOT / "tools" / tool), str(self.root)],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def expect_fault(self, tool, *parts):
        code, output = self.run_tool(tool)
        self.assertEqual(code, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def expect_ok(self, tool):
        self.assertEqual(self.run_tool(tool)[0], 0, self.run_tool(tool)[1])


class LayersTest(Tree):
    def test_allowed_includes_pass(self):
        self.write("src/runtime/a.cpp", '#include "runtime/a.h"\n#include "tensor/t.h"\n'
                   '#include "base/b.h"\n#include <vector>\n#include <sys/mman.h>\n'
                   '#include <fmt/core.h>\n// std::cout, exit(1)\nconst char* s = "abort()";\n')
        self.write("src/kernels/onednn/a.cpp", "#include <oneapi/dnnl/dnnl.hpp>\n")
        self.write("src/base/a_test.cpp", "#include <gtest/gtest.h>\nint x = printf(\"x\");\n")
        self.expect_ok("check_layers")

    def test_an_include_upward_is_caught(self):
        self.write("src/tensor/a.cpp", '#include <vector>\n#include "runtime/plan.h"\n')
        self.expect_fault("check_layers", "src/tensor/a.cpp:2:", "does not allow room 'runtime'")

    def test_a_library_of_another_room_is_caught(self):
        self.write("src/tensor/a.h", "#include <spdlog/spdlog.h>\n")
        self.expect_fault("check_layers", "does not allow library 'spdlog'")

    def test_a_library_outside_its_adapter_is_caught(self):
        self.write("src/kernels/a.cpp", "#include <oneapi/dnnl/dnnl.hpp>\n")
        self.expect_fault("check_layers", "belongs to src/kernels/onednn/ alone")

    def test_an_unknown_library_is_caught(self):
        self.write("src/base/a.h", "#include <absl/strings/str_cat.h>\n")
        self.expect_fault("check_layers", "belongs to no library")

    def test_an_include_beside_is_caught(self):
        self.write("src/base/a.cpp", '#include "a.h"\n')
        self.expect_fault("check_layers", "expected room/file.h")

    def test_googletest_outside_tests_is_caught(self):
        self.write("src/base/a.cpp", "#include <gtest/gtest.h>\n")
        self.expect_fault("check_layers", "only tests")

    def test_a_room_without_a_row_is_caught(self):
        self.write("src/extra/a.cpp", "")
        self.expect_fault("check_layers", "room 'extra' has no row")

    def test_a_link_upward_is_caught(self):
        self.write("src/tensor/CMakeLists.txt", "kheya_room(tensor DEPS base kernels)\n")
        self.expect_fault("check_layers", "links room 'kernels'")

    def test_a_circle_in_the_table_is_caught(self):
        self.write("ARCHITECTURE.md", TABLE.replace("| base | x | - |", "| base | x | tensor |"))
        self.expect_fault("check_layers", "circle")

    def test_an_unknown_room_in_the_table_is_caught(self):
        self.write("ARCHITECTURE.md", TABLE.replace("tensor base", "tensor bse"))
        self.expect_fault("check_layers", "'bse', which has no row")

    def test_laws_are_kept(self):
        for text in ("std::cout << 1;", 'printf("x");', "std::exit(1);", "abort();",
                     'getenv("HOME");', "socket(AF_INET, 0, 0);"):
            self.write("src/tensor/a.cpp", f"void F() {{ {text} }}\n")
            self.expect_fault("check_layers", "which this room may not")
        self.write("src/tensor/a.cpp", "")
        self.write("src/app/main.cpp", "int main() { std::cout << 1; return getenv(\"A\") != 0; }\n")
        self.expect_ok("check_layers")

    def test_the_repository_has_a_table(self):
        self.write("ARCHITECTURE.md", "no table")
        self.expect_fault("check_layers", "no table of rooms")


class SizesTest(Tree):
    def function(self, lines, head="void Long(std::vector<int> v = {}) {"):
        return head + "\n" + "  Call('{', \"}\");  // }\n" * (lines - 2) + "}\n"

    def test_limits_themselves_pass(self):
        self.write("src/base/a.cpp", self.function(80) + "// x\n" * 720)
        self.expect_ok("check_sizes")

    def test_a_long_file_is_caught(self):
        self.write("src/base/a.cpp", "// x\n" * 801)
        self.expect_fault("check_sizes", "src/base/a.cpp: 801 lines")

    def test_long_functions_are_caught(self):
        for head, name in (("void Long() {", "Long"), ("A::A(int x) : a_{x}, b_(2) {", "A::A"),
                           ("TEST(Suite, Case) {", "TEST"),
                           ("template <typename T>\n  requires(sizeof(T) > 1)\nauto F() -> T {", "F"),
                           ("bool C::operator==(const C& o) const {", "C::operator==")):
            text = "namespace k {\n\n" + self.function(81, head) + "}  // namespace k\n"
            self.write("src/base/a.cpp", text)
            self.expect_fault("check_sizes", "src/base/a.cpp:3:", f"function {name} has 8")

    def test_methods_inside_a_class_are_measured(self):
        self.write("src/base/a.h", "class C : public D {\n public:\n" + self.function(81) + "};\n")
        self.expect_fault("check_sizes", "src/base/a.h:3: function Long has 81 lines")

    def test_an_exception_needs_a_reason_and_a_use(self):
        self.write("src/base/a.cpp", self.function(81))
        self.write("tools/size_exceptions", "# list\nsrc/base/a.cpp Long a dispatch table\n")
        self.expect_ok("check_sizes")
        self.write("tools/size_exceptions", "src/base/a.cpp Long\n")
        self.expect_fault("check_sizes", "without a reason")
        self.write("tools/size_exceptions", "src/base/a.cpp Long table\nsrc/base/b.cpp F table\n")
        self.expect_fault("check_sizes", "tools/size_exceptions:2: nobody needs")


if __name__ == "__main__":
    unittest.main()
