#include "hostile/digest_model.h"

#include "formats/formats.h"
#include "ops/infer.h"
#include "ops/verify_model.h"
#include "passes/pipeline.h"

namespace kheya::test {

Status DigestModel(const std::string& path) {
  KHEYA_ASSIGN_OR_RETURN(ImportedModel model, Import(path, ImportOptions()));
  return DigestGraph(model.graph);
}

Status DigestGraph(Graph& graph) {
  KHEYA_RETURN_IF_ERROR(VerifyModel(graph));
  KHEYA_RETURN_IF_ERROR(InferTypes(graph));
  KHEYA_RETURN_IF_ERROR(Simplify(graph, SimplifyOptions()));
  return Lower(graph, LowerOptions());
}

}  // namespace kheya::test
