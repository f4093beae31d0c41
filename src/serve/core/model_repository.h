// ModelRepository: the models that a server answers for.
#ifndef KHEYA_SERVE_CORE_MODEL_REPOSITORY_H_
#define KHEYA_SERVE_CORE_MODEL_REPOSITORY_H_

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "serve/core/served_model.h"

namespace kheya {

// A request looks its model up once and keeps the handle. Thread safety: all members.
class ModelRepository {
 public:
  // AlreadyExists when the name and version are taken.
  Status Add(std::shared_ptr<ServedModel> model);

  // `version` empty: the one added last. NotFound naming what was asked for.
  Result<std::shared_ptr<ServedModel>> Find(std::string_view name,
                                            std::string_view version = {}) const;
  // The model of endpoints that name none. FailedPrecondition unless there is exactly one.
  Result<std::shared_ptr<ServedModel>> Only() const;
  // In the order in which they were added.
  std::vector<std::shared_ptr<ServedModel>> All() const;
  // True when there is a model and every one is ready.
  bool AllReady() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<ServedModel>> models_;
};

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_MODEL_REPOSITORY_H_
