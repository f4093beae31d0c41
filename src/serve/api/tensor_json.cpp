#include "serve/api/tensor_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/checked_math.h"
#include "base/json.h"
#include "base/string_util.h"
#include "serve/api/small_json.h"
#include "serve/core/dtype_switch.h"
#include "tensor/small_types.h"

namespace kheya {
namespace {

// Room for numbers whose count is not known before the text ends.
template <typename T>
class GrowingNumbers {
 public:
  // `expected` is how many are likely; more may come.
  explicit GrowingNumbers(int64_t expected) : expected_(expected) {}

  Result<std::span<T>> Grow(int64_t count) {
    const int64_t room = std::max({count, expected_, 2 * room_});
    size_t bytes = 0;
    if (!CheckedMul(static_cast<size_t>(room), sizeof(T), &bytes)) {
      return ResourceExhaustedError("{} numbers do not fit in memory", room);
    }
    Result<Buffer> buffer = Buffer::Allocate(bytes);
    if (!buffer.ok()) return UnavailableError("{}", buffer.status().message());
    if (room_ > 0) std::memcpy(buffer->data(), buffer_->data(), room_ * sizeof(T));
    *buffer_ = std::move(buffer).value();
    room_ = room;
    return std::span<T>(reinterpret_cast<T*>(buffer_->data()), static_cast<size_t>(room));
  }

  // The numbers so far, as a tensor of `shape`.
  Result<Tensor> Take(const Shape& shape) {
    if (shape.num_elements() == 0) return Tensor::Allocate(DTypeOf<T>, shape);
    return Tensor::Borrow(DTypeOf<T>, shape,
                          buffer_->bytes().first(shape.num_elements() * sizeof(T)), buffer_);
  }

 private:
  const int64_t expected_;
  std::shared_ptr<Buffer> buffer_ = std::make_shared<Buffer>();
  int64_t room_ = 0;
};

// The elements of one row, as a guess at the count of all.
int64_t LikelyCount(const ValueType& type) {
  constexpr int64_t kMost = int64_t{1} << 20;
  int64_t count = 1;
  if (!type.shape) return count;
  for (const Dim& dim : *type.shape) {
    const int64_t size = std::max<int64_t>(dim.maybe().value_or(1), 1);
    if (!CheckedMul(count, size, &count) || count > kMost) return kMost;
  }
  return count;
}

template <typename T>
Result<Tensor> ReadNumbers(JsonReader& reader, int64_t expected) {
  GrowingNumbers<T> numbers(expected);
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims,
                         reader.ReadNumbers<T>([&](int64_t count) { return numbers.Grow(count); }));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  return numbers.Take(shape);
}

// float16 and bfloat16 through float32.
template <typename T>
Result<Tensor> ReadSmallFloats(JsonReader& reader, int64_t expected) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor wide, ReadNumbers<float>(reader, expected));
  KHEYA_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(DTypeOf<T>, wide.shape()));
  const std::span<const float> from = wide.data<float>();
  const std::span<T> to = out.mutable_data<T>();
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = T(from[i]);
    if (std::isfinite(from[i]) && !std::isfinite(float(to[i]))) {
      return OutOfRangeError("found {}, which does not fit in {}", from[i], DTypeName(DTypeOf<T>));
    }
  }
  return out;
}

Result<Tensor> ReadStrings(JsonReader& reader) {
  std::vector<std::string> strings;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, reader.ReadStrings(&strings));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(DType::kString, shape));
  std::move(strings.begin(), strings.end(), out.mutable_data<std::string>().begin());
  return out;
}

template <typename T>
Result<Tensor> ReadSmall(JsonReader& reader, DType dtype, int64_t expected) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor wide, ReadNumbers<T>(reader, expected));
  return NarrowToSmall(wide, dtype);
}

template <typename T>
Result<Tensor> ReadComplex(JsonReader& reader, DType dtype, int64_t expected) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor parts, ReadNumbers<T>(reader, 2 * expected));
  return JoinComplex(parts, dtype);
}

// A tensor of the shape that the text has.
Result<Tensor> ReadAsNested(JsonReader& reader, DType dtype, int64_t expected) {
  if (IsSmallFloat(dtype)) return ReadSmall<float>(reader, dtype, expected);
  if (IsSmallInteger(dtype)) return ReadSmall<int32_t>(reader, dtype, expected);
  switch (dtype) {
    case DType::kString:
      return ReadStrings(reader);
    case DType::kBool:
      return ReadNumbers<bool>(reader, expected);
    case DType::kFloat16:
      return ReadSmallFloats<Float16>(reader, expected);
    case DType::kBFloat16:
      return ReadSmallFloats<BFloat16>(reader, expected);
    case DType::kComplex64:
      return ReadComplex<float>(reader, dtype, expected);
    case DType::kComplex128:
      return ReadComplex<double>(reader, dtype, expected);
    default:
      break;
  }
  Result<Tensor> tensor = Tensor();
  KHEYA_RETURN_IF_ERROR(SwitchNumeric(dtype, [&]<typename T>(T) {
    tensor = ReadNumbers<T>(reader, expected);
    return OkStatus();
  }));
  return tensor;
}

template <typename T>
void AppendNumber(T value, std::string* out) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      out->append("null");
      return;
    }
  }
  char digits[32];
  const char* end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  const std::string_view text(digits, static_cast<size_t>(end - digits));
  out->append(text);
  if constexpr (std::is_floating_point_v<T>) {
    if (text.find_first_of(".e") == std::string_view::npos) out->append(".0");
  }
}

// One appender for each type: (tensor, first, count, out) writes "1,2,3".
template <typename T>
void AppendNumbers(const Tensor& tensor, int64_t first, int64_t count, std::string* out) {
  const std::span<const T> values = tensor.data<T>().subspan(first, count);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out->push_back(',');
    if constexpr (std::is_same_v<T, std::string>) {
      AppendJsonString(values[i], out);
    } else if constexpr (std::is_same_v<T, bool>) {
      out->append(values[i] ? "true" : "false");
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      AppendNumber(float(values[i]), out);
    } else {
      AppendNumber(values[i], out);
    }
  }
}

void AppendSmall(const Tensor& tensor, int64_t first, int64_t count, std::string* out) {
  const DType dtype = tensor.dtype();
  const void* codes = tensor.bytes().data();
  for (int64_t i = first; i < first + count; ++i) {
    if (i > first) out->push_back(',');
    const double number = SmallToDouble(dtype, CodeAt(dtype, codes, i));
    if (IsSmallFloat(dtype)) {
      AppendNumber(static_cast<float>(number), out);
    } else {
      AppendNumber(static_cast<int64_t>(number), out);
    }
  }
}

template <typename T>
void AppendComplex(const Tensor& tensor, int64_t first, int64_t count, std::string* out) {
  for (int64_t i = first; i < first + count; ++i) {
    out->append(i > first ? ",[" : "[");
    AppendNumber(tensor.At<T>(2 * i), out);
    out->push_back(',');
    AppendNumber(tensor.At<T>(2 * i + 1), out);
    out->push_back(']');
  }
}

using Appender = void (*)(const Tensor&, int64_t first, int64_t count, std::string*);

Result<Appender> AppenderOf(const Tensor& tensor) {
  if (IsSmall(tensor.dtype())) return &AppendSmall;
  switch (tensor.dtype()) {
    case DType::kBool:
      return &AppendNumbers<bool>;
    case DType::kFloat16:
      return &AppendNumbers<Float16>;
    case DType::kBFloat16:
      return &AppendNumbers<BFloat16>;
    case DType::kComplex64:
      return &AppendComplex<float>;
    case DType::kComplex128:
      return &AppendComplex<double>;
    case DType::kString:
      break;
    default: {
      Appender appender = nullptr;
      KHEYA_RETURN_IF_ERROR(SwitchNumeric(tensor.dtype(), [&]<typename T>(T) {
        appender = &AppendNumbers<T>;
        return OkStatus();
      }));
      return appender;
    }
  }
  for (const std::string& text : tensor.data<std::string>()) {
    if (!IsValidUtf8(text)) {
      return InvalidArgumentError("found bytes that are not utf-8, which only binary data carries");
    }
  }
  return &AppendNumbers<std::string>;
}

constexpr int64_t kElementsAtOnce = 256;
constexpr size_t kMostElementBytes = 64;  // of a complex number with its brackets and comma

// Above what an element takes as text, with its comma.
size_t MostBytes(const Tensor& tensor, int64_t first, int64_t count) {
  if (tensor.dtype() != DType::kString) return static_cast<size_t>(count) * kMostElementBytes;
  size_t bytes = 0;
  for (const std::string& text : tensor.data<std::string>().subspan(first, count)) {
    bytes += text.size() * 6 + 3;  // every byte as \u00xx
  }
  return bytes;
}

Status AppendFlat(const Tensor& tensor, Appender append, int64_t first, int64_t count,
                  AnswerBody* out) {
  const int64_t most = tensor.dtype() == DType::kString ? 1 : kElementsAtOnce;
  KHEYA_RETURN_IF_ERROR(out->Append("["));
  for (int64_t done = 0; done < count; done += most) {
    const int64_t at = first + done;
    const int64_t size = std::min(most, count - done);
    KHEYA_ASSIGN_OR_RETURN(std::string* const text, out->Extend(MostBytes(tensor, at, size)));
    if (done > 0) text->push_back(',');
    append(tensor, at, size, text);
  }
  return out->Append("]");
}

Status AppendNested(const Tensor& tensor, Appender append, int axis, int64_t first, int64_t count,
                    AnswerBody* out) {
  const int64_t size = tensor.shape()[axis];
  if (axis + 1 == tensor.shape().rank()) return AppendFlat(tensor, append, first, size, out);
  const int64_t step = size == 0 ? 0 : count / size;
  KHEYA_RETURN_IF_ERROR(out->Append("["));
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) KHEYA_RETURN_IF_ERROR(out->Append(","));
    KHEYA_RETURN_IF_ERROR(AppendNested(tensor, append, axis + 1, first + i * step, step, out));
  }
  return out->Append("]");
}

Result<int64_t> KeyFrom(std::string_view text, int64_t) { return ParseInt64(text); }
Result<std::string> KeyFrom(std::string_view text, const std::string&) { return std::string(text); }

// Reads one value with all that it holds. An item takes hundreds of bytes of memory for two of
// text, so they are counted.
class ValueReader {
 public:
  explicit ValueReader(JsonReader& reader) : reader_(reader) {}

  Result<Value> Read(const ValueType& type) {
    using Kind = ValueType::Kind;
    if (type.is_tensor()) {
      KHEYA_ASSIGN_OR_RETURN(Tensor tensor, ReadJsonTensor(reader_, type));
      return Value(std::move(tensor));
    }
    if (type.kind == Kind::kSequence && type.element) return ReadSequence(*type.element);
    if (type.kind == Kind::kMap && type.element) {
      return type.dtype == DType::kString ? ReadMap<StringMap>(*type.element)
                                          : ReadMap<Int64Map>(*type.element);
    }
    if (type.kind == Kind::kOptional && type.element) {
      if (reader_.Peek() != JsonReader::Type::kNull) return Read(*type.element);
      KHEYA_RETURN_IF_ERROR(reader_.Skip());
      return Value();
    }
    return UnimplementedError("values of type {} cannot be given as JSON", type.ToString());
  }

 private:
  Result<Value> ReadSequence(const ValueType& element) {
    Sequence sequence;
    KHEYA_RETURN_IF_ERROR(reader_.ReadArray([&](int64_t index) -> Status {
      KHEYA_RETURN_IF_ERROR(CountItem());
      Result<Value> value = Read(element);
      if (!value.ok()) return std::move(value).status().WithContext("item {}", index);
      sequence.push_back(std::move(value).value());
      return OkStatus();
    }));
    return Value(std::move(sequence));
  }

  template <typename Map>
  Result<Value> ReadMap(const ValueType& element) {
    Map map;
    KHEYA_RETURN_IF_ERROR(reader_.ReadObject([&](std::string_view text) -> Status {
      KHEYA_RETURN_IF_ERROR(CountItem());
      const std::string name = EscapeControls(Abbreviate(text));
      Result<typename Map::key_type> key = KeyFrom(text, typename Map::key_type());
      if (!key.ok()) return std::move(key).status().WithContext("key '{}'", name);
      Result<Value> value = Read(element);
      if (!value.ok()) return std::move(value).status().WithContext("key '{}'", name);
      if (map.emplace(std::move(key).value(), std::move(value).value()).second) return OkStatus();
      return InvalidArgumentError("key '{}' is given twice", name);
    }));
    return Value(std::move(map));
  }

  Status CountItem() {
    if (++items_ <= kMaxJsonItems) return OkStatus();
    return ResourceExhaustedError("found more than {} items of sequences and maps in one value",
                                  kMaxJsonItems);
  }

  JsonReader& reader_;
  int64_t items_ = 0;
};

void AppendKey(int64_t key, std::string* out) { out->append(fmt::format("\"{}\"", key)); }
void AppendKey(const std::string& key, std::string* out) { AppendJsonString(key, out); }

template <typename Map>
Status AppendMap(const Map& map, AnswerBody* out) {
  std::string start = "{";
  for (const auto& [key, value] : map) {
    AppendKey(key, &start);
    start.push_back(':');
    KHEYA_RETURN_IF_ERROR(out->Append(start));
    KHEYA_RETURN_IF_ERROR(AppendJsonValue(value, out));
    start = ",";
  }
  return out->Append(map.empty() ? "{}" : "}");
}

Status AppendSequence(const Sequence& sequence, AnswerBody* out) {
  KHEYA_RETURN_IF_ERROR(out->Append("["));
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (i > 0) KHEYA_RETURN_IF_ERROR(out->Append(","));
    KHEYA_RETURN_IF_ERROR(AppendJsonValue(sequence[i], out));
  }
  return out->Append("]");
}

}  // namespace

Result<Value> ReadJsonValue(JsonReader& reader, const ValueType& type) {
  return ValueReader(reader).Read(type);
}

Result<Tensor> ReadJsonTensor(JsonReader& reader, const ValueType& type) {
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, ReadAsNested(reader, type.dtype, LikelyCount(type)));
  if (type.shape && !Matches(*type.shape, tensor.shape())) {
    return InvalidArgumentError("found shape {}, expected {}", tensor.shape().ToString(),
                                ToString(*type.shape));
  }
  return tensor;
}

Result<Tensor> ReadJsonElements(JsonReader& reader, DType dtype, const Shape& shape) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const int64_t expected = std::clamp<int64_t>(shape.num_elements(), 1, kMost);
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, ReadAsNested(reader, dtype, expected));
  if (tensor.num_elements() != shape.num_elements()) {
    return InvalidArgumentError("found {} elements, expected {} for shape {}",
                                tensor.num_elements(), shape.num_elements(), shape.ToString());
  }
  return tensor.Reshaped(shape);
}

Status AppendJsonElements(const Tensor& tensor, AnswerBody* out) {
  KHEYA_ASSIGN_OR_RETURN(const Appender append, AppenderOf(tensor));
  return AppendFlat(tensor, append, 0, tensor.num_elements(), out);
}

Status AppendJsonTensor(const Tensor& tensor, AnswerBody* out) {
  KHEYA_ASSIGN_OR_RETURN(const Appender append, AppenderOf(tensor));
  if (tensor.shape().rank() > 0) {
    return AppendNested(tensor, append, 0, 0, tensor.num_elements(), out);
  }
  KHEYA_ASSIGN_OR_RETURN(std::string* const text, out->Extend(MostBytes(tensor, 0, 1)));
  append(tensor, 0, 1, text);
  return OkStatus();
}

Status AppendJsonValue(const Value& value, AnswerBody* out) {
  if (value.is_tensor()) return AppendJsonTensor(value.tensor(), out);
  if (const Sequence* sequence = value.sequence()) return AppendSequence(*sequence, out);
  if (const Int64Map* map = value.int64_map()) return AppendMap(*map, out);
  if (const StringMap* map = value.string_map()) return AppendMap(*map, out);
  return out->Append("null");
}

void AppendJsonFloat(float value, std::string* out) { AppendNumber(value, out); }

void AppendJsonString(std::string_view text, std::string* out) { out->append(Json(text).Dump()); }

}  // namespace kheya
