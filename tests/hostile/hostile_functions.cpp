// Functions of the model itself, with subgraphs, attributes and references.
#include "hostile/parts.h"

namespace kheya::test {
namespace {

std::string Model(const Strings& nodes, const Strings& functions) {
  return ModelMessage(GraphMessage({.nodes = nodes,
                                    .inputs = {ValueMessage("x", DType::kFloat32, {2, 3}),
                                               ValueMessage("c", DType::kBool, {})},
                                    .outputs = {UntypedValueMessage("y")}}),
                      21, functions);
}

std::string F(const std::string& name, const std::string& inputs, const std::string& outputs,
              const Strings& nodes) {
  return FunctionMessage(name, SplitNames(inputs), SplitNames(outputs), nodes, 21);
}

struct Row {
  std::string name;
  Strings nodes;
  Strings functions;
};

std::vector<Row> Calls() {
  const std::string neg = F("F", "a", "b", {N("Neg(a) -> b")});
  return {
      {"too_many_inputs", {N("local::F(x, x) -> y")}, {neg}},
      {"no_inputs", {N("local::F() -> y")}, {neg}},
      {"too_many_outputs", {N("local::F(x) -> y, z")}, {neg}},
      {"no_outputs", {N("local::F(x) -> "), N("Neg(x) -> y")}, {neg}},
      {"attribute_unknown", {N("local::F(x) -> y", {IntAttribute("axis", 1)})}, {neg}},
      {"attribute_graph", {N("local::F(x) -> y", {GraphAttribute("g", Body("", {}, "x"))})}, {neg}},
      {"output_is_input", {N("local::F(x) -> y")}, {F("F", "a", "a", {})}},
      {"output_twice", {N("local::F(x) -> y, z")}, {F("F", "a", "b, b", {N("Neg(a) -> b")})}},
      {"made_twice",
       {N("local::F(x) -> y")},
       {F("F", "a", "b", {N("Neg(a) -> b"), N("Abs(a) -> b")})}},
      {"input_made", {N("local::F(x) -> y")}, {F("F", "a", "b", {N("Neg(b) -> a")})}},
      {"caller_value", {N("local::F(x) -> y")}, {F("F", "a", "b", {N("Add(a, x) -> b")})}},
      {"cycle", {N("local::F(x) -> y")}, {F("F", "a", "b", {N("Neg(b) -> t"), N("Neg(t) -> b")})}},
      {"shadows_operator", {N("Neg(x) -> y")}, {F("Neg", "a", "b", {N("local::Neg(a) -> b")})}},
      {"three_in_a_ring",
       {N("local::F(x) -> y")},
       {F("F", "a", "b", {N("local::G(a) -> b")}), F("G", "a", "b", {N("local::H(a) -> b")}),
        F("H", "a", "b", {N("local::F(a) -> b")})}},
      {"itself_in_branch",
       {N("local::F(x, c) -> y")},
       {F("F", "a, c", "b",
          {N("If(c) -> b",
             {GraphAttribute("then_branch", Body("", {N("local::F(a, c) -> r")}, "r")),
              GraphAttribute("else_branch", Body("", {N("Neg(a) -> r")}, "r"))})})}},
      {"itself_in_loop",
       {N("local::F(x, c) -> y")},
       {F("F", "a, c", "b",
          {N("Loop(, c, a) -> b",
             {GraphAttribute("body", Body("i, d, v", {N("local::F(v, d) -> w")}, "d, w"))})})}},
      {"called_in_branch",
       {N("If(c) -> y",
          {GraphAttribute("then_branch", Body("", {N("local::F(x) -> r")}, "r")),
           GraphAttribute("else_branch", Body("", {N("local::F(x, x) -> r")}, "r"))})},
       {neg}},
      {"missing", {N("local::Gone(x) -> y")}, {neg}},
      {"other_domain", {N("elsewhere::F(x) -> y")}, {neg}},
  };
}

// A function whose node refers to an attribute of the call.
std::vector<Row> References() {
  const auto softmax = [](std::string_view reference, int64_t type) {
    return F("F", "a", "b", {N("Softmax(a) -> b", {ReferenceAttribute("axis", reference, type)})});
  };
  const std::string call = N("local::F(x) -> y");
  return {
      {"nobody", {call}, {softmax("gone", 2)}},
      {"empty", {call}, {softmax("", 2)}},
      {"invalid_text", {call}, {softmax("\xff", 2)}},
      {"of_other_type", {N("local::F(x) -> y", {FloatAttribute("k", 1)})}, {softmax("k", 2)}},
      {"of_no_type", {N("local::F(x) -> y", {IntAttribute("k", 1)})}, {softmax("k", 0)}},
      {"of_type_99", {N("local::F(x) -> y", {IntAttribute("k", 1)})}, {softmax("k", 99)}},
      {"of_strings", {N("local::F(x) -> y", {StringsAttribute("k", {"a"})})}, {softmax("k", 8)}},
      {"to_reference",
       {N("local::F(x) -> y", {ReferenceAttribute("k", "z", 2)})},
       {softmax("k", 2)}},
      {"in_main_graph", {N("Softmax(x) -> y", {ReferenceAttribute("axis", "k", 2)})}, {}},
      {"huge_axis", {N("local::F(x) -> y", {IntAttribute("k", INT64_MAX)})}, {softmax("k", 2)}},
      {"graph",
       {N("local::F(c, x) -> y", {GraphAttribute("g", Body("", {N("Neg(x) -> r")}, "r"))})},
       {F("F", "c, a", "b",
          {N("If(c) -> b", {ReferenceAttribute("then_branch", "g", 5),
                            ReferenceAttribute("else_branch", "g", 5)})})}},
      {"in_branch",
       {N("local::F(c, x) -> y", {IntAttribute("k", 1)})},
       {F("F", "c, a", "b",
          {N("If(c) -> b",
             {GraphAttribute(
                  "then_branch",
                  Body("", {N("Softmax(a) -> r", {ReferenceAttribute("axis", "k", 2)})}, "r")),
              GraphAttribute(
                  "else_branch",
                  Body("", {N("Softmax(a) -> r", {ReferenceAttribute("axis", "gone", 2)})},
                       "r"))})})}},
      {"tensor",
       {N("local::F(x) -> y",
          {TensorAttribute("k", Filled(DType::kFloat32, {INT64_MAX}, 4).tensor)})},
       {F("F", "a", "b",
          {N("Constant() -> t", {ReferenceAttribute("value", "k", 4)}), N("Add(a, t) -> b")})}},
      {"default_twice",
       {N("local::F(x) -> y", {IntAttribute("k", 1), IntAttribute("k", 2)})},
       {softmax("k", 2)}},
  };
}

// Calls in subgraphs in functions, each twice: 2^depth nodes.
Row DoublingInBranches(int depth) {
  Strings functions = {F("F0", "a, c", "b", {N("Neg(a) -> b")})};
  for (int i = 1; i <= depth; ++i) {
    const std::string call = "local::F" + std::to_string(i - 1) + "(a, c) -> r";
    const std::string branch = Body("", {N(call)}, "r");
    functions.push_back(F("F" + std::to_string(i), "a, c", "b",
                          {N("If(c) -> b", {GraphAttribute("then_branch", branch),
                                            GraphAttribute("else_branch", branch)})}));
  }
  return {"doubling_in_branches_" + std::to_string(depth),
          {N("local::F" + std::to_string(depth) + "(x, c) -> y")},
          functions};
}

}  // namespace

std::vector<HostileModel> HostileFunctions() {
  std::vector<HostileModel> models;
  for (const Row& row : Calls())
    models.push_back({"call_" + row.name, Model(row.nodes, row.functions)});
  for (const Row& row : References()) {
    models.push_back({"reference_" + row.name, Model(row.nodes, row.functions)});
  }
  for (int depth : {3, 12, 40}) {
    const Row row = DoublingInBranches(depth);
    models.push_back({row.name, Model(row.nodes, row.functions)});
  }
  return models;
}

}  // namespace kheya::test
