// Deflate in its three wrappers: raw (zip entries), zlib and gzip. RFC 1950, 1951, 1952.
//
//   KHEYA_ASSIGN_OR_RETURN(InflateStream stream, InflateStream::Open(bytes, DeflateForm::kGzip));
//   KHEYA_ASSIGN_OR_RETURN(size_t count, stream.Read(out));
#ifndef KHEYA_CODEC_INFLATE_H_
#define KHEYA_CODEC_INFLATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/allocator.h"
#include "base/status.h"

namespace kheya {

enum class DeflateForm { kRaw, kZlib, kGzip };

// Decompresses borrowed bytes piece by piece, in constant memory. Checksums of zlib and gzip are
// checked; gzip members that follow one another read as one. Thread safety: none.
class InflateStream {
 public:
  static Result<InflateStream> Open(std::span<const std::byte> input, DeflateForm form);
  InflateStream(InflateStream&&) noexcept;
  InflateStream& operator=(InflateStream&&) noexcept;
  ~InflateStream();

  // Fills `out`; fewer bytes than asked for come only at the end, 0 after it. InvalidArgument when
  // the data are damaged, cut off or followed by something else.
  Result<size_t> Read(std::span<std::byte> out);

 private:
  struct State;
  explicit InflateStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// True when the bytes begin as a gzip file does.
bool IsGzip(std::span<const std::byte> bytes);

// The whole decompressed; ResourceExhausted when that is more than `max_bytes`, found out before
// more than that is allocated.
Result<Buffer> Inflate(std::span<const std::byte> input, DeflateForm form, uint64_t max_bytes,
                       const std::shared_ptr<MemoryBudget>& budget = nullptr);

// Decompresses into memory of exactly the size of the data. InvalidArgument when it is not.
Status InflateExactly(std::span<const std::byte> input, DeflateForm form, std::span<std::byte> out);

// zlib's CRC-32 of the bytes.
uint32_t Crc32(std::span<const std::byte> bytes);

}  // namespace kheya

#endif  // KHEYA_CODEC_INFLATE_H_
