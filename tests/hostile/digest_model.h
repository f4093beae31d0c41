// DigestModel: everything that happens to a model file.
#ifndef KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_
#define KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_

#include <string>

#include "base/status.h"

namespace kheya::test {

struct Digested {
  Status status;          // of the first step that failed
  bool compiled = false;  // it came as far as a run
  double seconds = 0;     // of the processor
};

// Loads the file, gathers its facts, writes it as a model again, compiles it and runs it once on
// small inputs, in at most 256 MiB; the run has 150 ms.
Digested DigestModel(const std::string& path);

}  // namespace kheya::test

#endif  // KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_
