#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace kheya {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "kheya-file-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
  }
  size_t Count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  std::string folder_;
};

std::string Text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST_F(FileTest, MapsAndCopiesAWholeFile) {
  Write("a", "hello");
  for (const bool copy : {false, true}) {
    Result<MappedFile> file = MappedFile::Open(Path("a"), {.copy = copy});
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(Text(*file), "hello");
    const MappedFile other = *file;
    *file = MappedFile();
    EXPECT_EQ(Text(other), "hello");
  }
}

TEST_F(FileTest, ACopySurvivesACut) {
  Write("a", std::string(10000, 'x'));
  Result<MappedFile> file = MappedFile::Open(Path("a"), {.copy = true});
  ASSERT_TRUE(file.ok());
  fs::resize_file(Path("a"), 0);
  EXPECT_EQ(Text(*file), std::string(10000, 'x'));
}

TEST_F(FileTest, AnEmptyFileHasNoBytes) {
  Write("a", "");
  Result<MappedFile> file = MappedFile::Open(Path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->bytes().empty());
}

TEST_F(FileTest, RefusesWhatIsNotAFileByName) {
  const Status missing = MappedFile::Open(Path("none")).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("none"));
  EXPECT_EQ(MappedFile::Open(folder_).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open("/dev/zero").status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(Path("pipe")).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MappedFile::Open(Path("a") + '\0' + "b").status().code(), StatusCode::kInvalidArgument);
}

TEST_F(FileTest, RefusesAHugeFileBeforeReadingIt) {
  Write("a", "");
  fs::resize_file(Path("a"), uintmax_t{1} << 40);
  const Status status = MappedFile::Open(Path("a")).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("1099511627776"));
  EXPECT_EQ(ReadFile(Path("a")).status().code(), StatusCode::kResourceExhausted);
  const MappedFile::Options options{.max_bytes = uint64_t{1} << 41, .copy = true};
  EXPECT_EQ(MappedFile::Open(Path("a"), options).status().code(), StatusCode::kResourceExhausted);
}

TEST_F(FileTest, ReleasedPagesAreReadAgain) {
  Write("a", std::string(100000, 'x'));
  Result<MappedFile> file = MappedFile::Open(Path("a"));
  ASSERT_TRUE(file.ok());
  file->ReleasePages(file->bytes().subspan(5000, 60000));
  file->ReleasePages(file->bytes().subspan(1, 2));
  EXPECT_EQ(Text(*file), std::string(100000, 'x'));
}

TEST_F(FileTest, ReadsFilesWithoutAKnownSize) {
  Result<std::string> text = ReadFile("/proc/self/status");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("VmRSS"));
  EXPECT_EQ(ReadFile("/proc/self/status", 10).status().code(), StatusCode::kResourceExhausted);
}

TEST_F(FileTest, WritesAtomicallyAndKeepsTheMode) {
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "one").ok());
  ASSERT_EQ(chmod(Path("a").c_str(), 0640), 0);
  ASSERT_TRUE(WriteFileAtomic(Path("a"), "two").ok());
  EXPECT_EQ(*ReadFile(Path("a")), "two");
  struct stat info;
  ASSERT_EQ(stat(Path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldContentAndNoTemporaryFile) {
  fs::create_directory(Path("a"));
  Write("a/inside", "x");
  EXPECT_FALSE(WriteFileAtomic(Path("a"), "new").ok());
  EXPECT_EQ(Count(), 1u);
  EXPECT_EQ(WriteFileAtomic(Path("none/b"), "new").code(), StatusCode::kNotFound);
}

TEST_F(FileTest, AWriteThatRunsOutOfRoomIsCleanedUp) {
  Write("a", "old");
  struct rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1000, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = WriteFileAtomic(Path("a"), std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(*ReadFile(Path("a")), "old");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(FileTest, WritesToWhatALinkLeadsTo) {
  fs::create_directory(Path("sub"));
  Write("sub/a", "old");
  ASSERT_EQ(chmod(Path("sub/a").c_str(), 0640), 0);
  fs::create_symlink("sub/a", Path("link"));
  fs::create_symlink(Path("link"), Path("sub/second"));
  ASSERT_TRUE(WriteFileAtomic(Path("sub/second"), "new").ok());
  EXPECT_EQ(*ReadFile(Path("sub/a")), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_TRUE(fs::is_symlink(Path("sub/second")));
  struct stat info;
  ASSERT_EQ(stat(Path("sub/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  fs::create_symlink("sub/later", Path("early"));
  ASSERT_TRUE(WriteFileAtomic(Path("early"), "new").ok());
  EXPECT_EQ(*ReadFile(Path("sub/later")), "new");
  EXPECT_TRUE(fs::is_symlink(Path("early")));
  fs::create_symlink("loop", Path("loop"));
  EXPECT_EQ(WriteFileAtomic(Path("loop"), "new").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(fs::is_symlink(Path("loop")));
}

TEST_F(FileTest, DoesNotReplaceWhatIsNotARegularFile) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", Path("link"));
  const int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(end, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(Path("socket").size(), sizeof(address.sun_path));
  Path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(end, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(end);
  const std::pair<const char*, const char*> files[] = {
      {"pipe", "pipe"}, {"link", "pipe"}, {"socket", "socket"}, {"", "folder"}};
  for (const auto& [name, kind] : files) {
    const Status status = WriteFileAtomic(Path(name), "new");
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(status.message(),
              fmt::format("file '{}': found a {}, expected a regular file", Path(name), kind));
  }
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_TRUE(fs::is_socket(Path("socket")));
  EXPECT_EQ(Count(), 3u);
}

TEST_F(FileTest, PathsStayInsideTheirFolder) {
  fs::create_directories(Path("in/sub"));
  Write("secret", "x");
  Write("in/data", "x");
  fs::create_symlink("../secret", Path("in/link"));
  fs::create_symlink("..", Path("in/up"));
  fs::create_symlink("../not-yet", Path("in/dangling"));
  fs::create_symlink("data", Path("in/good"));
  fs::create_symlink("loop", Path("in/loop"));
  const std::string in = Path("in");
  for (const char* bad : {"", "/etc/passwd", "../secret", "sub/../../secret", "link", "up/secret",
                          "dangling", "none/../../secret", "loop", "dangling/x", ".."}) {
    EXPECT_EQ(ResolveInside(in, bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_FALSE(ResolveInside(in, std::string("data\0x", 6)).ok());
  const std::string root = fs::canonical(in).string();
  EXPECT_EQ(*ResolveInside(in, "data"), root + "/data");
  EXPECT_EQ(*ResolveInside(in, "good"), root + "/data");
  EXPECT_EQ(*ResolveInside(in, "sub/../data"), root + "/data");
  EXPECT_EQ(*ResolveInside(in, "new/file"), root + "/new/file");
  EXPECT_EQ(ResolveInside(Path("none"), "a").status().code(), StatusCode::kNotFound);
  // A folder whose name begins with the other's is another folder.
  fs::create_directory(Path("inside"));
  EXPECT_FALSE(ResolveInside(in, "../inside").ok());
}

TEST_F(FileTest, KnowsFilesFromFolders) {
  Write("a", "x");
  EXPECT_TRUE(FileExists(Path("a")));
  EXPECT_FALSE(FileExists(folder_));
  EXPECT_TRUE(IsDirectory(folder_));
  EXPECT_FALSE(IsDirectory(Path("a")));
}

}  // namespace
}  // namespace kheya
