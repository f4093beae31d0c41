#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kheya {
namespace {

namespace fs = std::filesystem;

// A made-up /proc/self and cgroup file system in one folder.
class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "kheya-cgroup-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << content;
  }
  void Mount(const std::string& root, const std::string& at, const std::string& kind) {
    mounts_ +=
        "32 31 0:29 " + root + " " + root_ + "/" + at + " rw,relatime shared:1 - " + kind + "\n";
    Write("mountinfo", mounts_);
  }
  std::string root_;
  std::string mounts_;
};

TEST_F(CgroupTest, Version2TakesTheTightestLevel) {
  Write("cgroup", "0::/a/b\n");
  Mount("/", "fs", "cgroup2 cgroup2 rw");
  Write("fs/a/b/cpu.max", "max 100000\n");
  Write("fs/a/cpu.max", "150000 100000\n");
  Write("fs/a/b/memory.max", "1000000\n");
  Write("fs/a/memory.max", "max\n");
  Write("fs/memory.max", "2000000\n");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_DOUBLE_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1000000u);
}

TEST_F(CgroupTest, Version1HasOneHierarchyForEachController) {
  Write("cgroup", "4:memory:/docker/x\n2:cpu,cpuacct:/docker/x\n0::/\n");
  Mount("/docker/x", "cpu", "cgroup cgroup rw,cpu,cpuacct");
  Mount("/docker/x", "memory", "cgroup cgroup rw,memory");
  Write("cpu/cpu.cfs_quota_us", "50000\n");
  Write("cpu/cpu.cfs_period_us", "100000\n");
  Write("memory/memory.limit_in_bytes", "4096\n");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_DOUBLE_EQ(limits.cpus, 0.5);
  EXPECT_EQ(limits.memory_bytes, 4096u);
}

TEST_F(CgroupTest, UnlimitedAndMalformedFilesSetNoLimit) {
  Write("cgroup", "2:cpu:/\n4:memory:/\n0::/\nrubbish\n::\n");
  Mount("/", "cpu", "cgroup cgroup rw,cpu");
  Mount("/", "fs", "cgroup2 cgroup2 rw");
  mounts_ += "short line\n1 2 3 / /x - \n";
  Mount("/", "memory", "cgroup cgroup rw,memory");
  Write("cpu/cpu.cfs_quota_us", "-1\n");
  Write("cpu/cpu.cfs_period_us", "100000\n");
  Write("fs/cpu.max", "99999999999999999999 0\n");
  Write("memory/memory.limit_in_bytes", "many\n");
  EXPECT_EQ(ReadCgroupLimits(root_).cpus, 0);
  EXPECT_EQ(ReadCgroupLimits(root_).memory_bytes, 0u);
  EXPECT_EQ(ReadCgroupLimits(root_ + "/none").cpus, 0);
}

}  // namespace
}  // namespace kheya
