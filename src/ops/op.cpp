#include "ops/op.h"

#include <string>
#include <unordered_map>

namespace kheya {

#define KHEYA_OP(name) extern const OpDef k##name##Op;
#include "ops/all_ops.inc"
#undef KHEYA_OP

namespace {

const OpDef* const kOps[] = {
#define KHEYA_OP(name) &k##name##Op,
#include "ops/all_ops.inc"
#undef KHEYA_OP
};

std::string KeyOf(std::string_view domain, std::string_view name) {
  return std::string(domain) + ':' + std::string(name);
}

std::unordered_map<std::string, const OpDef*> IndexOps() {
  std::unordered_map<std::string, const OpDef*> index;
  for (const OpDef* op : kOps) index.emplace(KeyOf(op->domain, op->name), op);
  return index;
}

}  // namespace

const OpDef* FindOp(std::string_view domain, std::string_view name) {
  static const std::unordered_map<std::string, const OpDef*> index = IndexOps();
  const auto found = index.find(KeyOf(domain == "ai.onnx" ? "" : domain, name));
  return found == index.end() ? nullptr : found->second;
}

std::span<const OpDef* const> AllOps() { return kOps; }

}  // namespace kheya
