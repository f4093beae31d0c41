#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.h"
#include "app/terminal.h"
#include "base/cpu_features.h"
#include "base/cpu_ledger.h"
#include "base/json.h"
#include "engine/engine.h"

namespace kheya {
namespace {

void PrintAsJson(const std::vector<DeviceInfo>& devices) {
  Json json = Json::Object();
  json["cores_allowed"] = AllowedCpus();
  json["devices"] = Json::Array();
  for (const DeviceInfo& device : devices) {
    Json entry = Json::Object();
    entry["name"] = device.name;
    entry["available"] = device.available;
    entry["description"] = device.description;
    if (!device.available) entry["reason"] = device.reason;
    json["devices"].Append(std::move(entry));
  }
  fmt::print("{}\n", json.Dump(2));
}

void PrintAsText(const std::vector<DeviceInfo>& devices) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"cores allowed", fmt::format("{}", AllowedCpus())}};
  for (const DeviceInfo& device : devices) {
    if (device.available) {
      facts.emplace_back(device.name, device.description);
    } else {
      facts.emplace_back(device.name + " available", fmt::format("no ({})", device.reason));
    }
  }
  PrintFacts(facts);
  bool gpu = false;
  for (const DeviceInfo& device : devices) gpu = gpu || (device.available && device.name != "cpu");
  fmt::print("GPU available: {}\n", gpu ? "yes" : "no");
}

}  // namespace

CommandBody DefineDevices(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "Print JSON");
  return [json] {
    const std::vector<DeviceInfo> devices = ListDevices();
    *json ? PrintAsJson(devices) : PrintAsText(devices);
    return OkStatus();
  };
}

}  // namespace kheya
