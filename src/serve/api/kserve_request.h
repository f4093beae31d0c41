// KServe v2 inference requests (Open Inference Protocol with the binary tensor data extension):
// JSON, then raw tensors in the order of the inputs.
// https://github.com/kserve/open-inference-protocol, specification/protocol/inference_rest.md
#ifndef KHEYA_SERVE_API_KSERVE_REQUEST_H_
#define KHEYA_SERVE_API_KSERVE_REQUEST_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "serve/api/http_message.h"
#include "serve/core/infer.h"

namespace kheya {

struct KserveRequest {
  InferRequest infer;
  // For each output of the answer, whether it is sent in binary.
  std::vector<bool> binary;
};

// InvalidArgument with what was found and expected; Unimplemented naming what is not supported
// (shared memory, sequences).
Result<KserveRequest> ParseKserveRequest(std::shared_ptr<ServedModel> model,
                                         const HttpRequest& http);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_KSERVE_REQUEST_H_
