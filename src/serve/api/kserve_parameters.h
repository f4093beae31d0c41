// The "parameters" objects of KServe v2: of a request, an input and an output.
#ifndef KHEYA_SERVE_API_KSERVE_PARAMETERS_H_
#define KHEYA_SERVE_API_KSERVE_PARAMETERS_H_

#include <cstdint>
#include <optional>

#include "base/json_reader.h"
#include "base/status.h"

namespace kheya {

struct RequestParameters {
  bool binary_outputs = false;  // for outputs that say nothing themselves
  uint64_t timeout_us = 0;      // 0: none
};
struct InputParameters {
  std::optional<uint64_t> binary_size;
};
struct OutputParameters {
  std::optional<bool> binary;
  int64_t classes = 0;  // 0: the tensor itself
};

// Each reads one object. Unknown names are left alone, names that are reserved for what is not
// supported are Unimplemented, and names that begin with "triton_" are refused.
Status ReadParameters(JsonReader& reader, RequestParameters* out);
Status ReadParameters(JsonReader& reader, InputParameters* out);
Status ReadParameters(JsonReader& reader, OutputParameters* out);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_KSERVE_PARAMETERS_H_
