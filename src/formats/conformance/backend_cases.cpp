#include "formats/conformance/backend_cases.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/string_util.h"
#include "formats/conformance/randomness.h"
#include "formats/onnx/value_file.h"
#include "ops/infer.h"
#include "ops/verify_model.h"

namespace kheya::conformance {
namespace {

namespace fs = std::filesystem;

// Of ONNX's own runner, unless the case's data.json says otherwise.
struct Tolerances {
  double relative = 1e-3;
  double absolute = 1e-7;
};

Status ReadTolerance(const Json& json, std::string_view key, double* tolerance) {
  const Json* found = json.Find(key);
  if (found == nullptr) return OkStatus();
  Result<double> number = found->GetDouble();
  if (!number.ok()) return std::move(number).status().WithContext("'{}'", key);
  if (!(*number >= 0)) {
    return InvalidArgumentError("'{}': found {}, expected a number of at least 0", key, *number);
  }
  *tolerance = *number;
  return OkStatus();
}

Result<Tolerances> ParseTolerances(const std::string& text) {
  KHEYA_ASSIGN_OR_RETURN(const Json json, Json::Parse(text));
  if (!json.is_object()) return InvalidArgumentError("found no object");
  Tolerances tolerances;
  KHEYA_RETURN_IF_ERROR(ReadTolerance(json, "rtol", &tolerances.relative));
  KHEYA_RETURN_IF_ERROR(ReadTolerance(json, "atol", &tolerances.absolute));
  return tolerances;
}

Result<Tolerances> ReadTolerances(const BackendCase& test) {
  if (!FileExists(test.settings_path)) return Tolerances();
  KHEYA_ASSIGN_OR_RETURN(const std::string text, ReadFile(test.settings_path));
  return ParseTolerances(text).WithContext("file '{}'", test.settings_path);
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

// A few of ONNX's models declare shapes that their own data contradict: what is declared of such an
// input is dropped.
void DropContradicted(std::span<const Value> inputs, Graph& graph) {
  for (size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
    const ValueType& type = graph.value(graph.inputs()[i]).type;
    if (!inputs[i].is_tensor() || !type.shape) continue;
    if (Matches(*type.shape, inputs[i].tensor().shape())) continue;
    graph.SetType(graph.inputs()[i], ValueType::OfTensor(type.dtype));
  }
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

// Values that the model has no output for: a file PREFIX_N.pb with N of `count` or more.
Status RefuseExtraOutputs(const std::string& prefix, size_t count) {
  const fs::path path(prefix);
  const std::string start = path.filename().string() + "_";
  std::error_code error;
  fs::directory_iterator entry(path.parent_path(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(".pb")) continue;
    const std::string number = name.substr(start.size(), name.size() - start.size() - 3);
    const Result<int64_t> index = ParseInt64(number);
    if (!index.ok() || *index < static_cast<int64_t>(count)) continue;
    return InvalidArgumentError("found '{}', but the model has {} output{}", name, count,
                                count == 1 ? "" : "s");
  }
  return OkStatus();
}

Result<std::vector<Value>> ReadExpected(const std::string& prefix,
                                        const std::vector<ValueType>& types) {
  KHEYA_RETURN_IF_ERROR(RefuseExtraOutputs(prefix, types.size()));
  return ReadValues(prefix, types);
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

// A case and what its model declares.
struct Prepared {
  const BackendCase& test;
  Graph& graph;
  Tolerances tolerances;
  std::vector<Randomness> randomness;  // of each output
  ModelTypes types = {};
  bool exact = true;  // the numbers were those expected

  Randomness MostRandom() const {
    return randomness.empty() ? Randomness::kNone : *std::ranges::max_element(randomness);
  }
};

Status CompareOutput(Prepared& prepared, size_t index, const Value& found, const Value& expected) {
  Status status =
      CompareValues(found, expected, prepared.tolerances.relative, prepared.tolerances.absolute);
  if (status.ok() || prepared.randomness[index] == Randomness::kNone) return status;
  prepared.exact = false;
  return CompareRandomValues(found, expected);
}

Status CompareRun(Prepared& prepared, std::span<const Value> inputs,
                  const std::vector<Value>& expected, const RunGraph& run) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> outputs, run(prepared.graph, inputs));
  if (outputs.size() != expected.size() || outputs.size() != prepared.randomness.size()) {
    return InvalidArgumentError("found {} outputs, expected {}", outputs.size(), expected.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(
        CompareOutput(prepared, i, outputs[i], expected[i]).WithContext("output {}", i));
  }
  if (prepared.MostRandom() == Randomness::kNone) return OkStatus();
  KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> again, run(prepared.graph, inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(
        CompareValues(again[i], outputs[i], 0, 0).WithContext("output {} of a second run", i));
  }
  return OkStatus();
}

Status RunDataSets(Prepared& prepared, const RunGraph& run) {
  const BackendCase& test = prepared.test;
  if (!test.light_prefix.empty()) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> inputs, CountingInputs(prepared.types.inputs));
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> expected,
                           ReadExpected(test.light_prefix + "_output", prepared.types.outputs));
    KHEYA_RETURN_IF_ERROR(InferTypes(prepared.graph));
    return CompareRun(prepared, inputs, expected, run);
  }
  if (test.data_sets.empty()) return NotFoundError("found no data sets");
  for (const std::string& data_set : test.data_sets) {
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> inputs,
                           ReadValues(data_set + "/input", prepared.types.inputs));
    KHEYA_ASSIGN_OR_RETURN(const std::vector<Value> expected,
                           ReadExpected(data_set + "/output", prepared.types.outputs));
    DropContradicted(inputs, prepared.graph);
    KHEYA_RETURN_IF_ERROR(InferTypes(prepared.graph));
    KHEYA_RETURN_IF_ERROR(CompareRun(prepared, inputs, expected, run));
  }
  return OkStatus();
}

// The model of a case, which must be ONNX: another format is a damaged case, not an unsupported
// one.
Result<ImportedModel> ImportOnnxFile(const std::string& path, const ImportOptions& options) {
  Result<ImportedModel> model = Import(path, options);
  if (model.ok() || model.status().code() != StatusCode::kUnimplemented) return model;
  KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  if (SniffFormat(file.bytes()) == "ONNX") return model;
  return Status(StatusCode::kInvalidArgument, model.status().message());
}

// With more values than there are inputs without a default, those with one are given too.
Result<ImportedModel> ImportCase(const BackendCase& test) {
  KHEYA_ASSIGN_OR_RETURN(ImportedModel model, ImportOnnxFile(test.model_path, ImportOptions()));
  const std::vector<std::string>& defaults = model.graph.default_inputs;
  const auto gives_more = [&](const std::string& data_set) {
    return FileExists(fmt::format("{}/input_{}.pb", data_set, model.graph.inputs().size()));
  };
  if (defaults.empty() || !std::ranges::any_of(test.data_sets, gives_more)) return model;
  ImportOptions options;
  options.overridden = {defaults.begin(), defaults.end()};
  return ImportOnnxFile(test.model_path, options);
}

int64_t OpsetOf(const Graph& graph) {
  for (const auto& [domain, version] : graph.declared_opsets) {
    if (domain.empty()) return version;
  }
  return 0;
}

Status RunCase(const BackendCase& test, const RunGraph& run, CaseResult& result) {
  Result<ImportedModel> imported = ImportCase(test);
  if (imported.ok()) result.opset = OpsetOf(imported->graph);
  KHEYA_ASSIGN_OR_RETURN(const Tolerances tolerances, ReadTolerances(test));
  KHEYA_ASSIGN_OR_RETURN(ImportedModel model, std::move(imported));
  const std::vector<UnsupportedNode> unsupported = FindUnsupported(model.graph);
  if (!unsupported.empty()) return UnimplementedError("{}", unsupported.front().reason);
  KHEYA_ASSIGN_OR_RETURN(std::vector<Randomness> randomness, RandomnessOfOutputs(model.graph));
  Prepared prepared{test, model.graph, tolerances, std::move(randomness)};
  // Before inference, which may know less about sequences and optionals than the file.
  for (ValueId input : model.graph.inputs()) {
    prepared.types.inputs.push_back(model.graph.value(input).type);
  }
  for (const GraphOutput& output : model.graph.outputs()) {
    prepared.types.outputs.push_back(model.graph.value(output.value).type);
  }
  KHEYA_RETURN_IF_ERROR(VerifyModel(model.graph));
  KHEYA_RETURN_IF_ERROR(RunDataSets(prepared, run));
  if (prepared.MostRandom() == Randomness::kUnseeded || !prepared.exact) {
    result.outcome = CaseResult::Outcome::kRandom;
  }
  return OkStatus();
}

}  // namespace

CaseResult RunBackendCase(const BackendCase& test, const RunGraph& run) {
  CaseResult result;
  const Status status = RunCase(test, run, result);
  if (status.ok()) return result;
  const bool skipped = status.code() == StatusCode::kUnimplemented;
  result.outcome = skipped ? CaseResult::Outcome::kSkipped : CaseResult::Outcome::kFailed;
  result.reason = status.message();
  return result;
}

void BackendReport::Add(const std::string& name, const CaseResult& result) {
  switch (result.outcome) {
    case CaseResult::Outcome::kPassed:
      ++passed;
      break;
    case CaseResult::Outcome::kRandom:
      ++random;
      break;
    case CaseResult::Outcome::kSkipped:
      ++skipped[result.reason];
      break;
    case CaseResult::Outcome::kFailed:
      failures.push_back(fmt::format("{}: {}", name, result.reason));
  }
}

BackendReport RunBackendCases(std::span<const BackendCase> cases, const RunGraph& run) {
  BackendReport report;
  for (const BackendCase& test : cases) report.Add(test.name, RunBackendCase(test, run));
  return report;
}

int BackendReport::num_skipped() const {
  int count = 0;
  for (const auto& [reason, times] : skipped) count += times;
  return count;
}

std::string BackendReport::ToString() const {
  std::string text =
      fmt::format("{} passed, {} failed, {} skipped", passed, failures.size(), num_skipped());
  if (random > 0) text += fmt::format(", {} random", random);
  text += "\n";
  std::vector<std::pair<int, std::string>> reasons;
  for (const auto& [reason, times] : skipped) reasons.emplace_back(times, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (const auto& [times, reason] : reasons) {
    text += fmt::format("{:5} skipped: {}\n", times, reason);
  }
  return text;
}

}  // namespace kheya::conformance
