// Json: a small JSON document as a value, for settings, metadata, reports and logs. Tensors in
// request bodies go through base/json_reader.h instead.
//
//   KHEYA_ASSIGN_OR_RETURN(Json spec, Json::Parse(text));
//   if (const Json* mean = spec.Find("mean")) ...
//   Json report = Json::Object();
//   report["accuracy"] = 0.93;
//   std::string text = report.Dump(2);
//
// Thread safety: a value.
#ifndef KHEYA_BASE_JSON_H_
#define KHEYA_BASE_JSON_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"

namespace kheya {

struct JsonLimits {
  size_t max_bytes = size_t{64} << 20;
  int max_depth = 100;
};

class Json {
 public:
  using Items = std::vector<Json>;
  using Members = std::vector<std::pair<std::string, Json>>;  // in the order of the text
  enum class Type { kNull, kBool, kInt, kDouble, kString, kArray, kObject };

  Json() = default;  // null
  Json(bool value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(FromInteger(value)) {}
  Json(double value) : value_(value) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}
  template <typename T>
  Json(const std::vector<T>& values) : value_(Items(values.begin(), values.end())) {}
  static Json Array() { return Json(Value(Items())); }
  static Json Object() { return Json(Value(Members())); }

  // RFC 8259: no comments, no trailing commas, no NaN. Refuses duplicate keys. InvalidArgument says
  // where; ResourceExhausted when a limit is passed. Integers outside int64 become doubles.
  static Result<Json> Parse(std::string_view text, const JsonLimits& limits = JsonLimits());
  // On one line when `indent` is negative. Doubles keep every bit; NaN and infinities, which JSON
  // lacks, are written as null, and bytes that are not UTF-8 as U+FFFD.
  std::string Dump(int indent = -1) const;

  Type type() const { return static_cast<Type>(value_.index()); }
  // "null", "a bool", "an integer", "a number", "a string", "an array", "an object".
  static const char* TypeName(Type type);
  bool is_null() const { return type() == Type::kNull; }
  bool is_array() const { return type() == Type::kArray; }
  bool is_object() const { return type() == Type::kObject; }
  bool is_string() const { return type() == Type::kString; }
  bool is_number() const { return type() == Type::kInt || type() == Type::kDouble; }

  // The value, or InvalidArgument with what was found. GetDouble takes integers too.
  Result<bool> GetBool() const;
  Result<int64_t> GetInt64() const;
  Result<double> GetDouble() const;
  Result<std::string> GetString() const;
  // Empty when this is not an array or object.
  const Items& items() const;
  const Members& members() const;
  // The member, or null when there is none or this is not an object.
  const Json* Find(std::string_view key) const;

  // The member, made (null) when it is missing. Anything that is not an object becomes one.
  Json& operator[](std::string_view key);
  // Anything that is not an array becomes one.
  void Append(Json item);

  bool operator==(const Json& other) const = default;

 private:
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string, Items, Members>;
  explicit Json(Value value) : value_(std::move(value)) {}
  template <std::integral T>
  static Value FromInteger(T value) {
    if (!std::in_range<int64_t>(value)) return static_cast<double>(value);
    return static_cast<int64_t>(value);
  }
  Value value_;
};

}  // namespace kheya

#endif  // KHEYA_BASE_JSON_H_
