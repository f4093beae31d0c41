#include <utility>

#include "hostile/parts.h"

namespace kheya::test {
namespace {

using Bodies = std::vector<std::pair<std::string, std::string>>;

const Operand& X() {
  static const Operand x = In("float32[2,3]");
  return x;
}

// Branches: their outputs, captures and types.
Bodies Branches() {
  return {
      {"value", Body("", {N("Neg(x1) -> r")}, "r")},
      {"other_shape", Body("",
                           {N("Shape(x1) -> s"), N("Expand(one, s) -> t"),
                            N("Concat(t, t) -> r", {IntAttribute("axis", 0)})},
                           "r", {Named(K(Floats{1}), "one")})},
      {"other_type", Body("", {N("Shape(x1) -> r")}, "r")},
      {"sequence", Body("", {N("SequenceConstruct(x1, x1) -> r")}, "r")},
      {"optional", Body("", {N("Optional(x1) -> r")}, "r")},
      {"strings", Body("", {}, "r", {Named(K(Strings{"a", "\xff"}), "r")})},
      {"no_outputs", Body("", {N("Neg(x1) -> r")}, "")},
      {"two_outputs", Body("", {N("Neg(x1) -> r")}, "r, r")},
      {"with_input", Body("i", {N("Neg(i) -> r")}, "r")},
      {"gives_capture", Body("", {}, "x1")},
      {"gives_nothing_known", Body("", {}, "nowhere")},
      {"captures_nobody", Body("", {N("Add(x1, nowhere) -> r")}, "r")},
      {"captures_result", Body("", {N("Neg(y0) -> r")}, "r")},
      {"hides_capture", Body("", {N("Neg(x1) -> x1")}, "x1")},
      {"initializer_hides", Body("", {N("Neg(x1) -> r")}, "r", {Named(K(Floats{1}), "x1")})},
      {"twice_made", Body("", {N("Neg(x1) -> r"), N("Abs(x1) -> r")}, "r")},
      {"cycle", Body("", {N("Neg(b) -> a"), N("Neg(a) -> b")}, "b")},
      {"unknown_operator", Body("", {N("Nonsense(x1) -> r")}, "r")},
      {"empty", ""},
      {"garbage", "\xff\xff\xff"},
  };
}

void AddIfs(std::vector<HostileModel>& models) {
  const Bodies bodies = Branches();
  for (size_t i = 0; i < bodies.size(); ++i) {
    for (size_t other : {size_t{0}, i, (i + 5) % bodies.size()}) {
      models.push_back(OneNode({"if_" + bodies[i].first + "_or_" + bodies[other].first,
                                "If",
                                {In("bool[]"), X()},
                                {GraphAttribute("then_branch", bodies[i].second),
                                 GraphAttribute("else_branch", bodies[other].second)},
                                1,
                                1}));
    }
  }
  const std::string& value = bodies[0].second;
  const Strings both = {GraphAttribute("then_branch", value), GraphAttribute("else_branch", value)};
  const std::pair<const char*, Operand> conditions[] = {
      {"of_two", In("bool[2]")},
      {"of_none", In("bool[0]")},
      {"of_float", In("float32[]")},
      {"of_strings", In("string[1]")},
      {"left_out", None()},
      {"sequence", In("seq(bool[])")},
      {"unknown_rank", In("bool?")},
      {"constant_two", Raw(DType::kBool, {2}, "\1\1")},
      {"byte_2", Raw(DType::kBool, {}, "\2")}};
  for (const auto& [name, condition] : conditions) {
    models.push_back(
        OneNode({std::string("if_condition_") + name, "If", {condition, X()}, both, 1, 1}));
  }
  models.push_back(OneNode({"if_no_outputs", "If", {In("bool[]"), X()}, both, 0, 1}));
  models.push_back(OneNode({"if_three_outputs", "If", {In("bool[]"), X()}, both, 3, 1}));
}

// Bodies of a loop with one carried value; `x2` is what the loop begins with.
Bodies LoopBodies() {
  const std::string axis = IntAttribute("axis", 0);
  return {
      {"same", Body("i, c, a", {N("Identity(c) -> d"), N("Neg(a) -> b")}, "d, b")},
      {"doubling", Body("i, c, a", {N("Concat(a, a) -> b", {axis})}, "c, b")},
      {"growing", Body("i, c, a", {N("Concat(a, x2) -> b", {axis})}, "c, b")},
      {"deeper", Body("i, c, a", {N("Unsqueeze(a, z) -> b")}, "c, b", {Named(K(Ints{0}), "z")})},
      {"shrinking", Body("i, c, a", {N("Slice(a, o, e) -> b")}, "c, b",
                         {Named(K(Ints{1}), "o"), Named(K(Ints{INT64_MAX}), "e")})},
      {"stacking", Body("i, c, a", {N("Neg(a) -> b"), N("Neg(b) -> s")}, "c, b, s")},
      {"stacking_other_shapes",
       Body("i, c, a", {N("Concat(a, a) -> b", {axis}), N("Range(z, i, o) -> s")}, "c, a, s",
            {Named(Scalar(0), "z"), Named(Scalar(1), "o")})},
      {"other_type", Body("i, c, a", {N("Shape(a) -> b")}, "c, b")},
      {"becomes_sequence", Body("i, c, a", {N("SequenceConstruct(a) -> b")}, "c, b")},
      {"condition_of_float", Body("i, c, a", {N("Neg(a) -> b")}, "a, b")},
      {"condition_of_many", Body("i, c, a", {N("IsNaN(a) -> d")}, "d, a")},
      {"gives_capture", Body("i, c, a", {}, "c, x2")},
      {"gives_input", Body("i, c, a", {}, "c, a")},
      {"gives_counter", Body("i, c, a", {}, "c, i")},
      {"one_input", Body("i", {N("Neg(i) -> b")}, "b, i")},
      {"no_inputs", Body("", {}, "x1, x2")},
      {"four_inputs", Body("i, c, a, e", {N("Neg(a) -> b")}, "c, b")},
      {"same_inputs", Body("a, a, a", {N("Neg(a) -> b")}, "a, b")},
      {"one_output", Body("i, c, a", {}, "c")},
      {"no_outputs", Body("i, c, a", {N("Neg(a) -> b")}, "")},
      {"nine_outputs", Body("i, c, a", {N("Neg(a) -> b")}, "c, b, i, a, x0, x2, d, e, f")},
      {"captures_nobody", Body("i, c, a", {N("Add(a, nowhere) -> b")}, "c, b")},
      {"captures_result", Body("i, c, a", {N("Add(a, y0) -> b")}, "c, b")},
      {"hides_capture", Body("i, c, x2", {N("Neg(x2) -> x1")}, "c, x1")},
      {"random", Body("i, c, a", {N("RandomNormalLike(a) -> b")}, "c, b")},
      {"zero_division", Body("i, c, a", {N("Div(i, z) -> q"), N("Neg(a) -> b")}, "c, b, q",
                             {Named(Scalar(0), "z")})},
      {"gather_beyond", Body("i, c, a", {N("Gather(a, i) -> b")}, "c, b")},
      {"empty", ""},
  };
}

void AddLoops(std::vector<HostileModel>& models) {
  for (const auto& [name, body] : LoopBodies()) {
    for (int64_t trips : {int64_t{3}, INT64_MAX}) {
      for (const bool constant : {true, false}) {
        models.push_back(OneNode(
            {"loop_" + name + "_" + std::to_string(trips) + (constant ? "_of_constants" : ""),
             "Loop",
             {Scalar(trips), None(), constant ? K(Floats{1, 2}) : In("float32[2]")},
             {GraphAttribute("body", body)},
             name.starts_with("stacking") || name == "zero_division" ? 2 : 1}));
      }
    }
  }
  const std::string same = LoopBodies()[0].second;
  const std::pair<const char*, Operand> trips[] = {
      {"negative", Scalar(-1)}, {"least", Scalar(INT64_MIN)}, {"zero", Scalar(0)},
      {"endless", None()},      {"of_two", K(Ints{1, 2})},    {"of_float", ScalarFloat(1e30f)},
      {"of_none", K(Ints{})},   {"input", In("int64?")},      {"sequence", In("seq(int64[])")},
      {"int32", In("int32[]")}};
  const std::pair<const char*, Operand> conditions[] = {{"true", ScalarBool(true)},
                                                        {"false", ScalarBool(false)},
                                                        {"none", None()},
                                                        {"float", ScalarFloat(1)},
                                                        {"two", In("bool[2]")}};
  for (const auto& [trip_name, trip] : trips) {
    for (const auto& [condition_name, condition] : conditions) {
      models.push_back(OneNode({std::string("loop_") + trip_name + "_" + condition_name,
                                "Loop",
                                {trip, condition, X()},
                                {GraphAttribute("body", same)}}));
    }
  }
  AddRows(
      models,
      {{"loop_inserting",
        "Loop",
        {Scalar(INT64_MAX), None(), In("seq(float32?)")},
        {GraphAttribute("body", Body("i, c, a",
                                     {N("Cast(i) -> f", {IntAttribute("to", 1)}),
                                      N("SequenceInsert(a, f) -> b")},
                                     "c, b"))}},
       {"loop_longer_strings",
        "Loop",
        {Scalar(INT64_MAX), None(), K(Strings{"ab"})},
        {GraphAttribute("body", Body("i, c, a", {N("StringConcat(a, a) -> b")}, "c, b"))}},
       {"loop_of_no_operands", "Loop", {}, {GraphAttribute("body", same)}},
       {"loop_of_no_body", "Loop", {Scalar(2), None(), X()}},
       {"loop_no_outputs", "Loop", {Scalar(2), None(), X()}, {GraphAttribute("body", same)}, 0},
       {"loop_nine_outputs", "Loop", {Scalar(2), None(), X()}, {GraphAttribute("body", same)}, 9}});
}

void AddScans(std::vector<HostileModel>& models) {
  const std::string body = Body("s, x", {N("Add(s, x) -> t"), N("Neg(t) -> u")}, "t, u");
  const Bodies bodies = {
      {"growing",
       Body("s, x", {N("Concat(s, x) -> t", {IntAttribute("axis", 0)}), N("Neg(t) -> u")}, "t, u")},
      {"other_type", Body("s, x", {N("Shape(x) -> t"), N("Neg(t) -> u")}, "t, u")},
      {"no_inputs", Body("", {}, "x0, x1")},
      {"three_inputs", Body("s, x, z", {N("Add(s, x) -> t"), N("Neg(t) -> u")}, "t, u")},
      {"no_outputs", Body("s, x", {N("Add(s, x) -> t"), N("Neg(t) -> u")}, "")},
      {"three_outputs", Body("s, x", {N("Add(s, x) -> t"), N("Neg(t) -> u")}, "t, u, s")},
      {"gives_capture", Body("s, x", {}, "x0, x1")},
      {"sequence", Body("s, x", {N("SequenceConstruct(x) -> t")}, "s, t")},
      {"captures_nobody", Body("s, x", {N("Add(s, nowhere) -> t")}, "t, u")},
      {"empty", ""},
  };
  const std::vector<Operand> operands = {In("float32[3]"), In("float32[4,3]")};
  const std::string count = IntAttribute("num_scan_inputs", 1);
  for (const auto& [name, one] : bodies) {
    models.push_back(
        OneNode({"scan_" + name, "Scan", operands, {count, GraphAttribute("body", one)}, 2}));
  }
  const std::string graph = GraphAttribute("body", body);
  for (int64_t odd : {int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{3}, INT64_MAX, INT64_MIN}) {
    const std::string text = std::to_string(odd);
    models.push_back(OneNode(
        {"scan_of_" + text, "Scan", operands, {IntAttribute("num_scan_inputs", odd), graph}, 2}));
    for (const char* list : {"scan_input_axes", "scan_output_axes", "scan_input_directions",
                             "scan_output_directions"}) {
      models.push_back(OneNode({std::string(list) + "_" + text,
                                "Scan",
                                operands,
                                {count, graph, IntsAttribute(list, {odd})},
                                2}));
    }
    models.push_back(OneNode({"scan_axes_of_two_" + text,
                              "Scan",
                              operands,
                              {count, graph, IntsAttribute("scan_input_axes", {0, odd})},
                              2}));
  }
  AddRows(
      models,
      {{"scan_of_scalar", "Scan", {In("float32[]"), In("float32[]")}, {count, graph}, 2},
       {"scan_of_nothing", "Scan", {In("float32[3]"), In("float32[0,3]")}, {count, graph}, 2},
       {"scan_lengths_differ",
        "Scan",
        {In("float32[4,3]"), In("float32[5,3]")},
        {IntAttribute("num_scan_inputs", 2), graph},
        2},
       {"scan_of_strings", "Scan", {In("string[3]"), In("string[4,3]")}, {count, graph}, 2},
       {"scan_of_sequence", "Scan", {In("seq(float32?)"), In("float32[4,3]")}, {count, graph}, 2},
       {"scan_without_state", "Scan", {In("float32[4,3]")}, {count, graph}, 2},
       {"scan_without_operands", "Scan", {}, {count, graph}, 2},
       {"scan_without_body", "Scan", operands, {count}, 2},
       {"scan_without_count", "Scan", operands, {graph}, 2}});
}

void AddSequenceMaps(std::vector<HostileModel>& models) {
  const Bodies bodies = {
      {"value", Body("x", {N("Neg(x) -> r")}, "r")},
      {"other_type", Body("x", {N("Shape(x) -> r")}, "r")},
      {"sequence", Body("x", {N("SequenceConstruct(x) -> r")}, "r")},
      {"no_inputs", Body("", {N("Neg(x1) -> r")}, "r")},
      {"two_inputs", Body("x, z", {N("Add(x, z) -> r")}, "r")},
      {"three_inputs", Body("x, z, w", {N("Add(x, z) -> r")}, "r")},
      {"no_outputs", Body("x, z", {N("Add(x, z) -> r")}, "")},
      {"two_outputs", Body("x, z", {N("Add(x, z) -> r")}, "r, r")},
      {"gives_capture", Body("x, z", {}, "x0")},
      {"captures_nobody", Body("x, z", {N("Add(x, nowhere) -> r")}, "r")},
      {"empty", ""},
  };
  const std::pair<const char*, std::vector<Operand>> operands[] = {
      {"sequences", {In("seq(float32?)"), In("seq(float32?)")}},
      {"mixed", {In("seq(float32?)"), In("float32[2]")}},
      {"tensors", {In("float32[2]"), In("float32[2]")}},
      {"strings", {In("seq(string?)"), In("string[2]")}}};
  for (const auto& [kind, inputs] : operands) {
    for (const auto& [name, body] : bodies) {
      models.push_back(OneNode({std::string("sequence_map_") + kind + "_" + name,
                                "SequenceMap",
                                inputs,
                                {GraphAttribute("body", body)}}));
    }
  }
}

// A body in a body in a body.
std::string NestedBody(const std::string& op, int depth) {
  std::string body = op == "If" ? Body("", {N("Neg(x1) -> r")}, "r")
                     : op == "SequenceMap"
                         ? Body("a", {N("Neg(a) -> r")}, "r")
                         : Body("i, c, a", {N("Neg(a) -> r")}, op == "Loop" ? "c, r" : "i, c, r");
  for (int i = 1; i < depth; ++i) {
    if (op == "If") {  // only one branch nests: two would double the size at each level
      body = Body("",
                  {N("If(x0) -> r", {GraphAttribute("then_branch", body),
                                     GraphAttribute("else_branch", Body("", {}, "x1"))})},
                  "r");
    } else if (op == "Loop") {
      body = Body("i, c, a", {N("Loop(x0, , a) -> r", {GraphAttribute("body", body)})}, "c, r");
    } else if (op == "Scan") {
      body = Body("i, c, a",
                  {N("Scan(i, c, x2) -> r, s, t",
                     {GraphAttribute("body", body), IntAttribute("num_scan_inputs", 1)})},
                  "i, c, a");
    } else {
      body = Body("a", {N("SequenceMap(x0) -> r", {GraphAttribute("body", body)})}, "r");
    }
  }
  return body;
}

void AddNested(std::vector<HostileModel>& models) {
  for (int depth : {3, 20, 41, 500}) {
    const std::string text = "_nested_" + std::to_string(depth);
    models.push_back(OneNode({"if" + text,
                              "If",
                              {In("bool[]"), X()},
                              {GraphAttribute("then_branch", NestedBody("If", depth)),
                               GraphAttribute("else_branch", Body("", {}, "x1"))},
                              1,
                              1}));
    models.push_back(OneNode({"loop" + text,
                              "Loop",
                              {Scalar(1), None(), X()},
                              {GraphAttribute("body", NestedBody("Loop", depth))}}));
    // Two rounds at every level are 2^depth.
    models.push_back(OneNode({"loop_doubling" + text,
                              "Loop",
                              {Scalar(2), None(), X()},
                              {GraphAttribute("body", NestedBody("Loop", depth))}}));
    models.push_back(OneNode(
        {"scan" + text,
         "Scan",
         {In("float32[3]"), In("float32[3]"), In("float32[2,3]")},
         {GraphAttribute("body", NestedBody("Scan", depth)), IntAttribute("num_scan_inputs", 1)},
         3}));
    models.push_back(OneNode({"sequence_map" + text,
                              "SequenceMap",
                              {In("seq(float32?)")},
                              {GraphAttribute("body", NestedBody("SequenceMap", depth))}}));
  }
}

}  // namespace

std::vector<HostileModel> HostileControlFlow() {
  std::vector<HostileModel> models;
  AddIfs(models);
  AddLoops(models);
  AddScans(models);
  AddSequenceMaps(models);
  AddNested(models);
  return models;
}

}  // namespace kheya::test
