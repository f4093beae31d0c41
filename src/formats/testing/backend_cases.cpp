#include "formats/testing/backend_cases.h"

#include <algorithm>
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

// Files NAME_0.pb, NAME_1.pb, ... of one data set, as the types of the values they stand for.
Result<std::vector<Value>> ReadValues(const std::string& data_set, const char* name,
                                      const std::vector<ValueType>& types) {
  std::vector<Value> values;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string path = fmt::format("{}/{}_{}.pb", data_set, name, i);
    if (!FileExists(path)) break;
    KHEYA_ASSIGN_OR_RETURN(values.emplace_back(), ReadValueFile(path, types[i]));
  }
  return values;
}

Status RunDataSet(const BackendCase& test, const Graph& graph, const std::string& data_set,
                  const std::vector<ValueType>& output_types, const RunGraph& run) {
  std::vector<ValueType> input_types;
  for (ValueId input : graph.inputs()) input_types.push_back(graph.value(input).type);
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> inputs,
                         ReadValues(data_set, "input", input_types));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> expected,
                         ReadValues(data_set, "output", output_types));
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

// Gives the reason in `skipped` when the model has operators nobody knows.
Status RunCase(const BackendCase& test, const RunGraph& run, std::string& skipped) {
  KHEYA_ASSIGN_OR_RETURN(ImportedModel model, Import(test.model_path, ImportOptions()));
  const std::vector<UnsupportedNode> unsupported = FindUnsupported(model.graph);
  if (!unsupported.empty()) {
    skipped = unsupported.front().reason;
    return OkStatus();
  }
  // Before inference, which may know less about sequences and optionals than the file.
  std::vector<ValueType> output_types;
  for (const GraphOutput& output : model.graph.outputs()) {
    output_types.push_back(model.graph.value(output.value).type);
  }
  KHEYA_RETURN_IF_ERROR(VerifyModel(model.graph));
  KHEYA_RETURN_IF_ERROR(InferTypes(model.graph));
  if (test.data_sets.empty()) return NotFoundError("found no data sets");
  for (const std::string& data_set : test.data_sets) {
    KHEYA_RETURN_IF_ERROR(RunDataSet(test, model.graph, data_set, output_types, run));
  }
  return OkStatus();
}

}  // namespace

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

BackendReport RunBackendCases(std::span<const BackendCase> cases, const RunGraph& run) {
  BackendReport report;
  for (const BackendCase& test : cases) {
    std::string skipped;
    const Status status = RunCase(test, run, skipped);
    if (!status.ok()) {
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
