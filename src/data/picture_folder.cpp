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

// Letters and digits in lower case, everything else as one '-': "T-shirt/top" is "t-shirt-top",
// since no folder can have a slash in its name.
std::string Slug(std::string_view name) {
  std::string slug;
  for (const char c : ToLower(name)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
    if (plain || slug.empty() || slug.back() != '-') slug.push_back(plain ? c : '-');
  }
  return slug;
}

// The class of each folder; see OpenDataset.
Result<std::vector<int64_t>> ClassIndices(const ModelSpec& spec,
                                          const std::vector<std::string>& folders) {
  std::vector<int64_t> indices;
  const auto all_numbers = std::all_of(folders.begin(), folders.end(), [](const auto& name) {
    const Result<int64_t> number = ParseInt64(name);
    return number.ok() && *number >= 0;
  });
  for (const std::string& folder : folders) {
    const auto label =
        std::find_if(spec.labels.begin(), spec.labels.end(),
                     [&](const std::string& label) { return Slug(label) == Slug(folder); });
    if (label != spec.labels.end()) {
      indices.push_back(label - spec.labels.begin());
    } else if (all_numbers) {
      indices.push_back(*ParseInt64(folder));
    } else if (spec.labels.empty()) {
      indices.push_back(static_cast<int64_t>(indices.size()));
    } else {
      return InvalidArgumentError("found the folder '{}', expected a label of the model, as '{}'",
                                  EscapeControls(Abbreviate(folder)), spec.labels[0]);
    }
  }
  return indices;
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
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> labels, ClassIndices(spec, classes));
  std::vector<Sample> samples;
  for (size_t c = 0; c < classes.size(); ++c) {
    const std::string class_folder = folder + "/" + classes[c];
    KHEYA_ASSIGN_OR_RETURN(const std::vector<std::string> files, List(class_folder, false));
    if (samples.size() + files.size() > kMaxSamples) {
      return ResourceExhaustedError("found over {} files", kMaxSamples);
    }
    for (const std::string& file : files) {
      std::string path = class_folder;
      samples.push_back({path.append("/").append(file), labels[c]});
    }
  }
  if (samples.empty()) {
    return InvalidArgumentError("found neither IDX files nor a folder of pictures for each class");
  }
  return std::unique_ptr<Dataset>(std::make_unique<PictureFolder>(std::move(samples), spec));
}

}  // namespace kheya
