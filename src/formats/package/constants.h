// The constants of a package: a table of types, shapes, places and content hashes, and their bytes,
// each once, aligned so that they are used where they lie.
#ifndef KHEYA_FORMATS_PACKAGE_CONSTANTS_H_
#define KHEYA_FORMATS_PACKAGE_CONSTANTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// Larger ones are checked when they are used.
inline constexpr size_t kConstantCheckedAtOnce = 16384;

struct PackageConstant {
  Tensor tensor;
  Hash128
      hash;  // HashBytes of the tensor's bytes, as the table says; of strings: of their file form
};

// Reads the table; tensors share `data`, kept alive by `owner`. Only small ones and strings were
// compared with their hashes.
Result<std::vector<PackageConstant>> ReadPackageConstants(std::span<const std::byte> table,
                                                          std::span<const std::byte> data,
                                                          const std::shared_ptr<const void>& owner);

// Collects constants to write.
class ConstantWriter {
 public:
  // The index of a constant of the same type, shape and content, added when there is none.
  uint32_t Add(const Tensor& tensor);
  // The same for one whose content hash is known.
  uint32_t Add(const PackageConstant& constant);

  std::string Table() const;
  // The data section, valid while this lives and nothing is added.
  std::vector<std::string_view> Pieces() const;

 private:
  using Key = std::tuple<DType, std::vector<int64_t>, Hash128>;
  struct Entry {
    Tensor tensor;
    Hash128 hash;
    std::string strings;  // the file form of a string tensor
    uint64_t offset = 0;

    std::string_view Content() const;
  };

  uint32_t AddEntry(Entry entry);

  std::vector<Entry> entries_;
  std::map<Key, uint32_t> index_;
  uint64_t end_ = 0;
};

}  // namespace kheya

#endif  // KHEYA_FORMATS_PACKAGE_CONSTANTS_H_
