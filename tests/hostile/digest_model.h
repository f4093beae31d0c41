// DigestModel: everything that happens to a model file before it runs.
#ifndef KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_
#define KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_

#include <string>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya::test {

// Imports, verifies, infers types, simplifies and lowers.
Status DigestModel(const std::string& path);
// The same for a graph already imported.
Status DigestGraph(Graph& graph);

}  // namespace kheya::test

#endif  // KHEYA_TESTS_HOSTILE_DIGEST_MODEL_H_
