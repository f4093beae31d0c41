#include "serve/api/kserve_request.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/string_util.h"
#include "serve/api/json_body.h"
#include "serve/api/kserve_parameters.h"
#include "serve/api/tensor_binary.h"
#include "serve/api/tensor_json.h"

namespace kheya {
namespace {

constexpr size_t kMaxIdBytes = 1024;

std::string NamesOf(const std::vector<TensorInfo>& infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(fmt::format("'{}'", info.name));
  return Join(names, " or ");
}

Status CheckIsTensor(const ValueType& type) {
  if (IsKserveTensor(type)) return OkStatus();
  return InvalidArgumentError("it is {}, which /predict carries and this protocol does not",
                              type.ToString());
}

// The outputs that the protocol can carry, where a request names none. InvalidArgument when the
// model has others alone.
Result<std::vector<RequestedOutput>> AllOutputs(const ServedModel& model) {
  std::vector<RequestedOutput> outputs;
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    if (IsKserveTensor(model.outputs()[i].type)) outputs.push_back({.index = i});
  }
  if (outputs.empty() && !model.outputs().empty()) {
    const TensorInfo& first = model.outputs()[0];
    return CheckIsTensor(first.type).WithContext("output '{}'", first.name);
  }
  return outputs;
}

// The members of one input, in whatever order they come.
struct InputMembers {
  std::string name;
  std::string datatype;
  std::optional<std::vector<int64_t>> shape;
  InputParameters parameters;
  std::optional<size_t> data_at;  // where "data" stands, when it came before what it needs
  Tensor data;                    // when "data" is read
  std::set<std::string, std::less<>> seen;

  bool described() const { return !name.empty() && !datatype.empty() && shape; }
};

class Parser {
 public:
  Parser(std::shared_ptr<ServedModel> model, JsonReader reader, std::string_view binary)
      : model_(*model), reader_(reader), binary_(binary) {
    request_.infer.model = std::move(model);
    request_.infer.inputs.resize(model_.inputs().size());
  }

  Result<KserveRequest> Parse() {
    KHEYA_RETURN_IF_ERROR(reader_.ReadObject([&](std::string_view key) { return Member(key); }));
    KHEYA_RETURN_IF_ERROR(reader_.Finish());
    if (!has_inputs_) return InvalidArgumentError("found no 'inputs', expected an array of them");
    if (!binary_.empty()) {
      return InvalidArgumentError("found {} bytes behind the last binary input", binary_.size());
    }
    KHEYA_RETURN_IF_ERROR(CheckComplete(request_.infer));
    if (request_.infer.outputs.empty()) {
      KHEYA_ASSIGN_OR_RETURN(request_.infer.outputs, AllOutputs(model_));
      binary_choices_.resize(request_.infer.outputs.size());
    }
    // What an output says itself goes before what the request says.
    for (const std::optional<bool>& choice : binary_choices_) {
      request_.binary.push_back(choice.value_or(parameters_.binary_outputs));
    }
    return std::move(request_);
  }
  uint64_t timeout_us() const { return parameters_.timeout_us; }

 private:
  Status Member(std::string_view key) {
    if (key == "id") {
      KHEYA_ASSIGN_OR_RETURN(request_.infer.id, reader_.ReadString());
      if (request_.infer.id.size() <= kMaxIdBytes) return OkStatus();
      return InvalidArgumentError("found an id of {} bytes, expected at most {}",
                                  request_.infer.id.size(), kMaxIdBytes);
    }
    if (key == "parameters") return ReadParameters(reader_, &parameters_);
    if (key == "inputs") {
      has_inputs_ = true;
      return reader_.ReadArray(
          [&](int64_t index) { return Input().WithContext("input {}", index); });
    }
    if (key == "outputs") {
      return reader_.ReadArray(
          [&](int64_t index) { return Output().WithContext("output {}", index); });
    }
    return reader_.Skip();  // clients send "model_name" and the like
  }

  Status Input() {
    InputMembers input;
    Status status =
        reader_.ReadObject([&](std::string_view key) { return InputMember(key, &input); });
    if (status.ok()) status = FinishInput(&input);
    return input.name.empty() ? std::move(status)
                              : std::move(status).WithContext("'{}'", Abbreviate(input.name));
  }

  Status InputMember(std::string_view key, InputMembers* input) {
    if (!input->seen.insert(std::string(key)).second) {
      return InvalidArgumentError("'{}' is given twice", Abbreviate(key));
    }
    if (key == "name") {
      KHEYA_ASSIGN_OR_RETURN(input->name, reader_.ReadString());
      return OkStatus();
    }
    if (key == "datatype") {
      KHEYA_ASSIGN_OR_RETURN(input->datatype, reader_.ReadString());
      return OkStatus();
    }
    if (key == "shape") return ReadShape(input);
    if (key == "parameters") return ReadParameters(reader_, &input->parameters);
    if (key != "data") return reader_.Skip();
    input->data_at = reader_.position();
    if (!input->described()) return reader_.Skip();
    return ReadData(input);
  }

  Status ReadShape(InputMembers* input) {
    input->shape.emplace();
    return reader_
        .ReadArray([&](int64_t) -> Status {
          KHEYA_ASSIGN_OR_RETURN(const int64_t dim, reader_.ReadInt64());
          if (input->shape->size() >= kMaxRank) {
            return InvalidArgumentError("found more than {} dimensions", kMaxRank);
          }
          if (dim < 0) return InvalidArgumentError("found {}, expected 0 or more", dim);
          input->shape->push_back(dim);
          return OkStatus();
        })
        .WithContext("shape");
  }

  Status ReadData(InputMembers* input) {
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, CheckType(*input));
    const DType dtype = model_.inputs()[*model_.FindInput(input->name)].type.dtype;
    KHEYA_ASSIGN_OR_RETURN(input->data, ReadJsonElements(reader_, dtype, shape));
    return OkStatus();
  }

  // The shape of an input that the model has with this type.
  Result<Shape> CheckType(const InputMembers& input) const {
    const std::optional<size_t> index = model_.FindInput(input.name);
    if (!index) {
      return InvalidArgumentError("model '{}' has no such input, expected {}", model_.name(),
                                  NamesOf(model_.inputs()));
    }
    const ValueType& type = model_.inputs()[*index].type;
    KHEYA_RETURN_IF_ERROR(CheckIsTensor(type));
    if (DTypeFromKServe(input.datatype) != type.dtype) {
      return InvalidArgumentError("found datatype '{}', expected {}", Abbreviate(input.datatype),
                                  GetDTypeInfo(type.dtype).kserve);
    }
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(*input.shape));
    if (type.shape && !Matches(*type.shape, shape)) {
      return InvalidArgumentError("found shape {}, expected {}", shape.ToString(),
                                  ToString(*type.shape));
    }
    return shape;
  }

  Status FinishInput(InputMembers* input) {
    if (input->name.empty()) return InvalidArgumentError("found no 'name'");
    if (input->datatype.empty()) return InvalidArgumentError("found no 'datatype'");
    if (!input->shape) return InvalidArgumentError("found no 'shape'");
    if (input->data_at.has_value() == input->parameters.binary_size.has_value()) {
      return InvalidArgumentError("found {} of 'data' and 'binary_data_size', expected one",
                                  input->data_at ? "both" : "none");
    }
    if (input->parameters.binary_size) {
      KHEYA_RETURN_IF_ERROR(TakeBinary(input));
    } else if (!input->data.defined()) {
      const size_t end = reader_.position();
      reader_.Seek(*input->data_at);
      KHEYA_RETURN_IF_ERROR(ReadData(input));
      reader_.Seek(end);
    }
    Value& value = request_.infer.inputs[*model_.FindInput(input->name)];
    if (!value.empty()) return InvalidArgumentError("the input is given twice");
    value = std::move(input->data);
    return OkStatus();
  }

  Status TakeBinary(InputMembers* input) {
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, CheckType(*input));
    const uint64_t size = *input->parameters.binary_size;
    if (size > binary_.size()) {
      return InvalidArgumentError("found binary_data_size {} with {} bytes left in the body", size,
                                  binary_.size());
    }
    const DType dtype = model_.inputs()[*model_.FindInput(input->name)].type.dtype;
    KHEYA_ASSIGN_OR_RETURN(input->data, ReadBinaryTensor(binary_.substr(0, size), dtype, shape));
    binary_.remove_prefix(size);
    return OkStatus();
  }

  Status Output() {
    std::optional<std::string> name;
    OutputParameters parameters;
    KHEYA_RETURN_IF_ERROR(reader_.ReadObject([&](std::string_view key) -> Status {
      if (key == "parameters") return ReadParameters(reader_, &parameters);
      if (key != "name") return reader_.Skip();
      KHEYA_ASSIGN_OR_RETURN(name, reader_.ReadString());
      return OkStatus();
    }));
    if (!name) return InvalidArgumentError("found no 'name'");
    const std::optional<size_t> index = model_.FindOutput(*name);
    if (!index) {
      return InvalidArgumentError("found '{}', expected {}", Abbreviate(*name),
                                  NamesOf(model_.outputs()));
    }
    KHEYA_RETURN_IF_ERROR(
        CheckIsTensor(model_.outputs()[*index].type).WithContext("'{}'", Abbreviate(*name)));
    for (const RequestedOutput& other : request_.infer.outputs) {
      if (other.index == *index) return InvalidArgumentError("'{}' is asked for twice", *name);
    }
    request_.infer.outputs.push_back({*index, parameters.classes});
    binary_choices_.push_back(parameters.binary);
    return OkStatus();
  }

  const ServedModel& model_;
  JsonReader reader_;
  std::string_view binary_;  // what no input has taken yet
  RequestParameters parameters_;
  std::vector<std::optional<bool>> binary_choices_;
  bool has_inputs_ = false;
  KserveRequest request_;
};

// The shape of `bytes` as a whole input with at most one dimension left open.
Result<Shape> ShapeOfRaw(const ValueType& type, size_t bytes) {
  if (!type.shape) return InvalidArgumentError("a raw body needs a known rank");
  std::vector<int64_t> dims;
  std::optional<size_t> open;
  for (const Dim& dim : *type.shape) {
    if (!dim.known() && open) {
      return InvalidArgumentError("a raw body needs at most one open dimension, expected {}",
                                  ToString(*type.shape));
    }
    if (!dim.known()) open = dims.size();
    dims.push_back(dim.maybe().value_or(1));
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape row, Shape::Create(dims));
  const size_t row_bytes = BytesFor(type.dtype, row.num_elements());
  if (!open || row_bytes == 0) return row;
  dims[*open] = static_cast<int64_t>(bytes / row_bytes);
  return Shape::Create(dims);
}

// Inference-Header-Content-Length: 0. The body is the single input, without any JSON.
Result<KserveRequest> ParseRaw(const std::shared_ptr<ServedModel>& model, std::string_view body) {
  if (model->inputs().size() != 1) {
    return InvalidArgumentError("found a raw body for model '{}' with {} inputs, expected one",
                                model->name(), model->inputs().size());
  }
  const TensorInfo& info = model->inputs()[0];
  KHEYA_RETURN_IF_ERROR(CheckIsTensor(info.type).WithContext("input '{}'", info.name));
  KserveRequest request;
  request.infer.model = model;
  KHEYA_ASSIGN_OR_RETURN(request.infer.outputs, AllOutputs(*model));
  request.binary.assign(request.infer.outputs.size(), true);
  Result<Tensor> tensor = Tensor();
  if (info.type.dtype == DType::kString) {
    const Shape shape{1};
    if (info.type.shape && !Matches(*info.type.shape, shape)) {
      return InvalidArgumentError("input '{}': found a raw body, which is one element, expected {}",
                                  info.name, ToString(*info.type.shape));
    }
    tensor = Tensor::FromValues<std::string>(shape, {std::string(body)});
  } else {
    Result<Shape> shape = ShapeOfRaw(info.type, body.size());
    tensor = shape.ok() ? ReadBinaryTensor(body, info.type.dtype, *shape) : shape.status();
  }
  if (!tensor.ok()) return std::move(tensor).status().WithContext("input '{}'", info.name);
  request.infer.inputs.emplace_back(std::move(tensor).value());
  return request;
}

Result<KserveRequest> ParseJson(std::shared_ptr<ServedModel> model, const HttpRequest& http,
                                size_t json_bytes) {
  Result<JsonReader> reader = OpenJsonBody(http.body.substr(0, json_bytes));
  if (!reader.ok()) return reader.status();
  Parser parser(std::move(model), *reader, http.body.substr(json_bytes));
  Result<KserveRequest> request = parser.Parse();
  if (!request.ok()) return AsBadRequest(std::move(request).status());
  constexpr uint64_t kLongest = uint64_t{1} << 50;  // microseconds; more overflows the clock
  if (parser.timeout_us() > 0) {
    const auto timeout = std::chrono::microseconds(std::min(parser.timeout_us(), kLongest));
    request->infer.deadline = Clock::now() + timeout;
  }
  return request;
}

}  // namespace

Result<KserveRequest> ParseKserveRequest(std::shared_ptr<ServedModel> model,
                                         const HttpRequest& http) {
  uint64_t json_bytes = http.body.size();
  const std::string* header = http.FindHeader("inference-header-content-length");
  if (header != nullptr) {
    Result<uint64_t> value = ParseUint64(*header);
    if (!value.ok() || *value > http.body.size()) {
      return InvalidArgumentError(
          "found Inference-Header-Content-Length '{}', expected at most {}, the bytes of the body",
          Abbreviate(*header), http.body.size());
    }
    json_bytes = *value;
  }
  const bool raw = header != nullptr && json_bytes == 0;
  KHEYA_ASSIGN_OR_RETURN(
      KserveRequest request,
      raw ? ParseRaw(model, http.body) : ParseJson(std::move(model), http, json_bytes));
  request.infer.deadline = std::min(request.infer.deadline, http.deadline);
  request.infer.cancel = http.cancel;
  return request;
}

}  // namespace kheya
