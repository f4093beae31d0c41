#include "tensor/value.h"

namespace kheya {
namespace {

constexpr int kMaxTypeDepth = 32;

// Cuts at the first comma that is in no bracket, parenthesis or quotes; `text` keeps the rest.
std::string_view TakeUntilComma(std::string_view& text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '(' || c == '[')) {
      ++depth;
    } else if (!quoted && (c == ')' || c == ']')) {
      --depth;
    } else if (!quoted && depth == 0 && c == ',') {
      const std::string_view head = text.substr(0, i);
      text.remove_prefix(i + 1);
      return head;
    }
  }
  const std::string_view head = text;
  text = {};
  return head;
}

Status NotAType(std::string_view text) {
  return InvalidArgumentError("found '{}', expected a type such as float32[batch,3]",
                              text.substr(0, 80));
}

Result<DType> ParseDType(std::string_view name) {
  if (name == DTypeName(DType::kUndefined)) return DType::kUndefined;
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype) return NotAType(name);
  return *dtype;
}

Result<ValueType> ParseTensorType(std::string_view text) {
  const size_t end = text.find_first_of("[?");
  if (end == std::string_view::npos) return NotAType(text);
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, ParseDType(text.substr(0, end)));
  std::string_view dims = text.substr(end);
  if (dims == "?") return ValueType::OfTensor(dtype);
  if (dims.size() < 2 || dims.back() != ']') return NotAType(text);
  dims = dims.substr(1, dims.size() - 2);
  SymbolicShape shape;
  while (!dims.empty()) {
    const std::optional<Dim> dim = Dim::Parse(TakeUntilComma(dims));
    if (!dim || shape.size() >= kMaxRank) return NotAType(text);
    shape.push_back(*dim);
  }
  return ValueType::OfTensor(dtype, std::move(shape));
}

Result<ValueType> ParseType(std::string_view text, int depth) {
  if (depth > kMaxTypeDepth) return InvalidArgumentError("found a type nested too deep");
  if (text == "?") return ValueType();
  const size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  const bool wraps = name == "seq" || name == "optional" || name == "map" || name == "sparse";
  if (!wraps) return ParseTensorType(text);
  if (open == std::string_view::npos || text.back() != ')') return NotAType(text);
  std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  DType key = DType::kUndefined;
  if (name == "map") {
    KHEYA_ASSIGN_OR_RETURN(key, ParseDType(TakeUntilComma(inner)));
  }
  KHEYA_ASSIGN_OR_RETURN(ValueType element, ParseType(inner, depth + 1));
  if (name == "seq") return ValueType::OfSequence(std::move(element));
  if (name == "optional") return ValueType::OfOptional(std::move(element));
  if (name == "map") return ValueType::OfMap(key, std::move(element));
  if (!element.is_tensor()) return NotAType(text);
  element.kind = ValueType::Kind::kSparseTensor;
  return element;
}

ValueType Wrap(ValueType::Kind kind, DType dtype, ValueType element) {
  ValueType type;
  type.kind = kind;
  type.dtype = dtype;
  type.element = std::make_shared<const ValueType>(std::move(element));
  return type;
}

}  // namespace

ValueType ValueType::OfTensor(DType dtype, std::optional<SymbolicShape> shape) {
  ValueType type;
  type.kind = Kind::kTensor;
  type.dtype = dtype;
  type.shape = std::move(shape);
  return type;
}

ValueType ValueType::OfTensor(const Tensor& tensor) {
  return OfTensor(tensor.dtype(), ToSymbolic(tensor.shape()));
}

ValueType ValueType::OfSequence(ValueType element) {
  return Wrap(Kind::kSequence, DType::kUndefined, std::move(element));
}

ValueType ValueType::OfOptional(ValueType element) {
  return Wrap(Kind::kOptional, DType::kUndefined, std::move(element));
}

ValueType ValueType::OfMap(DType key, ValueType value) {
  return Wrap(Kind::kMap, key, std::move(value));
}

std::optional<Shape> ValueType::KnownShape() const {
  return is_tensor() && shape ? ToKnown(*shape) : std::nullopt;
}

std::string ValueType::ToString() const {
  const auto tensor = [&] {
    return DTypeName(dtype) + (shape ? kheya::ToString(*shape) : std::string("?"));
  };
  const auto inner = [&] { return element ? element->ToString() : std::string("?"); };
  switch (kind) {
    case Kind::kUnknown:
      return "?";
    case Kind::kTensor:
      return tensor();
    case Kind::kSparseTensor:
      return "sparse(" + tensor() + ")";
    case Kind::kSequence:
      return "seq(" + inner() + ")";
    case Kind::kOptional:
      return "optional(" + inner() + ")";
    case Kind::kMap:
      return fmt::format("map({},{})", DTypeName(dtype), inner());
  }
  return "?";
}

Result<ValueType> ValueType::Parse(std::string_view text) { return ParseType(text, 0); }

bool ValueType::operator==(const ValueType& other) const {
  if (kind != other.kind || dtype != other.dtype) return false;
  if (shape.has_value() != other.shape.has_value()) return false;
  if (shape) {
    if (shape->size() != other.shape->size()) return false;
    for (size_t i = 0; i < shape->size(); ++i) {
      if (!(*shape)[i].SameAs((*other.shape)[i])) return false;
    }
  }
  if ((element == nullptr) != (other.element == nullptr)) return false;
  return element == nullptr || *element == *other.element;
}

Value::Value(Sequence sequence) : content_(std::make_shared<const Sequence>(std::move(sequence))) {}
Value::Value(Int64Map map) : content_(std::make_shared<const Int64Map>(std::move(map))) {}
Value::Value(StringMap map) : content_(std::make_shared<const StringMap>(std::move(map))) {}

const Sequence* Value::sequence() const {
  const auto* held = std::get_if<std::shared_ptr<const Sequence>>(&content_);
  return held != nullptr ? held->get() : nullptr;
}

const Int64Map* Value::int64_map() const {
  const auto* held = std::get_if<std::shared_ptr<const Int64Map>>(&content_);
  return held != nullptr ? held->get() : nullptr;
}

const StringMap* Value::string_map() const {
  const auto* held = std::get_if<std::shared_ptr<const StringMap>>(&content_);
  return held != nullptr ? held->get() : nullptr;
}

}  // namespace kheya
