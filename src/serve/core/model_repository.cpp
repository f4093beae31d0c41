#include "serve/core/model_repository.h"

#include <algorithm>

#include "base/string_util.h"

namespace kheya {

Status ModelRepository::Add(std::shared_ptr<ServedModel> model) {
  const std::lock_guard lock(mutex_);
  for (const std::shared_ptr<ServedModel>& other : models_) {
    if (other->name() == model->name() && other->version() == model->version()) {
      return AlreadyExistsError("model '{}' has a version '{}' already", model->name(),
                                model->version());
    }
  }
  models_.push_back(std::move(model));
  return OkStatus();
}

Result<std::shared_ptr<ServedModel>> ModelRepository::Find(std::string_view name,
                                                           std::string_view version) const {
  const std::lock_guard lock(mutex_);
  bool named = false;
  for (auto model = models_.rbegin(); model != models_.rend(); ++model) {
    if ((*model)->name() != name) continue;
    named = true;
    if (version.empty() || (*model)->version() == version) return *model;
  }
  if (!named) return NotFoundError("there is no model '{}'", Abbreviate(name));
  return NotFoundError("model '{}' has no version '{}'", name, Abbreviate(version));
}

Result<std::shared_ptr<ServedModel>> ModelRepository::Only() const {
  const std::lock_guard lock(mutex_);
  if (models_.size() == 1) return models_.front();
  return FailedPreconditionError("found {} models, expected one where no model is named",
                                 models_.size());
}

std::vector<std::shared_ptr<ServedModel>> ModelRepository::All() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

bool ModelRepository::AllReady() const {
  const std::lock_guard lock(mutex_);
  return !models_.empty() && std::all_of(models_.begin(), models_.end(), [](const auto& model) {
    return model->state() == ModelState::kReady;
  });
}

}  // namespace kheya
