#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/string_util.h"

namespace kheya {
namespace {

using Library = nlohmann::ordered_json;

// Builds a Json from the library's events; any refusal ends in `status`.
class Builder : public nlohmann::json_sax<Library> {
 public:
  explicit Builder(int max_depth) : max_depth_(max_depth) {}

  Result<Json> Take() {
    if (!status_.ok()) return status_;
    return std::move(root_);
  }

  bool null() override { return Add(Json()); }
  bool boolean(bool value) override { return Add(Json(value)); }
  bool number_integer(number_integer_t value) override { return Add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Add(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return Add(Json(value)); }
  bool string(string_t& value) override { return Add(Json(std::move(value))); }
  bool binary(binary_t&) override { return Refuse(InternalError("binary value in json text")); }
  bool start_object(std::size_t) override { return Open(Json::Object()); }
  bool start_array(std::size_t) override { return Open(Json::Array()); }
  bool end_array() override { return Close(); }
  bool end_object() override { return CheckKeys() && Close(); }
  bool key(string_t& key) override {
    key_ = std::move(key);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception&) override {
    return Refuse(InvalidArgumentError("malformed json at byte {}, near '{}'", position,
                                       Abbreviate(token, 40)));
  }

 private:
  struct Level {
    Json value;
    std::string key;  // in the level above
  };

  bool Refuse(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  bool Add(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (Json& parent = levels_.back().value; parent.is_array()) {
      parent.Append(std::move(value));
    } else {
      const_cast<Json::Members&>(parent.members()).emplace_back(std::move(key_), std::move(value));
    }
    return true;
  }

  bool Open(Json value) {
    if (static_cast<int>(levels_.size()) >= max_depth_) {
      return Refuse(ResourceExhaustedError("json is nested deeper than {} levels", max_depth_));
    }
    levels_.push_back({std::move(value), std::move(key_)});
    return true;
  }

  bool Close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    key_ = std::move(level.key);
    return Add(std::move(level.value));
  }

  bool CheckKeys() {
    std::vector<std::string_view> keys;
    for (const auto& [key, value] : levels_.back().value.members()) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    if (twice == keys.end()) return true;
    return Refuse(InvalidArgumentError("json has the key '{}' twice", Abbreviate(*twice)));
  }

  const int max_depth_;
  std::vector<Level> levels_;
  std::string key_;
  Json root_;
  Status status_;
};

Library ToLibrary(const Json& json) {
  switch (json.type()) {
    case Json::Type::kNull:
      return nullptr;
    case Json::Type::kBool:
      return *json.GetBool();
    case Json::Type::kInt:
      return *json.GetInt64();
    case Json::Type::kDouble:
      return *json.GetDouble();
    case Json::Type::kString:
      return *json.GetString();
    case Json::Type::kArray: {
      Library array = Library::array();
      for (const Json& item : json.items()) array.push_back(ToLibrary(item));
      return array;
    }
    case Json::Type::kObject: {
      Library::object_t object;
      for (const auto& [key, value] : json.members()) object.emplace_back(key, ToLibrary(value));
      return object;
    }
  }
  return nullptr;
}

Status WrongType(const char* expected, Json::Type found) {
  return InvalidArgumentError("found {}, expected {}", Json::TypeName(found), expected);
}

}  // namespace

Result<Json> Json::Parse(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return ResourceExhaustedError("found {} bytes of json, expected at most {}", text.size(),
                                  limits.max_bytes);
  }
  Builder builder(limits.max_depth);
  Library::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take();
}

std::string Json::Dump(int indent) const {
  return ToLibrary(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

const char* Json::TypeName(Type type) {
  static constexpr const char* kNames[] = {"null",     "a bool",   "an integer", "a number",
                                           "a string", "an array", "an object"};
  return kNames[static_cast<size_t>(type)];
}

Result<bool> Json::GetBool() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  return WrongType("a bool", type());
}

Result<int64_t> Json::GetInt64() const {
  if (const int64_t* value = std::get_if<int64_t>(&value_)) return *value;
  return WrongType("an integer", type());
}

Result<double> Json::GetDouble() const {
  if (const double* value = std::get_if<double>(&value_)) return *value;
  if (const int64_t* value = std::get_if<int64_t>(&value_)) return static_cast<double>(*value);
  return WrongType("a number", type());
}

Result<std::string> Json::GetString() const {
  if (const std::string* value = std::get_if<std::string>(&value_)) return *value;
  return WrongType("a string", type());
}

const Json::Items& Json::items() const {
  static const Items empty;
  const Items* items = std::get_if<Items>(&value_);
  return items ? *items : empty;
}

const Json::Members& Json::members() const {
  static const Members empty;
  const Members* members = std::get_if<Members>(&value_);
  return members ? *members : empty;
}

const Json* Json::Find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return &value;
  }
  return nullptr;
}

Json& Json::operator[](std::string_view key) {
  if (!is_object()) *this = Object();
  Members& members = std::get<Members>(value_);
  for (auto& [name, value] : members) {
    if (name == key) return value;
  }
  return members.emplace_back(std::string(key), Json()).second;
}

void Json::Append(Json item) {
  if (!is_array()) *this = Array();
  std::get<Items>(value_).push_back(std::move(item));
}

}  // namespace kheya
