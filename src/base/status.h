// Status: the outcome of anything that can fail, and Result<T>: a value or a Status.
//
//   Result<Model> Load(const std::string& path) {
//     KHEYA_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path, limits));
//     if (file.size() == 0) return InvalidArgument("found an empty file, expected a model");
//     return Parse(file).WithContext("file '{}'", path);
//   }
//
// Message text: lower case, no period, what was found against what was expected. Context is put
// in front at boundaries: "file 'm.onnx': node 'conv1' (Conv): ...". A hint says what to do next
// and is shown on a line of its own. No exceptions cross a room's interface.
// Thread safety: a Status is a value.
#ifndef KHEYA_BASE_STATUS_H_
#define KHEYA_BASE_STATUS_H_

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kheya {

enum class StatusCode : int {
#define KHEYA_STATUS_CODE(name, number, id, http, exit, meaning) k##name = number,
#include "base/status_codes.inc"
#undef KHEYA_STATUS_CODE
};

// One row of the table of codes.
struct StatusCodeInfo {
  StatusCode code;
  const char* id;
  int http_status;
  int exit_code;
  const char* meaning;
};

// The row of `code`; the row of kUnknown for a number that is not a code.
const StatusCodeInfo& GetStatusCodeInfo(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string_view message);
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  // Contexts and text on one line, control characters escaped; empty when ok.
  const std::string& message() const;
  // What to do about it; empty when nothing is known.
  const std::string& hint() const;
  // "INVALID_ARGUMENT: message", or "OK".
  std::string ToString() const;

  // Returns this status with "context: " before its message; an ok status stays as it is.
  template <typename... Args>
  Status WithContext(fmt::format_string<Args...> format, Args&&... args) && {
    if (rep_) AddContext(fmt::format(format, std::forward<Args>(args)...));
    return std::move(*this);
  }
  Status WithHint(std::string hint) &&;
  void AddContext(std::string_view context);

 private:
  struct Rep {
    StatusCode code;
    std::string message;
    std::string hint;
  };
  std::unique_ptr<Rep> rep_;
};

inline Status OkStatus() { return Status(); }

// Makers, one for each code: InvalidArgument("found {}, expected {}", found, expected).
#define KHEYA_STATUS_CODE(name, number, id, http, exit, meaning)                          \
  template <typename... Args>                                                             \
  Status name##Error(fmt::format_string<Args...> format, Args&&... args) {                \
    return Status(StatusCode::k##name, fmt::format(format, std::forward<Args>(args)...)); \
  }
#include "base/status_codes.inc"
#undef KHEYA_STATUS_CODE

// A value of T or the status (never ok) that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {
    if (status_.ok()) status_ = Status(StatusCode::kInternal, "a result was made from ok");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  // Must be ok.
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  template <typename... Args>
  Result WithContext(fmt::format_string<Args...> format, Args&&... args) && {
    if (!ok()) status_.AddContext(fmt::format(format, std::forward<Args>(args)...));
    return std::move(*this);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

#define KHEYA_CONCAT_INNER_(a, b) a##b
#define KHEYA_CONCAT_(a, b) KHEYA_CONCAT_INNER_(a, b)

#define KHEYA_RETURN_IF_ERROR(expression)                                      \
  do {                                                                         \
    if (::kheya::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

// KHEYA_ASSIGN_OR_RETURN(auto x, F()): x is the value, or the function returns the status.
#define KHEYA_ASSIGN_OR_RETURN(declaration, expression) \
  KHEYA_ASSIGN_OR_RETURN_(KHEYA_CONCAT_(result_, __LINE__), declaration, expression)
#define KHEYA_ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                                    \
  if (!result.ok()) return std::move(result).status();           \
  declaration = std::move(result).value()

}  // namespace kheya

#endif  // KHEYA_BASE_STATUS_H_
