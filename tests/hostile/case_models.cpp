// The operators' cases as model files: valid models of every operator, for changes.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "formats/onnx/onnx.h"
#include "hostile/parts.h"
#include "ops/infer.h"
#include "ops/testing/case_file.h"
#include "ops/testing/op_fuzz.h"

namespace kheya::test {
namespace {

Result<std::string> ModelOf(const OpDef& op, const OpCase& one) {
  Graph graph("case");
  NodeSpec spec = {.op = op.name, .domain = op.domain, .attributes = one.attributes};
  for (Attribute& attribute : spec.attributes) {
    auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute.value);
    if (body != nullptr) *body = std::make_shared<Graph>((*body)->Clone());
  }
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    if (!one.inputs[i]) {
      spec.inputs.emplace_back();
    } else if (i % 2 == 1 && one.inputs[i]->value.is_tensor()) {
      spec.inputs.push_back(graph.AddConstant(name, one.inputs[i]->value.tensor()));
    } else {
      spec.inputs.push_back(graph.AddInput(name, one.inputs[i]->type));
    }
  }
  const size_t outputs = std::max<size_t>(1, one.outputs.size());
  for (size_t i = 0; i < outputs; ++i) spec.outputs.push_back("y" + std::to_string(i));
  KHEYA_ASSIGN_OR_RETURN(const NodeId node, graph.AddNode(std::move(spec)));
  for (ValueId value : std::vector<ValueId>(graph.node(node).outputs)) {
    graph.AddOutput(graph.value(value).name, value);
  }
  KHEYA_RETURN_IF_ERROR(InferTypes(graph));
  return ExportOnnxBytes(graph, ExportOptions());
}

std::vector<CaseModel> MakeCaseModels() {
  constexpr size_t kMostOfOneOperator = 5;
  std::vector<CaseModel> models;
  for (const OpDef* op : AllOps()) {
    const std::string file = CaseFileOf(*op);
    const Result<OpCaseFile> cases =
        ReadCaseFile(std::string(KHEYA_SOURCE_DIR) + "/tests/cases/ops/" + file, *op);
    if (!cases.ok()) std::abort();
    size_t made = 0;
    for (const OpCase& one : cases->cases) {
      if (!one.error.empty() || one.inputs.empty() || made == kMostOfOneOperator) continue;
      Result<std::string> bytes = ModelOf(*op, one);
      if (!bytes.ok() || bytes->size() > 20'000) continue;
      models.push_back({file, one.name, std::move(bytes).value()});
      ++made;
    }
  }
  return models;
}

}  // namespace

const std::vector<CaseModel>& CaseModels() {
  static const auto* models = new std::vector<CaseModel>(MakeCaseModels());
  return *models;
}

const std::string& FirstCase(std::string_view file) {
  for (const CaseModel& model : CaseModels()) {
    if (model.file == file) return model.bytes;
  }
  std::fprintf(stderr, "there is no case model of %s\n", std::string(file).c_str());
  std::abort();
}

}  // namespace kheya::test
