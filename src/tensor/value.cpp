#include "tensor/value.h"

#include <algorithm>

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

bool AllAligned(const Sequence& sequence) { return std::ranges::all_of(sequence, &Value::aligned); }

template <typename Map>
bool AllAligned(const Map& map) {
  return std::ranges::all_of(map, [](const auto& pair) { return pair.second.aligned(); });
}

Result<Value> AlignAll(Sequence sequence, const std::shared_ptr<MemoryBudget>& budget) {
  for (Value& value : sequence) {
    KHEYA_ASSIGN_OR_RETURN(value, value.Aligned(budget));
  }
  return Value(std::move(sequence));
}

template <typename Map>
Result<Value> AlignAll(Map map, const std::shared_ptr<MemoryBudget>& budget) {
  for (auto& [key, value] : map) {
    KHEYA_ASSIGN_OR_RETURN(value, value.Aligned(budget));
  }
  return Value(std::move(map));
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

namespace {

// What two shapes have in common.
std::optional<SymbolicShape> CommonShape(const std::optional<SymbolicShape>& a,
                                         const std::optional<SymbolicShape>& b) {
  if (!a || !b || a->size() != b->size()) return std::nullopt;
  SymbolicShape common;
  for (size_t i = 0; i < a->size(); ++i) common.push_back((*a)[i] == (*b)[i] ? (*a)[i] : Dim());
  return common;
}

// What all elements have in common; unknown when there are none.
template <typename Elements, typename Get>
ValueType CommonTypeOfAll(const Elements& elements, Get get) {
  std::optional<ValueType> common;
  for (const auto& element : elements) {
    const ValueType type = TypeOf(get(element));
    common = common ? CommonType(*common, type) : type;
    if (!common) return ValueType();
  }
  return common.value_or(ValueType());
}

Status WrongType(const Value& value, const ValueType& type) {
  return InvalidArgumentError("found {}, expected {}", TypeOf(value).ToString(), type.ToString());
}

Status CheckTensorType(const Value& value, const ValueType& type) {
  if (!value.is_tensor()) return WrongType(value, type);
  const Tensor& tensor = value.tensor();
  const bool same = type.dtype == DType::kUndefined || type.dtype == tensor.dtype();
  if (same && (!type.shape || Matches(*type.shape, tensor.shape()))) return OkStatus();
  return WrongType(value, type);
}

Status CheckSequenceType(const Value& value, const ValueType& type) {
  if (value.sequence() == nullptr) return WrongType(value, type);
  if (!type.element) return OkStatus();
  int64_t index = 0;
  for (const Value& element : *value.sequence()) {
    KHEYA_RETURN_IF_ERROR(CheckType(element, *type.element).WithContext("element {}", index));
    ++index;
  }
  return OkStatus();
}

Status CheckMapType(const Value& value, const ValueType& type) {
  const auto check = [&](const auto* map, DType key) -> Status {
    if (type.dtype != DType::kUndefined && type.dtype != key) return WrongType(value, type);
    if (!type.element) return OkStatus();
    for (const auto& [name, element] : *map) {
      KHEYA_RETURN_IF_ERROR(CheckType(element, *type.element).WithContext("key '{}'", name));
    }
    return OkStatus();
  };
  if (value.int64_map() != nullptr) return check(value.int64_map(), DType::kInt64);
  if (value.string_map() != nullptr) return check(value.string_map(), DType::kString);
  return WrongType(value, type);
}

}  // namespace

std::optional<ValueType> CommonType(const ValueType& a, const ValueType& b) {
  using Kind = ValueType::Kind;
  if (a.kind == Kind::kUnknown || b.kind == Kind::kUnknown) return ValueType();
  const bool a_optional = a.kind == Kind::kOptional;
  if (a_optional != (b.kind == Kind::kOptional)) {  // a value stands for the optional that holds it
    return CommonType(a_optional ? a : ValueType::OfOptional(a),
                      a_optional ? ValueType::OfOptional(b) : b);
  }
  const bool known = a.dtype != DType::kUndefined && b.dtype != DType::kUndefined;
  if (a.kind != b.kind || (known && a.dtype != b.dtype)) return std::nullopt;
  ValueType common;
  common.kind = a.kind;
  common.dtype = known ? a.dtype : DType::kUndefined;
  common.shape = CommonShape(a.shape, b.shape);
  if (!a.element || !b.element) return common;
  const std::optional<ValueType> element = CommonType(*a.element, *b.element);
  if (!element) return std::nullopt;
  common.element = std::make_shared<const ValueType>(*element);
  return common;
}

ValueType TypeOf(const Value& value) {
  const auto of_pair = [](const auto& pair) -> const Value& { return pair.second; };
  if (value.is_tensor()) return ValueType::OfTensor(value.tensor());
  if (const Sequence* sequence = value.sequence()) {
    return ValueType::OfSequence(CommonTypeOfAll(*sequence, [](const Value& v) { return v; }));
  }
  if (const Int64Map* map = value.int64_map()) {
    return ValueType::OfMap(DType::kInt64, CommonTypeOfAll(*map, of_pair));
  }
  if (const StringMap* map = value.string_map()) {
    return ValueType::OfMap(DType::kString, CommonTypeOfAll(*map, of_pair));
  }
  return ValueType();
}

Status CheckType(const Value& value, const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::kTensor:
      return CheckTensorType(value, type);
    case ValueType::Kind::kSequence:
      return CheckSequenceType(value, type);
    case ValueType::Kind::kMap:
      return CheckMapType(value, type);
    case ValueType::Kind::kOptional:
      return value.empty() || !type.element ? OkStatus() : CheckType(value, *type.element);
    case ValueType::Kind::kSparseTensor:
      return UnimplementedError("sparse tensors are not supported as values");
    case ValueType::Kind::kUnknown:
      return OkStatus();
  }
  return OkStatus();
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

bool Value::aligned() const {
  if (is_tensor()) return tensor().aligned();
  if (const Sequence* held = sequence()) return AllAligned(*held);
  if (const Int64Map* held = int64_map()) return AllAligned(*held);
  if (const StringMap* held = string_map()) return AllAligned(*held);
  return true;
}

Result<Value> Value::Aligned(const std::shared_ptr<MemoryBudget>& budget) const {
  if (aligned()) return *this;
  if (const Sequence* held = sequence()) return AlignAll(*held, budget);
  if (const Int64Map* held = int64_map()) return AlignAll(*held, budget);
  if (const StringMap* held = string_map()) return AlignAll(*held, budget);
  KHEYA_ASSIGN_OR_RETURN(Tensor copy, tensor().Aligned(budget));
  return Value(std::move(copy));
}

}  // namespace kheya
