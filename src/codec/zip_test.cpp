#include "codec/zip.h"

#include <gmock/gmock.h>

#include "codec/byte_reader.h"
#include "codec/test_files.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

std::string MakeZip(const std::vector<std::pair<std::string, std::string>>& files) {
  ZipWriter writer;
  for (const auto& [name, content] : files) writer.Add(name, AsBytes(content));
  return writer.Finish();
}

Status OpenStatus(const std::string& archive, const ZipLimits& limits = ZipLimits()) {
  return ZipReader::Open(AsBytes(archive), limits).status();
}

void Store(std::string* archive, size_t at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) (*archive)[at + i] = static_cast<char>(value >> (8 * i));
}

// The offset of the n-th directory record.
size_t RecordAt(const std::string& archive, int n) {
  size_t at = archive.find("PK\1\2");
  for (int i = 0; i < n; ++i) at = archive.find("PK\1\2", at + 1);
  return at;
}

TEST(Zip, ReadsWhatItWrites) {
  const std::string archive = MakeZip({{"a.txt", "first"}, {"folder/b", ""}, {"c", "third"}});
  Result<ZipReader> zip = ZipReader::Open(AsBytes(archive), ZipLimits());
  ASSERT_TRUE(zip.ok()) << zip.status().ToString();
  ASSERT_EQ(zip->entries().size(), 3u);
  EXPECT_EQ(zip->entries()[1].name, "folder/b");
  ASSERT_NE(zip->Find("c"), nullptr);
  EXPECT_EQ(zip->Find("d"), nullptr);
  Result<Buffer> content = zip->Read(*zip->Find("c"));
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(AsText(content->bytes()), "third");
  EXPECT_EQ(AsText(*ZipReader::Stored(*zip->Find("a.txt"))), "first");
  EXPECT_TRUE(OpenStatus(MakeZip({})).ok());
}

TEST(Zip, RefusesPathsThatLeave) {
  for (const char* name : {"../x", "a/../b", "/x", "a//b", "./a", "a\\b", "C:x", "\xff", ".."}) {
    EXPECT_THAT(OpenStatus(MakeZip({{name, "x"}})).message(), HasSubstr("expected a relative path"))
        << name;
  }
  EXPECT_FALSE(OpenStatus(MakeZip({{"", "x"}})).ok());
  EXPECT_FALSE(OpenStatus(MakeZip({{std::string("a\0b", 3), "x"}})).ok());
}

TEST(Zip, RefusesTwins) {
  EXPECT_THAT(OpenStatus(MakeZip({{"a", "x"}, {"a", "y"}})).message(), HasSubstr("'a' twice"));
}

TEST(Zip, RefusesOverlaps) {
  std::string archive = MakeZip({{"a", "12345678"}, {"a", "12345678"}});
  const size_t first = RecordAt(archive, 0), second = RecordAt(archive, 1);
  for (size_t i = 42; i < 46; ++i) archive[second + i] = archive[first + i];
  // The second record now leads to the first entry; another name makes it pass the check of twins.
  EXPECT_FALSE(OpenStatus(archive).ok());
  archive = MakeZip({{"a", std::string(100, 'x')}, {"b", "y"}});
  Store(&archive, RecordAt(archive, 0) + 20, 140, 4);  // over the next local header
  Store(&archive, RecordAt(archive, 0) + 24, 140, 4);
  EXPECT_THAT(OpenStatus(archive).message(), HasSubstr("overlap"));
}

TEST(Zip, RefusesOtherNamesInTheLocalHeader) {
  std::string archive = MakeZip({{"abc", "x"}});
  archive[30] = 'z';
  EXPECT_THAT(OpenStatus(archive).message(), HasSubstr("'abc': the local header has another name"));
}

TEST(Zip, RefusesWhatIsNotSupported) {
  std::string archive = MakeZip({{"a", "x"}});
  Store(&archive, RecordAt(archive, 0) + 8, 1, 2);
  EXPECT_EQ(OpenStatus(archive).code(), StatusCode::kUnimplemented);
  archive = MakeZip({{"a", "x"}});
  Store(&archive, RecordAt(archive, 0) + 10, 93, 2);
  EXPECT_THAT(OpenStatus(archive).message(), HasSubstr("'a': found compression method 93"));
}

TEST(Zip, KeepsItsLimits) {
  const std::string archive = MakeZip({{"a", "12345"}, {"b", ""}});
  EXPECT_EQ(OpenStatus(archive, {.max_entries = 1}).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(OpenStatus(archive, {.max_entry_bytes = 4}).code(), StatusCode::kResourceExhausted);
}

TEST(Zip, RefusesImpossibleSizesBeforeAllocating) {
  std::string archive = MakeZip({{"a", "x"}});
  const size_t record = RecordAt(archive, 0);
  Store(&archive, record + 10, 8, 2);           // deflated
  Store(&archive, record + 24, 0xfffffff0, 4);  // 4 GiB in one byte
  Result<ZipReader> zip = ZipReader::Open(AsBytes(archive), ZipLimits());
  ASSERT_TRUE(zip.ok());
  const auto budget = std::make_shared<MemoryBudget>("test", 1 << 20);
  EXPECT_EQ(zip->Read(zip->entries()[0], budget).status().code(), StatusCode::kInvalidArgument);
}

TEST(Zip, ChecksTheCrc) {
  std::string archive = MakeZip({{"a", "hello"}});
  archive[archive.find("hello")] = 'j';
  Result<ZipReader> zip = ZipReader::Open(AsBytes(archive), ZipLimits());
  ASSERT_TRUE(zip.ok());
  EXPECT_THAT(zip->Read(zip->entries()[0]).status().message(), HasSubstr("crc-32"));
}

TEST(Zip, ReadsZip64) {
  std::string archive = MakeZip({{"a", "hello"}});
  const size_t record = RecordAt(archive, 0);
  const size_t end = archive.find("PK\5\6");
  std::string extra;  // the two sizes and the offset in 64 bits
  AppendLittle<uint16_t>(&extra, 1);
  AppendLittle<uint16_t>(&extra, 24);
  AppendLittle<uint64_t>(&extra, 5);
  AppendLittle<uint64_t>(&extra, 5);
  AppendLittle<uint64_t>(&extra, 0);
  std::string end64("PK\6\6", 4);
  AppendLittle<uint64_t>(&end64, 44);
  end64.append(12, '\0');
  AppendLittle<uint64_t>(&end64, 1);
  AppendLittle<uint64_t>(&end64, 1);
  AppendLittle<uint64_t>(&end64, end - record + extra.size());
  AppendLittle<uint64_t>(&end64, record);
  std::string locator("PK\6\7", 4);
  AppendLittle<uint32_t>(&locator, 0);
  AppendLittle<uint64_t>(&locator, end + extra.size());
  AppendLittle<uint32_t>(&locator, 1);

  Store(&archive, record + 20, 0xffffffff, 4);
  Store(&archive, record + 24, 0xffffffff, 4);
  Store(&archive, record + 30, extra.size(), 2);
  Store(&archive, record + 42, 0xffffffff, 4);
  Store(&archive, end + 16, 0xffffffff, 4);
  archive.insert(end, extra + end64 + locator);
  Result<ZipReader> zip = ZipReader::Open(AsBytes(archive), ZipLimits());
  ASSERT_TRUE(zip.ok()) << zip.status().ToString();
  Result<Buffer> content = zip->Read(zip->entries()[0]);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(AsText(content->bytes()), "hello");
}

TEST(Zip, SurvivesDamage) {
  for (const char* name : {"arrays/stored.npz", "arrays/deflated.npz"}) {
    int refused = 0;
    ForEachDamage(ReadTestFile(CodecFolder(name)), 3000, [&](std::span<const std::byte> bytes) {
      Result<ZipReader> zip = ZipReader::Open(bytes, {.max_entry_bytes = 1 << 20});
      bool good = zip.ok();
      if (zip.ok()) {
        for (const ZipEntry& entry : zip->entries()) good &= zip->Read(entry).ok();
      }
      refused += good ? 0 : 1;
    });
    EXPECT_GT(refused, 1000) << name;
  }
}

}  // namespace
}  // namespace kheya
