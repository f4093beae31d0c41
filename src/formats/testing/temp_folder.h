// TempFolder: a folder of files that goes away with the object, for tests.
#ifndef KHEYA_FORMATS_TESTING_TEMP_FOLDER_H_
#define KHEYA_FORMATS_TESTING_TEMP_FOLDER_H_

#include <string>
#include <string_view>

namespace kheya::test {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file and gives its path.
  std::string Write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

}  // namespace kheya::test

#endif  // KHEYA_FORMATS_TESTING_TEMP_FOLDER_H_
