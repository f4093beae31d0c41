// Prints docs/operators.md from the table of operators. tools/generate runs it.
#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "base/string_util.h"
#include "formats/onnx/schemas.h"
#include "kernels/kernel.h"
#include "ops/op.h"
#include "runtime/node_call.h"

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

// "portable, onednn": those that may run it beside the reference.
std::string KernelsText(const OpDef& op) {
  const std::string_view family = KernelFamilyOf(op.domain, op.name);
  std::vector<std::string> names = {"reference"};
  for (const KernelRow& row : AllKernels()) {
    if (!family.empty() && family == row.family) names.emplace_back(IsaName(row.isa));
  }
  return Join(names, ", ");
}

std::string OpsetText(const OpDef& op) {
  if (*op.domain != 0) return "";
  const onnx::Schema* schema = onnx::FindSchema(op.name, kCanonicalOpset);
  return schema == nullptr ? "" : std::to_string(schema->since);
}

constexpr const char* kIntroduction = R"(# Operators

Made by `tools/generate` from the table in src/ops; do not edit.

Models are brought to operator set {} of ai.onnx when they are read; what is described here is that
set. Operators of the domain `{}` are Kheya's own, made while a model is compiled; they are never
written to a file. A model with another operator is refused by its name. *Opset* is the one that
last changed an operator of ai.onnx; older forms of it become this one when a model is read.

*Kernels* are those that may compute the operator: *reference* always can, the others where types,
shapes and layouts suit them.

A `?` marks what may be left out, `...` one or more inputs or outputs, `*` any number of them. Parameters with the same
letter have the same element type. Types: *float* is float32, float64, float16 and bfloat16;
*signed* and *unsigned* are the integers of 8, 16, 32 and 64 bits, *integer* both; *number* is
float and integer; *all* is number, bool and string. *float8* are float8e4m3fn, float8e4m3fnuz,
float8e5m2 and float8e5m2fnuz, *small integer* the integers of 4 and 2 bits, *small* both with
float8e8m0, float6e2m3, float6e3m2 and float4e2m1; *complex* is complex64 and complex128. *every* is all, small and complex;
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
      fmt::print(
          "| operator | opset | inputs | outputs | attributes | kernels | notes |\n"
          "|---|---|---|---|---|---|---|\n");
      for (const OpDef* op : ops) {
        fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", op->name, OpsetText(*op),
                   ParamsText(op->inputs), ParamsText(op->outputs), AttributesText(*op),
                   KernelsText(*op), NotesText(*op));
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
