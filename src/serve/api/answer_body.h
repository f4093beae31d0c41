// AnswerBody: the bytes of an answer, which grow only while the request is alive and the memory
// budget allows.
//
//   AnswerBody body(request.deadline, request.cancel);
//   KHEYA_RETURN_IF_ERROR(AppendJsonValue(value, &body));
//   std::move(body).MoveTo(response);
#ifndef KHEYA_SERVE_API_ANSWER_BODY_H_
#define KHEYA_SERVE_API_ANSWER_BODY_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/allocator.h"
#include "base/cpu_ledger.h"
#include "base/status.h"
#include "serve/api/http_message.h"

namespace kheya {

class AnswerBody {
 public:
  // `cancel` null: cannot be cancelled; `budget` null: ProcessBudget().
  explicit AnswerBody(Deadline deadline = kNoDeadline, const std::atomic<bool>* cancel = nullptr,
                      std::shared_ptr<MemoryBudget> budget = nullptr)
      : deadline_(deadline), cancel_(cancel), budget_(std::move(budget)) {}

  // The text, with room for `bytes` more, which the caller may append; valid until the next call.
  // Cancelled and DeadlineExceeded, looked at once every 64 KiB; ResourceExhausted.
  Result<std::string*> Extend(size_t bytes);
  // As Extend.
  Status Append(std::string_view bytes);

  const std::string& text() const { return text_; }
  // The text alone, no longer counted in the budget.
  std::string TakeText() && { return std::move(text_); }
  // The text as the response's body, counted in the budget as long as the response lives.
  void MoveTo(HttpResponse* response) &&;

 private:
  Status CheckAlive() const;
  Status Grow(size_t room);

  const Deadline deadline_;
  const std::atomic<bool>* const cancel_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::string text_;
  size_t checked_ = 0;  // no look at the clock until the text is this long
  std::shared_ptr<const Reservation> memory_;
};

}  // namespace kheya

#endif  // KHEYA_SERVE_API_ANSWER_BODY_H_
