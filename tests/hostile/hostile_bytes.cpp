#include "formats/testing/model_writer.h"
#include "hostile/hostile_models.h"

namespace kheya::test {
namespace {

std::string Nested(uint32_t field, int depth, std::string inner) {
  for (int i = 0; i < depth; ++i) {
    ProtobufWriter writer;
    writer.Bytes(field, inner);
    inner = writer.bytes();
  }
  return inner;
}

// A model whose only input has a type of nested sequences.
std::string NestedType(int depth) {
  std::string type = "\x0a\x02\x08\x01";
  for (int i = 0; i < depth; ++i) {
    ProtobufWriter sequence;
    sequence.Bytes(1, type);
    ProtobufWriter outer;
    outer.Message(4, sequence);
    type = outer.bytes();
  }
  ProtobufWriter value;
  value.Bytes(1, "x");
  value.Bytes(2, type);
  ProtobufWriter graph;
  graph.Message(11, value);
  return ModelMessage(graph.bytes(), 21);
}

std::string Repeat(std::string_view text, size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace

std::vector<HostileModel> HostileBytes() {
  using namespace std::string_literals;
  std::vector<HostileModel> models = {
      {"empty", ""},
      {"zeros", std::string(4096, '\0')},
      {"ones", std::string(4096, '\xff')},
      {"only_version", "\x08\x08"},
      {"graph_of_length_4g", "\x08\x08\x3a\xff\xff\xff\xff\x0f"},
      {"graph_of_length_max", "\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
      {"varint_too_long", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
      {"groups", "\x08\x08\x3b\x3b\x3b\x3c"},
      {"field_zero", "\x08\x08\x02\x01x"},
      {"graph_as_number", "\x08\x08\x38\x01"},
      {"graph_as_float", "\x08\x08\x3d\x01\x02\x03\x04"},
      {"two_graphs", ModelMessage(GraphMessage({}), 21) + ModelMessage(GraphMessage({}), 21)},
      {"nested_graphs", "\x08\x08"s + Nested(7, 300, "x")},
      {"nested_attributes", ModelMessage(Nested(1, 200, Nested(5, 200, "")), 21)},
  };
  for (int depth : {7, 9, 120, 5000}) {
    models.push_back({"type_nested_" + std::to_string(depth), NestedType(depth)});
  }
  // Many messages of two bytes each: nodes, initializers, inputs, opsets, functions, metadata.
  models.push_back({"many_nodes", ModelMessage(Repeat("\x0a\x00"s, 400'000), 21)});
  models.push_back({"many_initializers", ModelMessage(Repeat("\x2a\x00"s, 600'000), 21)});
  models.push_back({"many_inputs", ModelMessage(Repeat("\x5a\x00"s, 1'100'000), 21)});
  models.push_back({"many_opsets", "\x3a\x00"s + Repeat("\x42\x00"s, 200'000)});
  models.push_back({"many_functions", "\x3a\x00"s + Repeat("\xca\x01\x00"s, 200'000)});
  models.push_back({"many_metadata", "\x3a\x00"s + Repeat("\x72\x00"s, 200'000)});
  const std::string node_of_attributes = Nested(1, 1, Repeat("\x2a\x00"s, 1'100'000));
  models.push_back({"many_attributes", ModelMessage(node_of_attributes, 21)});
  return models;
}

}  // namespace kheya::test
