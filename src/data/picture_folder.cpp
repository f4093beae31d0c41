#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/string_util.h"
#include "codec/picture.h"
#include "data/datasets.h"

namespace kheya {
namespace {

namespace fs = std::filesystem;

struct Sample {
  std::string path;
  int64_t label = 0;
};

constexpr size_t kMaxSamples = 100000000;

// Names in `folder` that are folders or files, sorted.
Result<std::vector<std::string>> List(const std::string& folder, bool folders) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const bool wanted = folders ? it->is_directory(ignored) : it->is_regular_file(ignored);
    const std::string name = it->path().filename().string();
    if (wanted && name[0] != '.') names.push_back(name);
  }
  if (error) return NotFoundError("cannot list '{}': {}", folder, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

int64_t ClassIndex(const ModelSpec& spec, const std::string& name, int64_t place) {
  const auto label = std::find(spec.labels.begin(), spec.labels.end(), name);
  if (label != spec.labels.end()) return label - spec.labels.begin();
  const Result<int64_t> number = ParseInt64(name);
  return number.ok() && *number >= 0 ? *number : place;
}

class PictureFolder : public Dataset {
 public:
  PictureFolder(std::vector<Sample> samples, const ModelSpec& spec)
      : samples_(std::move(samples)), spec_(spec) {}

  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  const char* kind() const override { return "pictures"; }

  Result<Batch> Next(int64_t count) override {
    count = std::min(count, size() - at_);
    BatchBuilder builder(spec_, count);
    for (int64_t i = 0; i < count; ++i) {
      const Sample& sample = samples_[static_cast<size_t>(at_++)];
      Status status = AddFile(sample, &builder);
      if (!status.ok()) return std::move(status).WithContext("file '{}'", sample.path);
    }
    return builder.Finish();
  }

 private:
  Status AddFile(const Sample& sample, BatchBuilder* builder) {
    KHEYA_ASSIGN_OR_RETURN(const MappedFile file,
                           MappedFile::Open(sample.path, {.max_bytes = 1u << 28, .copy = true}));
    KHEYA_ASSIGN_OR_RETURN(const Tensor picture,
                           DecodePicture(file.bytes(), static_cast<int>(spec_.channels())));
    return builder->Add(picture, sample.label);
  }

  const std::vector<Sample> samples_;
  const ModelSpec spec_;
  int64_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<Dataset>> OpenPictureFolder(const std::string& folder,
                                                   const ModelSpec& spec) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<std::string> classes, List(folder, true));
  std::vector<Sample> samples;
  for (size_t c = 0; c < classes.size(); ++c) {
    const std::string class_folder = folder + "/" + classes[c];
    KHEYA_ASSIGN_OR_RETURN(const std::vector<std::string> files, List(class_folder, false));
    if (samples.size() + files.size() > kMaxSamples) {
      return ResourceExhaustedError("found over {} files", kMaxSamples);
    }
    const int64_t label = ClassIndex(spec, classes[c], static_cast<int64_t>(c));
    for (const std::string& file : files) samples.push_back({class_folder + "/" + file, label});
  }
  if (samples.empty()) {
    return InvalidArgumentError("found neither IDX files nor a folder of pictures for each class");
  }
  return std::unique_ptr<Dataset>(std::make_unique<PictureFolder>(std::move(samples), spec));
}

}  // namespace kheya
