#include "base/status.h"

#include "base/string_util.h"

namespace kheya {
namespace {

constexpr StatusCodeInfo kCodes[] = {
#define KHEYA_STATUS_CODE(name, number, id, http, exit, meaning) \
  {StatusCode::k##name, id, http, exit, meaning},
#include "base/status_codes.inc"
#undef KHEYA_STATUS_CODE
};

const std::string& EmptyString() {
  static const std::string empty;
  return empty;
}

}  // namespace

const StatusCodeInfo& GetStatusCodeInfo(StatusCode code) {
  for (const StatusCodeInfo& info : kCodes) {
    if (info.code == code) return info;
  }
  return kCodes[static_cast<int>(StatusCode::kUnknown)];
}

Status::Status(StatusCode code, std::string_view message) {
  if (code == StatusCode::kOk) return;
  rep_ = std::make_unique<Rep>(Rep{code, EscapeControls(message), ""});
}

Status::Status(const Status& other)
    : rep_(other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr) {}

Status& Status::operator=(const Status& other) {
  if (this != &other) rep_ = other.rep_ ? std::make_unique<Rep>(*other.rep_) : nullptr;
  return *this;
}

const std::string& Status::message() const { return rep_ ? rep_->message : EmptyString(); }

const std::string& Status::hint() const { return rep_ ? rep_->hint : EmptyString(); }

std::string Status::ToString() const {
  const char* id = GetStatusCodeInfo(code()).id;
  return ok() ? id : fmt::format("{}: {}", id, message());
}

Status Status::WithHint(std::string hint) && {
  if (rep_) rep_->hint = std::move(hint);
  return std::move(*this);
}

void Status::AddContext(std::string_view context) {
  if (rep_) rep_->message = fmt::format("{}: {}", EscapeControls(context), rep_->message);
}

}  // namespace kheya
