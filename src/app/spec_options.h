// Flags that say what a model file does not: its ModelSpec.
#ifndef KHEYA_APP_SPEC_OPTIONS_H_
#define KHEYA_APP_SPEC_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "data/model_spec.h"
#include "engine/engine.h"

namespace CLI {
class App;
}

namespace kheya {

struct SpecOptions {
  std::string file;  // --spec
  std::string size;  // --size HEIGHTxWIDTH
  std::string layout;
  std::string color;
  std::string resize;
  std::optional<double> scale;
  std::vector<double> mean;
  std::vector<double> std;
  std::string labels;  // --labels FILE, a label a line
  std::string postprocess;

  void AddTo(CLI::App& app);
  // The model's own spec (or --spec FILE) with the flags over it.
  Result<ModelSpec> Resolve(const CompiledModel& model) const;
};

}  // namespace kheya

#endif  // KHEYA_APP_SPEC_OPTIONS_H_
