#include "codec/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kheya {
namespace {

constexpr size_t kLargestPiece = size_t{1} << 30;  // zlib counts in 32 bits
constexpr size_t kFirstGuess = size_t{64} << 10;

int WindowBits(DeflateForm form) {
  switch (form) {
    case DeflateForm::kRaw:
      return -MAX_WBITS;
    case DeflateForm::kZlib:
      return MAX_WBITS;
    case DeflateForm::kGzip:
      break;
  }
  return MAX_WBITS + 16;
}

}  // namespace

struct InflateStream::State {
  z_stream stream{};
  std::span<const std::byte> rest;  // not yet given to zlib
  size_t input_size = 0;
  DeflateForm form = DeflateForm::kRaw;
  bool begun = false;
  bool done = false;

  ~State() {
    if (begun) inflateEnd(&stream);
  }

  size_t left() const { return stream.avail_in + rest.size(); }
  size_t position() const { return input_size - left(); }

  void Refill() {
    if (stream.avail_in > 0 || rest.empty()) return;
    const size_t count = std::min(rest.size(), kLargestPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rest.data()));
    stream.avail_in = static_cast<uInt>(count);
    rest = rest.subspan(count);
  }

  // At the end of a member: another one, or the end.
  Status EndMember() {
    Refill();
    if (left() == 0) {
      done = true;
      return OkStatus();
    }
    if (form != DeflateForm::kGzip || stream.next_in[0] != 0x1f || inflateReset(&stream) != Z_OK) {
      return InvalidArgumentError("found {} bytes after the end of the compressed data", left());
    }
    return OkStatus();
  }

  Status Step() {
    Refill();
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) return EndMember();
    if (code == Z_OK) return OkStatus();
    if (code == Z_MEM_ERROR) return ResourceExhaustedError("no memory to decompress");
    if (code == Z_BUF_ERROR && left() == 0) {
      return InvalidArgumentError("compressed data are cut off after {} bytes", input_size);
    }
    return InvalidArgumentError("compressed data are damaged near byte {}: {}", position(),
                                stream.msg ? stream.msg : "no reason given");
  }
};

InflateStream::InflateStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
InflateStream::InflateStream(InflateStream&&) noexcept = default;
InflateStream& InflateStream::operator=(InflateStream&&) noexcept = default;
InflateStream::~InflateStream() = default;

Result<InflateStream> InflateStream::Open(std::span<const std::byte> input, DeflateForm form) {
  auto state = std::make_unique<State>();
  state->rest = input;
  state->input_size = input.size();
  state->form = form;
  if (inflateInit2(&state->stream, WindowBits(form)) != Z_OK) {
    return ResourceExhaustedError("no memory to decompress");
  }
  state->begun = true;
  return InflateStream(std::move(state));
}

Result<size_t> InflateStream::Read(std::span<std::byte> out) {
  size_t filled = 0;
  while (filled < out.size() && !state_->done) {
    const size_t piece = std::min(out.size() - filled, kLargestPiece);
    state_->stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    state_->stream.avail_out = static_cast<uInt>(piece);
    KHEYA_RETURN_IF_ERROR(state_->Step());
    filled += piece - state_->stream.avail_out;
  }
  return filled;
}

bool IsGzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

Result<Buffer> Inflate(std::span<const std::byte> input, DeflateForm form, uint64_t max_bytes,
                       const std::shared_ptr<MemoryBudget>& budget) {
  KHEYA_ASSIGN_OR_RETURN(InflateStream stream, InflateStream::Open(input, form));
  size_t capacity = std::min<uint64_t>(max_bytes, kFirstGuess);
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(capacity, budget));
  size_t size = 0;
  for (;;) {
    KHEYA_ASSIGN_OR_RETURN(const size_t count, stream.Read(buffer.bytes().subspan(size)));
    size += count;
    if (size < capacity) break;
    std::byte probe;
    KHEYA_ASSIGN_OR_RETURN(const size_t more, stream.Read({&probe, 1}));
    if (more == 0) break;
    if (size >= max_bytes) {
      return ResourceExhaustedError(
          "{} compressed bytes hold more than the limit of {} bytes decompressed", input.size(),
          max_bytes);
    }
    capacity = capacity > max_bytes / 2 ? max_bytes : capacity * 2;
    KHEYA_ASSIGN_OR_RETURN(Buffer larger, Buffer::Allocate(capacity, budget));
    std::memcpy(larger.data(), buffer.data(), size);
    larger.data()[size++] = probe;
    buffer = std::move(larger);
  }
  if (size == capacity) return buffer;
  KHEYA_ASSIGN_OR_RETURN(Buffer exact, Buffer::Allocate(size, budget));
  if (size > 0) std::memcpy(exact.data(), buffer.data(), size);
  return exact;
}

Status InflateExactly(std::span<const std::byte> input, DeflateForm form,
                      std::span<std::byte> out) {
  KHEYA_ASSIGN_OR_RETURN(InflateStream stream, InflateStream::Open(input, form));
  KHEYA_ASSIGN_OR_RETURN(const size_t count, stream.Read(out));
  if (count < out.size()) {
    return InvalidArgumentError("found {} bytes after decompression, expected {}", count,
                                out.size());
  }
  std::byte probe;
  KHEYA_ASSIGN_OR_RETURN(const size_t more, stream.Read({&probe, 1}));
  if (more != 0) {
    return InvalidArgumentError("found more than {} bytes after decompression", out.size());
  }
  return OkStatus();
}

uint32_t Crc32(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace kheya
