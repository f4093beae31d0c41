// What is looked at before a model is compiled.
#ifndef KHEYA_ENGINE_COMPILE_CHECKS_H_
#define KHEYA_ENGINE_COMPILE_CHECKS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "runtime/compile.h"

namespace kheya {

// Unimplemented lists what is not supported.
Status CheckSupported(const Graph& graph);

// Reads CompileOptions::tactics. InvalidArgument for an unknown name.
Status ParseTactics(const std::string& name, CompilePlanOptions* options);

// The graph's name, or the file's without its ending.
std::string NameOf(const Model& model);

// What the type says of kinds and elements. A file may declare a shape that no run has.
ValueType WithoutShapes(ValueType type);

// Whether all tensors have known shapes.
bool IsFixed(const std::vector<TensorInfo>& infos);

}  // namespace kheya

#endif  // KHEYA_ENGINE_COMPILE_CHECKS_H_
