// Value: what flows along an edge at run time (a tensor, a sequence, an optional or a map), and
// ValueType: what is known about it before.
#ifndef KHEYA_TENSOR_VALUE_H_
#define KHEYA_TENSOR_VALUE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace kheya {

// What is known of a value. `kUnknown`: nothing yet.
struct ValueType {
  enum class Kind : uint8_t { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap };

  Kind kind = Kind::kUnknown;
  DType dtype = DType::kUndefined;           // of a tensor; of a map's keys
  std::optional<SymbolicShape> shape;        // of a tensor; nullopt: rank unknown
  std::shared_ptr<const ValueType> element;  // of a sequence, an optional, a map's values

  static ValueType OfTensor(DType dtype, std::optional<SymbolicShape> shape = std::nullopt);
  static ValueType OfTensor(const Tensor& tensor);
  static ValueType OfSequence(ValueType element);
  static ValueType OfOptional(ValueType element);
  static ValueType OfMap(DType key, ValueType value);

  bool is_tensor() const { return kind == Kind::kTensor; }
  // The known shape of a tensor, if all of it is known.
  std::optional<Shape> KnownShape() const;
  std::string ToString() const;  // "float32[batch,3]", "seq(float32?)", "map(int64,float32[])"
  // The inverse of ToString.
  static Result<ValueType> Parse(std::string_view text);
  bool operator==(const ValueType& other) const;  // same form (unknown dims are the same)
};

class Value;
// The type of a value; what the elements of a sequence or a map do not share is unknown. An
// optional without a value has kind kUnknown.
ValueType TypeOf(const Value& value);
// Ok when `type` is true of `value`; what the type does not know is true of any. InvalidArgument
// saying what was found and expected.
Status CheckType(const Value& value, const ValueType& type);
// What is true of values of both types; nullopt when they differ in kind or element type.
std::optional<ValueType> CommonType(const ValueType& a, const ValueType& b);

using Sequence = std::vector<Value>;
// Keys are int64 or strings.
using Int64Map = std::map<int64_t, Value>;
using StringMap = std::map<std::string, Value>;

class Value {
 public:
  Value() = default;  // an optional without a value
  Value(Tensor tensor) : content_(std::move(tensor)) {}
  explicit Value(Sequence sequence);
  explicit Value(Int64Map map);
  explicit Value(StringMap map);

  bool empty() const { return std::holds_alternative<std::monostate>(content_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(content_); }
  const Tensor& tensor() const { return std::get<Tensor>(content_); }
  Tensor& tensor() { return std::get<Tensor>(content_); }
  const Sequence* sequence() const;  // null when it is not one
  const Int64Map* int64_map() const;
  const StringMap* string_map() const;

  // This value with every tensor of it aligned for its type; what is aligned is shared, not copied.
  bool aligned() const;
  Result<Value> Aligned(const std::shared_ptr<MemoryBudget>& budget = nullptr) const;

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>,
               std::shared_ptr<const Int64Map>, std::shared_ptr<const StringMap>>
      content_;
};

}  // namespace kheya

#endif  // KHEYA_TENSOR_VALUE_H_
