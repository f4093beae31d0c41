// Models whose files say nothing of sizes.
#ifndef KHEYA_FORMATS_TESTING_SYMBOLIC_MODEL_H_
#define KHEYA_FORMATS_TESTING_SYMBOLIC_MODEL_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace kheya::test {

// The ModelProto with every dimension of every declared input, output and value, in subgraphs and
// functions too, made a symbol of its own ("d0", "d1", ...). Constants keep their sizes.
Result<std::string> WithSymbolicDimensions(std::string_view model);

}  // namespace kheya::test

#endif  // KHEYA_FORMATS_TESTING_SYMBOLIC_MODEL_H_
