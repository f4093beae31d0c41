#include "app/inputs.h"

#include <algorithm>

#include "base/file.h"
#include "base/json_reader.h"
#include "base/string_util.h"
#include "codec/npy.h"
#include "codec/picture.h"
#include "codec/zip.h"
#include "data/preprocess.h"
#include "formats/onnx/value_file.h"
#include "serve/api/tensor_json.h"

namespace kheya {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{8} << 30;

class InputReader {
 public:
  InputReader(const std::vector<TensorInfo>& infos, const ModelSpec& spec)
      : infos_(infos), spec_(spec), values_(infos.size()) {}

  Status Add(const std::string& flag) {
    const auto [name, content] = SplitFlag(flag);
    if (content.starts_with('@')) return AddFile(name, std::string(content.substr(1)));
    KHEYA_ASSIGN_OR_RETURN(const size_t index, FindInput(name));
    return SetJson(index, content);
  }

  Result<std::vector<Value>> Finish() {
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (!values_[i].empty() || infos_[i].type.kind == ValueType::Kind::kOptional) continue;
      return InvalidArgumentError("input '{}' {} is not given", infos_[i].name,
                                  infos_[i].type.ToString())
          .WithHint("give it with --input " + infos_[i].name + "=JSON or " + infos_[i].name +
                    "=@FILE, or use --random SEED");
    }
    return std::move(values_);
  }

 private:
  // The name of an input, or what may be meant as one: no JSON or @FILE begins so.
  std::pair<std::string, std::string_view> SplitFlag(std::string_view flag) const {
    for (const TensorInfo& info : infos_) {
      if (flag.size() > info.name.size() && flag.starts_with(info.name) &&
          flag[info.name.size()] == '=') {
        return {info.name, flag.substr(info.name.size() + 1)};
      }
    }
    const size_t equals = flag.find('=');
    if (flag.empty() || equals == std::string_view::npos ||
        std::string_view("[{\"@-0123456789").find(flag[0]) != std::string_view::npos) {
      return {"", flag};
    }
    return {std::string(flag.substr(0, equals)), flag.substr(equals + 1)};
  }

  std::string Names() const {
    std::string names;
    for (const TensorInfo& info : infos_) names += (names.empty() ? "" : ", ") + info.name;
    return names;
  }

  Result<size_t> FindInput(const std::string& name) const {
    if (name.empty()) {
      if (infos_.size() == 1) return size_t{0};
      return InvalidArgumentError("found an input without a name, expected NAME=... with one of {}",
                                  Names());
    }
    for (size_t i = 0; i < infos_.size(); ++i) {
      if (infos_[i].name == name) return i;
    }
    return InvalidArgumentError("the model has no input '{}', expected one of {}", Abbreviate(name),
                                Names());
  }

  Status Set(size_t index, Value value) {
    const TensorInfo& info = infos_[index];
    if (!values_[index].empty())
      return InvalidArgumentError("input '{}' is given twice", info.name);
    if (value.is_tensor() && info.type.is_tensor()) {
      const Tensor& tensor = value.tensor();
      if (tensor.dtype() != info.type.dtype ||
          (info.type.shape && !Matches(*info.type.shape, tensor.shape()))) {
        return InvalidArgumentError("input '{}': found {}, expected {}", info.name,
                                    tensor.TypeString(), info.type.ToString());
      }
    }
    values_[index] = std::move(value);
    return OkStatus();
  }

  Status SetJson(size_t index, std::string_view text) {
    const TensorInfo& info = infos_[index];
    JsonReader::Options options;
    options.allow_nan = true;
    KHEYA_ASSIGN_OR_RETURN(JsonReader reader, JsonReader::Open(text, options));
    Result<Value> value = ReadJsonValue(reader, info.type);
    if (!value.ok()) return std::move(value).status().WithContext("input '{}'", info.name);
    Status rest = reader.Finish();
    if (!rest.ok()) return std::move(rest).WithContext("input '{}'", info.name);
    return Set(index, std::move(value).value());
  }

  Status AddFile(const std::string& name, const std::string& path) {
    KHEYA_ASSIGN_OR_RETURN(const MappedFile file,
                           MappedFile::Open(path, {.max_bytes = kMaxFileBytes, .copy = true}));
    return AddContent(name, path, file.bytes()).WithContext("file '{}'", path);
  }

  Status AddContent(const std::string& name, const std::string& path,
                    std::span<const std::byte> bytes) {
    if (IsZip(bytes)) return AddNpz(name, bytes);
    KHEYA_ASSIGN_OR_RETURN(const size_t index, FindInput(name));
    if (IsNpy(bytes)) {
      KHEYA_ASSIGN_OR_RETURN(Tensor tensor, ReadNpy(bytes));
      return Set(index, std::move(tensor));
    }
    if (SniffPicture(bytes)) {
      KHEYA_ASSIGN_OR_RETURN(Tensor tensor, PictureToTensor(spec_, bytes));
      return Set(index, std::move(tensor));
    }
    if (path.ends_with(".pb")) {
      KHEYA_ASSIGN_OR_RETURN(Value value, ReadValueProto(bytes, infos_[index].type));
      return Set(index, std::move(value));
    }
    if (path.ends_with(".json")) {
      return SetJson(index, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    return InvalidArgumentError(
        "found an unknown kind of file, expected .npy, .npz, .pb, .json or a picture (JPEG, PNG, "
        "WebP, "
        "BMP, PNM, TIFF, JPEG 2000)");
  }

  Status AddNpz(const std::string& name, std::span<const std::byte> bytes) {
    KHEYA_ASSIGN_OR_RETURN(NamedTensors arrays, ReadNpz(bytes));
    if (!name.empty() && arrays.size() != 1) {
      return InvalidArgumentError("found {} arrays for input '{}', expected 1", arrays.size(),
                                  name);
    }
    const bool only = arrays.size() == 1 && infos_.size() == 1;  // whatever it is called
    for (auto& [key, tensor] : arrays) {
      KHEYA_ASSIGN_OR_RETURN(const size_t index, FindInput(only || !name.empty() ? name : key));
      KHEYA_RETURN_IF_ERROR(Set(index, std::move(tensor)));
    }
    return OkStatus();
  }

  const std::vector<TensorInfo>& infos_;
  const ModelSpec& spec_;
  std::vector<Value> values_;
};

}  // namespace

Result<std::vector<Value>> ReadInputs(const std::vector<TensorInfo>& infos,
                                      const std::vector<std::string>& flags,
                                      const ModelSpec& spec) {
  InputReader reader(infos, spec);
  for (const std::string& flag : flags) KHEYA_RETURN_IF_ERROR(reader.Add(flag));
  return reader.Finish();
}

}  // namespace kheya
