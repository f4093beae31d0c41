// What the control groups of this process allow, versions 1 and 2 and both at once.
#ifndef KHEYA_BASE_CGROUP_H_
#define KHEYA_BASE_CGROUP_H_

#include <cstdint>
#include <string>

namespace kheya {

struct CgroupLimits {
  double cpus = 0;            // CPU quota divided by its period; 0: no limit
  uint64_t memory_bytes = 0;  // 0: no limit
};

// The tightest limits from the process's own group up to the root of each hierarchy. Files that are
// missing or malformed set no limit. `proc_self` is another folder only in tests.
CgroupLimits ReadCgroupLimits(const std::string& proc_self = "/proc/self");

}  // namespace kheya

#endif  // KHEYA_BASE_CGROUP_H_
