// Prints docs/operators.md from the table of operators. tools/generate runs it.
#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "base/string_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

struct TypeGroup {
  TypeMask mask;
  const char* name;
};

// Groups that stand for their types in the tables, larger ones first.
constexpr TypeGroup kGroups[] = {
    {types::kEvery, "every"},     {types::kAll, "all"},
    {types::kSmall, "small"},     {types::kNumeric, "number"},
    {types::kInteger, "integer"}, {types::kFloat, "float"},
    {types::kSigned, "signed"},   {types::kUnsigned, "unsigned"},
    {types::kFloat8, "float8"},   {types::kSmallInteger, "small integer"},
    {types::kComplex, "complex"}};

std::string TypesText(TypeMask types) {
  if (types == types::kAny) return "any";
  std::vector<std::string> names;
  for (const TypeGroup& group : kGroups) {
    if ((types & group.mask) != group.mask) continue;
    names.push_back(group.name);
    types &= ~group.mask;
  }
#define KHEYA_DTYPE(name, number, bits, onnx, kserve, numpy) \
  if ((types & MaskOf({DType::k##name})) != 0) names.push_back(onnx);
#include "tensor/dtypes.inc"
#undef KHEYA_DTYPE
  return Join(names, ", ");
}

std::string ParamText(const ParamDef& param) {
  const char* mark = param.presence == Presence::kOptional    ? "?"
                     : param.presence == Presence::kVariadic  ? "..."
                     : param.presence == Presence::kAnyNumber ? "*"
                                                              : "";
  const std::string letter =
      param.type_var == '\0' ? "" : fmt::format("{}: ", std::string(1, param.type_var));
  return fmt::format("{}{} ({}{})", param.name, mark, letter, TypesText(param.types));
}

std::string ParamsText(std::span<const ParamDef> params) {
  std::vector<std::string> texts;
  for (const ParamDef& param : params) texts.push_back(ParamText(param));
  return Join(texts, ", ");
}

std::string AttributesText(const OpDef& op) {
  std::vector<std::string> texts;
  for (const AttributeDef& attribute : op.attributes) {
    texts.push_back(fmt::format("{}{} ({})", attribute.name, attribute.required ? "" : "?",
                                AttributeKindName(attribute.kind)));
  }
  return Join(texts, ", ");
}

std::string NotesText(const OpDef& op) {
  std::vector<std::string> notes;
  if (op.macs != nullptr) notes.push_back("counts multiply-accumulates");
  if (op.aliases_input) notes.push_back("may share its input's memory");
  if (!op.deterministic) notes.push_back("random");
  return Join(notes, ", ");
}

constexpr const char* kIntroduction = R"(# Operators

Made by `tools/generate` from the table in src/ops; do not edit.

Models are brought to operator set {} of ai.onnx when they are read; what is described here is that
set. Operators of the domain `{}` are Kheya's own, made while a model is compiled; they are never
written to a file. A model with another operator is refused by its name.

A `?` marks what may be left out, `...` one or more inputs or outputs, `*` any number of them. Parameters with the same
letter have the same element type. Types: *float* is float32, float64, float16 and bfloat16;
*signed* and *unsigned* are the integers of 8, 16, 32 and 64 bits, *integer* both; *number* is
float and integer; *all* is number, bool and string. *float8* are float8e4m3fn, float8e4m3fnuz,
float8e5m2 and float8e5m2fnuz, *small integer* the integers of 4 and 2 bits, *small* both with
float8e8m0 and float4e2m1; *complex* is complex64 and complex128. *every* is all, small and complex;
*any* also takes what is not a tensor.

{} operators.
)";

void Print() {
  // Domain and category, then the operators in the order of the table.
  std::map<std::string, std::map<std::string, std::vector<const OpDef*>>> domains;
  for (const OpDef* op : AllOps()) domains[op->domain][op->category].push_back(op);
  fmt::print(kIntroduction, kCanonicalOpset, kInternalDomain, AllOps().size());
  for (const auto& [domain, categories] : domains) {
    fmt::print("\n## {}\n", domain.empty() ? "ai.onnx" : domain);
    for (const auto& [category, ops] : categories) {
      fmt::print("\n### {}\n\n", category);
      fmt::print("| operator | inputs | outputs | attributes | notes |\n|---|---|---|---|---|\n");
      for (const OpDef* op : ops) {
        fmt::print("| {} | {} | {} | {} | {} |\n", op->name, ParamsText(op->inputs),
                   ParamsText(op->outputs), AttributesText(*op), NotesText(*op));
      }
    }
  }
}

}  // namespace
}  // namespace kheya

int main() {
  kheya::Print();
  return 0;
}
