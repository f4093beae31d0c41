// Packages (.kheya): a compiled model as one file that is mapped and used in place.
//
// A package holds what callers see of the model (info), its simplified graph with the weights, and
// for each kind of machine that it was compiled on: lowered graphs, choices of kernels and packed
// weights. On any other machine the simplified graph is compiled again.
#ifndef KHEYA_ENGINE_PACKAGE_H_
#define KHEYA_ENGINE_PACKAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "formats/package/constants.h"
#include "formats/package/package_file.h"
#include "graph/graph.h"
#include "kernels/pack_cache.h"
#include "runtime/plan_io.h"

namespace kheya {

// What the plans depend on among the options. Where it differs, the graph is compiled again.
std::string PlanOptionsKey(const CompileOptions& options);

struct PackageInfo {
  std::string options;  // PlanOptionsKey
  std::string name;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::optional<int64_t> macs;
  std::vector<std::string> warnings;  // of the import
};

// A package in use. Thread safety: const members.
class Package {
 public:
  // Reads everything but weights. InvalidArgument for a damaged file.
  static Result<std::shared_ptr<const Package>> Open(const MappedFile& file);

  const PackageFile& file() const { return file_; }
  const PackageInfo& info() const { return info_; }
  const std::vector<PackageConstant>& constants() const { return constants_; }
  // Of this machine; null where the package has none.
  const PlansRecord* plans() const { return plans_ ? &*plans_ : nullptr; }
  // Why there are none, for people: "it was compiled for ..., this is ...".
  const std::string& why_none() const { return why_none_; }

  const PlanRecord* FindPlan(const PlanShapes& shapes) const;
  // Verified, with types inferred.
  Result<Graph> PlanGraph(const PlanRecord& plan) const;
  Result<Graph> SimplifiedGraph() const;
  // Tells `cache` of the packed weights and of the hashes of constants.
  Status Feed(PackCache* cache) const;

 private:
  Status ReadInfo();
  void FindPlans();

  PackageFile file_;
  PackageInfo info_;
  std::vector<PackageConstant> constants_;
  std::optional<PlansRecord> plans_;
  uint32_t target_ = 0;
  std::string why_none_;
};

// Gathers a package while a model is compiled.
class PackageBuilder {
 public:
  // `graph` is the simplified one. `others`: a package of the same model, whose plans for other
  // kinds of machine are kept; may be null.
  static Result<std::unique_ptr<PackageBuilder>> Start(const PackageInfo& info, const Graph& graph,
                                                       std::shared_ptr<const Package> others);
  // Goes on from a package, which must hold plans of this machine.
  static std::unique_ptr<PackageBuilder> GoOn(std::shared_ptr<const Package> package);

  // A plan that is there for the same shapes goes.
  Status AddPlan(const PlanShapes& shapes, const Graph& lowered);
  size_t num_plans() const { return plans_.size(); }

  // Packed weights are those that `cache` has in use, and those of the package that this goes on
  // from. `sync` as in WriteFileAtomic.
  Status Write(const std::string& path, const PackCache& cache, const TacticChoices& choices,
               bool tuned, bool sync) const;

 private:
  PackageBuilder() = default;
  static void AppendOthers(const PackageFile& file, const std::string& machine,
                           std::vector<SectionContent>* sections);
  Status AddStored(std::vector<PackCache::Entry>* entries) const;

  std::string info_;
  std::string graph_;
  ConstantWriter constants_;
  std::vector<PlanRecord> plans_;
  std::shared_ptr<const Package> base_;    // null: from nothing
  std::shared_ptr<const Package> others_;  // may be null
};

}  // namespace kheya

#endif  // KHEYA_ENGINE_PACKAGE_H_
