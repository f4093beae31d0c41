#include "serve/api/answer_body.h"

#include <algorithm>
#include <exception>

#include "base/checked_math.h"

namespace kheya {
namespace {

constexpr size_t kBytesBetweenChecks = 64 << 10;

}  // namespace

Result<std::string*> AnswerBody::Extend(size_t bytes) {
  size_t end = 0;
  if (!CheckedAdd(text_.size(), bytes, &end)) {
    return ResourceExhaustedError("found an answer of more than the address space");
  }
  if (end > checked_) {
    KHEYA_RETURN_IF_ERROR(CheckAlive());
    checked_ = end + kBytesBetweenChecks;
  }
  if (end > text_.capacity()) {
    if (Status status = Grow(std::max(end, 2 * text_.capacity())); !status.ok()) {
      return std::move(status).WithContext("found {} bytes of an answer that goes on",
                                           text_.size());
    }
  }
  return &text_;
}

Status AnswerBody::Append(std::string_view bytes) {
  KHEYA_ASSIGN_OR_RETURN(std::string* const text, Extend(bytes.size()));
  for (; bytes.size() > kBytesBetweenChecks; bytes.remove_prefix(kBytesBetweenChecks)) {
    KHEYA_RETURN_IF_ERROR(CheckAlive());
    text->append(bytes.substr(0, kBytesBetweenChecks));
  }
  text->append(bytes);
  return OkStatus();
}

void AnswerBody::MoveTo(HttpResponse* response) && {
  response->body = std::move(text_);
  response->memory = std::move(memory_);
}

Status AnswerBody::CheckAlive() const {
  if (cancel_ != nullptr && cancel_->load(std::memory_order_relaxed)) {
    return CancelledError("the request was given up while its answer was written");
  }
  if (deadline_ != kNoDeadline && Clock::now() >= deadline_) {
    return DeadlineExceededError("the deadline passed after {} bytes of the answer were written",
                                 text_.size());
  }
  return OkStatus();
}

// Both the old and the new text are there while one is copied.
Status AnswerBody::Grow(size_t room) {
  KHEYA_ASSIGN_OR_RETURN(Reservation wider, Reservation::Take(budget_, room));
  try {
    text_.reserve(room);
  } catch (const std::exception&) {
    return ResourceExhaustedError("the system refused {} bytes", room);
  }
  memory_ = std::make_shared<const Reservation>(std::move(wider));
  return OkStatus();
}

}  // namespace kheya
