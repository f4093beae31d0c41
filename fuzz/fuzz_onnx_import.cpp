// A model file on its way from bytes to a plan: import, inference, facts, compilation.
#include <cstdint>

#include "engine/engine.h"
#include "formats/onnx/onnx.h"
#include "ops/infer.h"

namespace {

// Small, so that a file that asks for much is refused and not granted.
constexpr uint64_t kBudgetBytes = 64 << 20;

kheya::Status Digest(std::span<const std::byte> bytes) {
  kheya::Model model;
  KHEYA_ASSIGN_OR_RETURN(
      model.graph, kheya::ImportOnnxBytes(bytes, nullptr, {.keep_notes = true}, &model.warnings));
  KHEYA_RETURN_IF_ERROR(kheya::InferTypes(model.graph, &model.warnings));
  (void)kheya::GatherFacts(model);
  kheya::CompileOptions options;
  options.budget = std::make_shared<kheya::MemoryBudget>("fuzz", kBudgetBytes);
  return kheya::CompileModel(std::move(model), options).status();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)Digest({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
