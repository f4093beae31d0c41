#include "formats/testing/model_writer.h"
#include "hostile/hostile_models.h"

namespace kheya::test {
namespace {

constexpr DType kF32 = DType::kFloat32;

std::string X() { return ValueMessage("x", kF32, {2, 3}); }
std::string Y() { return ValueMessage("y", kF32, {2, 3}); }

std::string Unary(const std::string& op, const std::string& in, const std::string& out) {
  return NodeMessage({.op = op, .inputs = {in}, .outputs = {out}});
}

std::string Call(const std::string& function, const std::string& in, const std::string& out) {
  return NodeMessage({.op = function, .inputs = {in}, .outputs = {out}, .domain = "local"});
}

// x -> nodes -> y.
std::string Model(std::vector<std::string> nodes, const std::vector<std::string>& functions = {},
                  int64_t opset = 21) {
  return ModelMessage(GraphMessage({.nodes = std::move(nodes), .inputs = {X()}, .outputs = {Y()}}),
                      opset, functions);
}

// Only one branch: two would double the size at each level.
std::string NestedIf(int depth) {
  std::string branch =
      GraphMessage({.nodes = {Unary("Neg", "x", "y")}, .outputs = {UntypedValueMessage("y")}});
  std::string node;
  for (int i = 0; i < depth; ++i) {
    node = NodeMessage({.op = "If",
                        .inputs = {"c"},
                        .outputs = {"y"},
                        .attributes = {GraphAttribute("then_branch", branch)}});
    branch = GraphMessage({.nodes = {node}, .outputs = {UntypedValueMessage("y")}});
  }
  return ModelMessage(GraphMessage({.nodes = {node},
                                    .inputs = {X(), ValueMessage("c", DType::kBool, {})},
                                    .outputs = {Y()}}),
                      21);
}

void AddNames(std::vector<HostileModel>& models) {
  const std::pair<const char*, std::string> names[] = {
      {"utf8", "\xff\xfe\xc0"},         {"newline", "a\nb: fake error"},
      {"escape", "\x1b[31mred\x1b[0m"}, {"nul", std::string("a\0b", 3)},
      {"long", std::string(9000, 'n')}, {"huge", std::string(1 << 20, 'n')},
      {"surrogate", "\xed\xa0\x80"},    {"braces", "{} {0} %s %n"},
  };
  for (const auto& [name, text] : names) {
    models.push_back({std::string("node_name_") + name,
                      Model({NodeMessage({.op = "Relu", .inputs = {"gone"}, .name = text})})});
    models.push_back({std::string("value_name_") + name,
                      Model({Unary("Relu", "x", text), Unary("Foo", text, "y")})});
    models.push_back({std::string("operator_name_") + name, Model({Unary(text, "x", "y")})});
    models.push_back({std::string("missing_name_") + name, Model({Unary("Relu", text, "y")})});
  }
}

void AddFunctions(std::vector<HostileModel>& models) {
  models.push_back(
      {"function_itself", Model({Call("F", "x", "y")},
                                {FunctionMessage("F", {"a"}, {"b"}, {Call("F", "a", "b")}, 21)})});
  models.push_back(
      {"function_pair", Model({Call("F", "x", "y")},
                              {FunctionMessage("F", {"a"}, {"b"}, {Call("G", "a", "b")}, 21),
                               FunctionMessage("G", {"a"}, {"b"}, {Call("F", "a", "b")}, 21)})});
  models.push_back({"function_twice",
                    Model({Call("F", "x", "y")},
                          {FunctionMessage("F", {"a"}, {"b"}, {Unary("Neg", "a", "b")}, 21),
                           FunctionMessage("F", {"a"}, {"b"}, {Unary("Abs", "a", "b")}, 21)})});
  models.push_back({"function_without_output",
                    Model({Call("F", "x", "y")}, {FunctionMessage("F", {"a"}, {"b"}, {}, 21)})});
  models.push_back({"function_of_too_few_outputs",
                    Model({Call("F", "x", "y")}, {FunctionMessage("F", {"a"}, {}, {}, 21)})});
  models.push_back({"function_of_no_inputs",
                    Model({Call("F", "x", "y")}, {FunctionMessage("F", {}, {"b"}, {}, 21)})});
  models.push_back({"function_inputs_twice",
                    Model({Call("F", "x", "y")}, {FunctionMessage("F", {"a", "a"}, {"b"},
                                                                  {Unary("Neg", "a", "b")}, 21)})});
  models.push_back({"function_of_left_out_input",
                    Model({Call("F", "", "y")}, {FunctionMessage("F", {"a"}, {"a"}, {}, 21)})});
  std::vector<std::string> chain;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "F" + std::to_string(i + 1);
    chain.push_back(FunctionMessage("F" + std::to_string(i), {"a"}, {"b"},
                                    {Call(next, "a", "t"), Call(next, "t", "b")}, 21));
  }
  models.push_back({"functions_deep", Model({Call("F0", "x", "y")}, chain)});
  chain.resize(15);
  chain.push_back(FunctionMessage("F15", {"a"}, {"b"}, {Unary("Neg", "a", "b")}, 21));
  models.push_back({"functions_doubling", Model({Call("F0", "x", "y")}, chain)});
}

void AddGraphs(std::vector<HostileModel>& models) {
  models.push_back({"cycle", Model({Unary("Neg", "b", "a"), Unary("Neg", "a", "b")})});
  models.push_back({"cycle_of_one", Model({Unary("Neg", "y", "y")})});
  const std::string body =
      GraphMessage({.nodes = {Unary("Neg", "y", "z")}, .outputs = {UntypedValueMessage("z")}});
  models.push_back({"cycle_through_capture",
                    Model({NodeMessage({.op = "If",
                                        .inputs = {"x"},
                                        .outputs = {"y"},
                                        .attributes = {GraphAttribute("then_branch", body),
                                                       GraphAttribute("else_branch", body)}})})});
  models.push_back({"missing_input", Model({Unary("Neg", "gone", "y")})});
  models.push_back({"missing_output", Model({Unary("Neg", "x", "z")})});
  models.push_back({"no_nodes", Model({})});
  models.push_back({"output_twice", Model({Unary("Neg", "x", "y"), Unary("Abs", "x", "y")})});
  models.push_back({"output_is_input", Model({Unary("Neg", "x", "x")})});
  models.push_back({"if_without_branches",
                    Model({NodeMessage({.op = "If", .inputs = {"x"}, .outputs = {"y"}})})});
  models.push_back({"if_without_condition", Model({NodeMessage({.op = "If", .outputs = {"y"}})})});
  models.push_back({"node_without_operator",
                    Model({NodeMessage({.op = "", .inputs = {"x"}, .outputs = {"y"}})})});
  models.push_back(
      {"internal_domain",
       Model({NodeMessage(
           {.op = "FusedConv", .inputs = {"x"}, .outputs = {"y"}, .domain = "kheya"})})});
  models.push_back(
      {"attribute_twice",
       Model({NodeMessage({.op = "Softmax",
                           .inputs = {"x"},
                           .outputs = {"y"},
                           .attributes = {IntAttribute("axis", 0), IntAttribute("axis", 1)}})})});
  models.push_back(
      {"many_inputs",
       Model({NodeMessage(
           {.op = "Sum", .inputs = std::vector<std::string>(20000, "x"), .outputs = {"y"}})})});
  models.push_back(
      {"many_outputs",
       Model({NodeMessage(
           {.op = "Split", .inputs = {"x"}, .outputs = std::vector<std::string>(20000, "")})})});
  for (const char* op : {"Conv", "ConvTranspose", "Gemm", "MatMul"}) {
    const auto with_y = [](const NodeText& node) {
      return Model({Unary("Neg", "x", "y"), NodeMessage(node)});
    };
    models.push_back({std::string(op) + "_without_outputs",
                      with_y({.op = op, .inputs = {"x", "x"}, .outputs = {}})});
    models.push_back(
        {std::string(op) + "_of_one_input", with_y({.op = op, .inputs = {"x"}, .outputs = {"z"}})});
  }
  std::vector<std::string> chain{Unary("Neg", "x", "v0")};
  for (int i = 0; i < 5000; ++i) {
    chain.push_back(Unary("Neg", "v" + std::to_string(i), "v" + std::to_string(i + 1)));
  }
  chain.push_back(Unary("Neg", "v5000", "y"));
  models.push_back({"long_chain", Model(chain)});
  models.push_back(
      {"long_chain_backwards", Model(std::vector<std::string>(chain.rbegin(), chain.rend()))});
}

}  // namespace

std::vector<HostileModel> HostileStructures() {
  std::vector<HostileModel> models;
  AddNames(models);
  AddFunctions(models);
  AddGraphs(models);
  for (int depth : {2, 31, 33, 200}) {
    models.push_back({"if_nested_" + std::to_string(depth), NestedIf(depth)});
  }
  for (int64_t opset : {int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{6}, int64_t{27}, INT64_MAX}) {
    models.push_back(
        {"opset_" + std::to_string(opset), Model({Unary("Neg", "x", "y")}, {}, opset)});
  }
  return models;
}

}  // namespace kheya::test
