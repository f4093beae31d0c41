// Files of tests/cases/codec, and damage to them, for the tests of this room.
#ifndef KHEYA_CODEC_TEST_FILES_H_
#define KHEYA_CODEC_TEST_FILES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/function_ref.h"
#include "base/random.h"
#include "codec/byte_reader.h"

namespace kheya {

inline std::string CodecFolder(const std::string& name) {
  return std::string(KHEYA_SOURCE_DIR) + "/tests/cases/codec/" + name;
}

inline std::string ReadTestFile(const std::string& path) {
  Result<std::string> content = ReadFile(path);
  EXPECT_TRUE(content.ok()) << content.status().ToString();
  return content.ok() ? *content : std::string();
}

// The paths in a folder that end so, sorted.
inline std::vector<std::string> FilesIn(const std::string& folder, std::string_view ending) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().native().ends_with(ending)) paths.push_back(entry.path().native());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Calls `read` with every shorter beginning of `content`, and with `count` copies in which a few
// bytes differ, in memory of exactly that size so that sanitizers see reads outside.
inline void ForEachDamage(const std::string& content, int count,
                          FunctionRef<void(std::span<const std::byte>)> read) {
  for (size_t size = 0; size < content.size(); ++size) {
    const std::vector<char> cut(content.begin(), content.begin() + static_cast<ptrdiff_t>(size));
    read(AsBytes({cut.data(), cut.size()}));
  }
  Random random(content.size());
  for (int i = 0; i < count; ++i) {
    std::vector<char> changed(content.begin(), content.end());
    const uint64_t changes = 1 + random.UniformInt(4);
    for (uint64_t k = 0; k < changes; ++k) {
      // Headers matter most: half of the changes fall into the first 64 bytes.
      const uint64_t range =
          random.UniformInt(2) ? changed.size() : std::min<size_t>(changed.size(), 64);
      changed[random.UniformInt(range)] = static_cast<char>(random.Next());
    }
    read(AsBytes({changed.data(), changed.size()}));
  }
}

}  // namespace kheya

#endif  // KHEYA_CODEC_TEST_FILES_H_
