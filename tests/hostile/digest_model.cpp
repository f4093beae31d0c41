#include "hostile/digest_model.h"

#include "engine/engine.h"

namespace kheya::test {

Status DigestModel(const std::string& path) {
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(path, LoadOptions()));
  (void)GatherFacts(model);
  CompileOptions options;
  options.budget = std::make_shared<MemoryBudget>("hostile", uint64_t{256} << 20);
  return CompileModel(std::move(model), options).status();
}

}  // namespace kheya::test
