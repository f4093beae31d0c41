#include "formats/testing/backend_cases.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "formats/onnx/value_file.h"
#include "ops/infer.h"
#include "ops/verify_model.h"

namespace kheya::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> SortedFolders(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Status ReadTolerances(const std::string& folder, BackendCase& test) {
  const std::string path = folder + "/data.json";
  if (!FileExists(path)) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  KHEYA_ASSIGN_OR_RETURN(const Json json, Json::Parse(text));
  if (const Json* rtol = json.Find("rtol")) {
    KHEYA_ASSIGN_OR_RETURN(test.relative_tolerance, rtol->GetDouble());
  }
  if (const Json* atol = json.Find("atol")) {
    KHEYA_ASSIGN_OR_RETURN(test.absolute_tolerance, atol->GetDouble());
  }
  return OkStatus();
}

// The data of ONNX before 1.13 hold bfloat16 as uint16.
Value AsDeclared(Value value, const ValueType& type) {
  if (type.dtype != DType::kBFloat16 || !value.is_tensor()) return value;
  const Tensor& tensor = value.tensor();
  if (tensor.dtype() != DType::kUint16) return value;
  Result<Tensor> cast =
      Tensor::Borrow(DType::kBFloat16, tensor.shape(), tensor.bytes(), tensor.owner());
  return cast.ok() ? Value(std::move(cast).value()) : value;
}

// Unimplemented where an input is not what the model declares: the case cannot be run.
Status CheckDeclared(std::span<const Value> inputs, const std::vector<ValueType>& types) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor() || !types[i].shape) continue;
    if (!Matches(*types[i].shape, inputs[i].tensor().shape())) {
      return UnimplementedError("the inputs of the case contradict its model");
    }
  }
  return OkStatus();
}

// Files PREFIX_0.pb, PREFIX_1.pb, ..., as the types of the values they stand for.
Result<std::vector<Value>> ReadValues(const std::string& prefix,
                                      const std::vector<ValueType>& types) {
  std::vector<Value> values;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string path = fmt::format("{}_{}.pb", prefix, i);
    if (!FileExists(path)) break;
    KHEYA_ASSIGN_OR_RETURN(Value value, ReadValueFile(path, types[i]));
    values.push_back(AsDeclared(std::move(value), types[i]));
  }
  return values;
}

// 0/n, 1/n, ..., as ONNX's runner feeds models without inputs of their own; unknown sizes are 1.
Result<std::vector<Value>> CountingInputs(const std::vector<ValueType>& types) {
  std::vector<Value> values;
  for (const ValueType& type : types) {
    if (type.dtype != DType::kFloat32 || !type.shape) {
      return UnimplementedError("found an input {}, expected float32", type.ToString());
    }
    std::vector<int64_t> dims;
    for (const Dim& dim : *type.shape) dims.push_back(dim.maybe().value_or(1));
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kFloat32, shape));
    const auto count = static_cast<double>(shape.num_elements());
    double index = 0;
    for (float& value : tensor.mutable_data<float>()) value = static_cast<float>(index++ / count);
    values.emplace_back(std::move(tensor));
  }
  return values;
}

struct ModelTypes {
  std::vector<ValueType> inputs;
  std::vector<ValueType> outputs;
};

Status CompareRun(const BackendCase& test, const Graph& graph, std::span<const Value> inputs,
                  const std::vector<Value>& expected, const RunGraph& run) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> outputs, run(graph, inputs));
  if (outputs.size() != expected.size()) {
    return InvalidArgumentError("found {} outputs, expected {}", outputs.size(), expected.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(
        CompareValues(outputs[i], expected[i], test.relative_tolerance, test.absolute_tolerance)
            .WithContext("output {}", i));
  }
  return OkStatus();
}

Status RunDataSets(const BackendCase& test, const Graph& graph, const ModelTypes& types,
                   const RunGraph& run) {
  if (!test.light_prefix.empty()) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> inputs, CountingInputs(types.inputs));
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> expected,
                           ReadValues(test.light_prefix + "_output", types.outputs));
    return CompareRun(test, graph, inputs, expected, run);
  }
  if (test.data_sets.empty()) return NotFoundError("found no data sets");
  for (const std::string& data_set : test.data_sets) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> inputs,
                           ReadValues(data_set + "/input", types.inputs));
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> expected,
                           ReadValues(data_set + "/output", types.outputs));
    KHEYA_RETURN_IF_ERROR(CheckDeclared(inputs, types.inputs));
    KHEYA_RETURN_IF_ERROR(CompareRun(test, graph, inputs, expected, run));
  }
  return OkStatus();
}

// The message without its contexts.
std::string LastPart(const std::string& message) {
  const size_t at = message.rfind(": ");
  return at == message.npos ? message : message.substr(at + 2);
}

// Gives the reason in `skipped` when the model has operators nobody knows.
Status RunCase(const BackendCase& test, const RunGraph& run, std::string& skipped) {
  KHEYA_ASSIGN_OR_RETURN(ImportedModel model, Import(test.model_path, ImportOptions()));
  const std::vector<UnsupportedNode> unsupported = FindUnsupported(model.graph);
  if (!unsupported.empty()) {
    skipped = unsupported.front().reason;
    return OkStatus();
  }
  // Before inference, which may know less about sequences and optionals than the file.
  ModelTypes types;
  for (ValueId input : model.graph.inputs()) {
    types.inputs.push_back(model.graph.value(input).type);
  }
  for (const GraphOutput& output : model.graph.outputs()) {
    types.outputs.push_back(model.graph.value(output.value).type);
  }
  KHEYA_RETURN_IF_ERROR(VerifyModel(model.graph));
  KHEYA_RETURN_IF_ERROR(InferTypes(model.graph));
  return RunDataSets(test, model.graph, types, run);
}

}  // namespace

std::vector<std::string> BackendDataFolders() {
  std::vector<std::string> folders = {"/usr/lib/python3/dist-packages/onnx/backend/test/data"};
  if (const char* named = std::getenv("KHEYA_ONNX_TESTDATA")) folders.push_back(named);
  std::erase_if(folders, [](const std::string& folder) { return !IsDirectory(folder + "/node"); });
  return folders;
}

Result<std::vector<BackendCase>> FindBackendCases(const std::string& folder) {
  if (!IsDirectory(folder)) return NotFoundError("folder '{}' is not there", folder);
  std::vector<BackendCase> cases;
  for (const std::string& path : SortedFolders(folder)) {
    BackendCase test;
    test.name = fs::path(path).filename().string();
    test.model_path = path + "/model.onnx";
    if (!FileExists(test.model_path)) continue;
    KHEYA_RETURN_IF_ERROR(ReadTolerances(path, test).WithContext("case '{}'", test.name));
    test.data_sets = SortedFolders(path);
    cases.push_back(std::move(test));
  }
  return cases;
}

Result<std::vector<BackendCase>> FindLightCases(const std::string& folder) {
  if (!IsDirectory(folder)) return NotFoundError("folder '{}' is not there", folder);
  std::vector<BackendCase> cases;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".onnx") continue;
    BackendCase test;
    test.name = entry.path().stem().string();
    test.model_path = entry.path().string();
    test.light_prefix = (entry.path().parent_path() / test.name).string();
    cases.push_back(std::move(test));
  }
  std::sort(cases.begin(), cases.end(),
            [](const BackendCase& a, const BackendCase& b) { return a.name < b.name; });
  return cases;
}

BackendReport RunBackendCases(std::span<const BackendCase> cases, const RunGraph& run) {
  BackendReport report;
  for (const BackendCase& test : cases) {
    std::string skipped;
    const Status status = RunCase(test, run, skipped);
    if (status.code() == StatusCode::kUnimplemented) skipped = LastPart(status.message());
    if (!status.ok() && skipped.empty()) {
      report.failures.push_back(fmt::format("{}: {}", test.name, status.message()));
    } else if (!skipped.empty()) {
      ++report.skipped[skipped];
    } else {
      ++report.passed;
    }
  }
  return report;
}

int BackendReport::num_skipped() const {
  int count = 0;
  for (const auto& [reason, times] : skipped) count += times;
  return count;
}

std::string BackendReport::ToString() const {
  std::string text =
      fmt::format("{} passed, {} failed, {} skipped\n", passed, failures.size(), num_skipped());
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [reason, times] : skipped) reasons.emplace_back(times, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (const auto& [times, reason] : reasons)
    text += fmt::format("{:5} skipped: {}\n", times, reason);
  return text;
}

}  // namespace kheya::test
