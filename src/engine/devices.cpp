#include "engine/devices.h"

#include "base/cpu_features.h"
#include "base/cpu_ledger.h"
#include "base/file.h"
#include "engine/engine.h"

namespace kheya {
namespace {

DeviceInfo DescribeCpu() {
  const CpuFeatures& features = GetCpuFeatures();
  std::string text = features.brand.empty() ? features.architecture : features.brand;
  text += fmt::format(", {} allowed:", AllowedCpus());
  for (const auto& [name, present] : features.Flags()) {
    if (present) text += fmt::format(" {}", name);
  }
  return {"cpu", std::move(text), true, ""};
}

// GPUs are listed so that a user sees what was looked for; this build has no backend for them.
DeviceInfo DescribeGpu(const char* name, const char* device_file) {
  DeviceInfo info{name, "", false, ""};
  info.reason =
      FileExists(device_file)
          ? fmt::format("{} is there, but this build has no {} backend", device_file, name)
          : fmt::format("looked for {}, found nothing", device_file);
  return info;
}

}  // namespace

std::vector<DeviceInfo> ListDevices() {
  return {DescribeCpu(), DescribeGpu("cuda", "/dev/nvidia0"),
          DescribeGpu("opencl", "/dev/dri/renderD128")};
}

Status CheckDevice(const std::string& name) {
  if (name == "auto") return OkStatus();
  std::string known = "auto";
  for (const DeviceInfo& device : ListDevices()) {
    if (device.name == name && device.available) return OkStatus();
    if (device.name == name) return NotFoundError("device '{}': {}", name, device.reason);
    known += ", " + device.name;
  }
  return NotFoundError("found device '{}', expected one of {}", name, known);
}

}  // namespace kheya
