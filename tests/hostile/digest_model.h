// DigestModel: everything that happens to a model file before it runs.
#ifndef KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_
#define KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_

#include <string>

#include "base/status.h"

namespace kheya::test {

// Loads the file, gathers its facts and compiles it, in at most 256 MiB.
Status DigestModel(const std::string& path);

}  // namespace kheya::test

#endif  // KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_
