// The one request type. Every protocol turns what it receives into an InferRequest, and an
// InferResponse into what it sends.
#ifndef KHEYA_SERVE_CORE_INFER_H_
#define KHEYA_SERVE_CORE_INFER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu_ledger.h"
#include "base/status.h"
#include "serve/core/served_model.h"
#include "tensor/value.h"

namespace kheya {

// An output that the client asks for.
struct RequestedOutput {
  size_t index = 0;     // in the model's outputs
  int64_t classes = 0;  // above 0: the best so many classes instead of the tensor
};

// Belongs to one thread at a time; another thread may set what `cancel` points to.
struct InferRequest {
  std::shared_ptr<ServedModel> model;    // name and version are its own
  std::string id;                        // the client's; empty: none
  std::vector<Value> inputs;             // in the order of the model's inputs, checked
  std::vector<RequestedOutput> outputs;  // in the order of the answer; empty: all
  Deadline deadline = kNoDeadline;
  const std::atomic<bool>* cancel = nullptr;
};

struct InferOutput {
  std::string name;
  Value value;
};

struct InferResponse {
  std::vector<InferOutput> outputs;
};

// Runs the model. Unavailable when it is not ready; InvalidArgument when an output is asked for by
// an index that the model lacks; DeadlineExceeded, Cancelled; and what the model itself says.
Result<InferResponse> Infer(const InferRequest& request);

// A request for `model` with `inputs`, checked: every input but an optional must be there.
// InvalidArgument names those that are missing.
Status CheckComplete(const InferRequest& request);

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_INFER_H_
