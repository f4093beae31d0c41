#include "formats/onnx/schemas.h"

#include <algorithm>
#include <charconv>

namespace kheya::onnx {
namespace {

struct Row {
  const char* op;
  int64_t since;
  const char* inputs;  // types in hexadecimal, each with ? when optional, * when variadic
  const char* outputs;
  const char* attributes;  // NAME or NAME=DEFAULT
};

constexpr Row kRows[] = {
#include "formats/onnx/schemas.inc"
};

using Schemas = std::multimap<std::string_view, Schema>;

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::vector<SchemaParam> ReadParams(std::string_view text) {
  std::vector<SchemaParam> params;
  for (std::string_view word : Words(text)) {
    SchemaParam& param = params.emplace_back();
    param.optional = word.ends_with('?');
    param.variadic = word.ends_with('*');
    std::from_chars(word.data(), word.data() + word.size(), param.types, 16);
  }
  return params;
}

Schema ReadRow(const Row& row) {
  Schema schema;
  schema.since = row.since;
  schema.inputs = ReadParams(row.inputs);
  schema.outputs = ReadParams(row.outputs);
  for (std::string_view word : Words(row.attributes)) {
    const size_t equals = std::min(word.find('='), word.size());
    schema.attributes[word.substr(0, equals)] =
        equals == word.size() ? "" : word.substr(equals + 1);
  }
  return schema;
}

const Schemas& AllSchemas() {
  static const Schemas schemas = [] {
    Schemas read;
    for (const Row& row : kRows) read.emplace(row.op, ReadRow(row));
    return read;
  }();
  return schemas;
}

Status CheckType(const ValueType& type, const SchemaParam& param) {
  if (type.kind == ValueType::Kind::kUnknown) return OkStatus();
  if (type.is_tensor() && type.dtype == DType::kUndefined) return OkStatus();
  const int bit = type.is_tensor() ? static_cast<int>(type.dtype) : 31;
  if ((param.types >> bit & 1) != 0) return OkStatus();
  return UnimplementedError("found {}, which this version of the operator does not know",
                            type.ToString());
}

Status CheckParams(const Graph& graph, std::vector<ValueId> values,
                   std::span<const SchemaParam> params) {
  while (!values.empty() && !values.back().valid()) values.pop_back();
  const bool variadic = !params.empty() && params.back().variadic;
  if (values.size() > params.size() && !variadic) {
    return UnimplementedError("found {}, this version of the operator has at most {}",
                              values.size(), params.size());
  }
  values.resize(std::max(values.size(), params.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    const SchemaParam& param = params[std::min(i, params.size() - 1)];
    const bool may_miss = param.optional || param.variadic;
    if (values[i].valid()) {
      KHEYA_RETURN_IF_ERROR(CheckType(graph.value(values[i]).type, param).WithContext("{}", i));
    } else if (!may_miss) {
      return UnimplementedError("found none at {}, which this version of the operator needs", i);
    }
  }
  return OkStatus();
}

}  // namespace

const Schema* FindSchema(std::string_view op, int64_t opset) {
  const Schema* found = nullptr;
  const auto [first, last] = AllSchemas().equal_range(op);
  for (auto it = first; it != last; ++it) {
    const Schema& schema = it->second;
    const bool newer = found == nullptr || schema.since > found->since;
    if (schema.since <= opset && newer) found = &schema;
  }
  return found;
}

Status CheckSchema(const Graph& graph, const Node& node, const Schema& schema) {
  KHEYA_RETURN_IF_ERROR(CheckParams(graph, node.inputs, schema.inputs).WithContext("inputs"));
  KHEYA_RETURN_IF_ERROR(CheckParams(graph, node.outputs, schema.outputs).WithContext("outputs"));
  for (const Attribute& attribute : node.attributes) {
    if (schema.attributes.contains(attribute.name)) continue;
    return UnimplementedError(
        "found attribute '{}', which this version of the operator does not know", attribute.name);
  }
  return OkStatus();
}

}  // namespace kheya::onnx
