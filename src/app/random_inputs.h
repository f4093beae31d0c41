// Inputs made up for a model: for `run --random` and `bench`.
#ifndef KHEYA_APP_RANDOM_INPUTS_H_
#define KHEYA_APP_RANDOM_INPUTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace kheya {

// The shape of every input: from `shapes` by name, else as declared, with a first dimension that is
// not known taken as `batch` and other unknown ones as 1. InvalidArgument when `shapes` names no
// input, does not fit, a known first dimension is not `batch` (when batch is above 0), or an input
// is no tensor: a sequence, map or optional.
Result<std::map<std::string, Shape>> ChooseShapes(const std::vector<TensorInfo>& infos,
                                                  const std::map<std::string, Shape>& shapes,
                                                  int64_t batch);

// Floats and the parts of complex numbers uniform in [-1, 1), of float8e8m0 their magnitudes;
// integers 0 or 1, bools either, strings of 1 to 8 letters; the same for the same seed everywhere.
Result<std::vector<Value>> RandomInputs(const std::vector<TensorInfo>& infos,
                                        const std::map<std::string, Shape>& shapes, uint64_t seed);

}  // namespace kheya

#endif  // KHEYA_APP_RANDOM_INPUTS_H_
