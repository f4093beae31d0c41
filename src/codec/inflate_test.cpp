#include "codec/inflate.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <vector>

#include "codec/test_files.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

std::string Deflate(std::string_view text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Gzip(std::string_view text) { return Deflate(text, MAX_WBITS + 16); }

std::string Sample() {
  std::string text;
  for (int i = 0; i < 30000; ++i) text += std::to_string(i * 7919 % 1000);
  return text;
}

TEST(Inflate, ReadsAllForms) {
  const std::string text = Sample();
  const std::pair<DeflateForm, int> forms[] = {{DeflateForm::kRaw, -MAX_WBITS},
                                               {DeflateForm::kZlib, MAX_WBITS},
                                               {DeflateForm::kGzip, MAX_WBITS + 16}};
  for (const auto& [form, bits] : forms) {
    const std::string packed = Deflate(text, bits);
    Result<Buffer> all = Inflate(AsBytes(packed), form, text.size());
    ASSERT_TRUE(all.ok()) << all.status().ToString();
    EXPECT_EQ(AsText(all->bytes()), text);
    std::vector<std::byte> exact(text.size());
    EXPECT_TRUE(InflateExactly(AsBytes(packed), form, exact).ok());
    EXPECT_EQ(AsText(exact), text);
  }
}

TEST(Inflate, RefusesMoreThanTheLimit) {
  const std::string bomb = Gzip(std::string(10 << 20, '\0'));
  const auto budget = std::make_shared<MemoryBudget>("test", 2 << 20);
  const Status status = Inflate(AsBytes(bomb), DeflateForm::kGzip, 500000, budget).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("more than the limit of 500000 bytes"));
  EXPECT_EQ(budget->used_bytes(), 0u);
  std::vector<std::byte> small(1000);
  EXPECT_FALSE(InflateExactly(AsBytes(bomb), DeflateForm::kGzip, small).ok());
}

TEST(Inflate, TakesExactlyTheLimit) {
  for (const size_t size : {0, 1, 65535, 65536, 65537, 200000}) {
    const std::string packed = Gzip(std::string(size, 'x'));
    Result<Buffer> all = Inflate(AsBytes(packed), DeflateForm::kGzip, size);
    ASSERT_TRUE(all.ok()) << size << " " << all.status().ToString();
    EXPECT_EQ(all->size(), size);
    if (size > 0) {
      EXPECT_FALSE(Inflate(AsBytes(packed), DeflateForm::kGzip, size - 1).ok());
    }
  }
}

TEST(Inflate, JoinsGzipMembers) {
  const std::string two = Gzip("first ") + Gzip("second");
  Result<Buffer> all = Inflate(AsBytes(two), DeflateForm::kGzip, 100);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(AsText(all->bytes()), "first second");
}

TEST(Inflate, RefusesWhatFollows) {
  EXPECT_THAT(Inflate(AsBytes(Gzip("x") + "tail"), DeflateForm::kGzip, 100).status().message(),
              HasSubstr("found 4 bytes after the end"));
}

TEST(Inflate, StreamsInPieces) {
  const std::string text = Sample();
  const std::string packed = Gzip(text);
  Result<InflateStream> stream = InflateStream::Open(AsBytes(packed), DeflateForm::kGzip);
  ASSERT_TRUE(stream.ok());
  std::string got;
  std::byte piece[97];
  for (;;) {
    Result<size_t> count = stream->Read(piece);
    ASSERT_TRUE(count.ok());
    got += AsText({piece, *count});
    if (*count < sizeof(piece)) break;
  }
  EXPECT_EQ(got, text);
}

TEST(Inflate, FindsDamage) {
  const std::string text = Sample().substr(0, 3000);
  const std::string packed = Gzip(text);
  int refused = 0;
  ForEachDamage(packed, 2000, [&](std::span<const std::byte> bytes) {
    Result<Buffer> all = Inflate(bytes, DeflateForm::kGzip, 1 << 20);
    if (!all.ok()) ++refused;
    // The header's time, name and flags may change; the content may not.
    if (all.ok()) {
      EXPECT_EQ(AsText(all->bytes()), text);
    }
    if (bytes.size() < packed.size()) {
      EXPECT_FALSE(all.ok());
    }
  });
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace kheya
