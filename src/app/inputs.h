// The --input flags of `kheya run`: JSON on the command line, or files.
#ifndef KHEYA_APP_INPUTS_H_
#define KHEYA_APP_INPUTS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "data/model_spec.h"
#include "engine/engine.h"

namespace kheya {

// Each of `flags` is JSON, @FILE, NAME=JSON or NAME=@FILE; without a name it is for the only input
// or, an .npz file, for those that its arrays name. Files are .npy, .npz, .pb (TensorProto),
// .json, or pictures, which `spec` turns into an input. What a file is is read
// from its content, save JSON and .pb. Returns values in the order of `infos`.
// InvalidArgument names the input that is missing, unknown, given twice or malformed.
Result<std::vector<Value>> ReadInputs(const std::vector<TensorInfo>& infos,
                                      const std::vector<std::string>& flags, const ModelSpec& spec);

}  // namespace kheya

#endif  // KHEYA_APP_INPUTS_H_
