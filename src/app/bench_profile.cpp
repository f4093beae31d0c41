#include "app/bench_profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/terminal.h"
#include "kernels/peak_probe.h"

namespace kheya {
namespace {

constexpr double kNanosecondsPerMs = 1e6;

// "Conv (onednn:conv)".
std::string GroupName(const StepInfo& step) { return fmt::format("{} ({})", step.op, step.tactic); }

Json Bytes(const std::optional<uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(); }

Json Gflops(int64_t macs, double seconds) {
  return macs > 0 && seconds > 0 ? Json(2.0 * static_cast<double>(macs) / seconds / 1e9) : Json();
}

double Part(double of, double whole) { return whole > 0 ? of / whole : 0; }

// Members of the rows of both tables.
std::string NumberText(const Json& row, std::string_view key, int digits) {
  const Json* value = row.Find(key);
  if (value == nullptr || value->is_null()) return "-";
  return fmt::format("{:.{}f}", *value->GetDouble(), digits);
}

std::string BytesText(const Json& row, std::string_view key) {
  const Json* value = row.Find(key);
  if (value == nullptr || value->is_null()) return "-";
  return HumanBytes(static_cast<uint64_t>(*value->GetInt64()));
}

std::string Text(const Json& row, std::string_view key) { return *row.Find(key)->GetString(); }

std::string RowText(const Json& row) {
  return fmt::format("{:>10}  {:>6.1f}%  {:>8}  {:>9}  {:>9}  {:>8}", NumberText(row, "min_ms", 4),
                     *row.Find("share")->GetDouble() * 100, NumberText(row, "gflops", 1),
                     BytesText(row, "bytes_read"), BytesText(row, "bytes_written"),
                     NumberText(row, "roofline", 2));
}

const std::string& RowHead() {
  static const std::string head = fmt::format("{:>10}  {:>7}  {:>8}  {:>9}  {:>9}  {:>8}", "min ms",
                                              "share", "GFLOP/s", "read", "written", "roofline");
  return head;
}

Json Event(const std::string& name, const std::string& category, int64_t start, int64_t duration,
           int64_t track) {
  Json event = Json::Object();
  event["name"] = name;
  event["cat"] = category;
  event["ph"] = "X";
  event["ts"] = static_cast<double>(start) / 1e3;  // microseconds
  event["dur"] = static_cast<double>(duration) / 1e3;
  event["pid"] = 1;
  event["tid"] = track;
  return event;
}

Json TrackName(int64_t track, const std::string& name) {
  Json event = Json::Object();
  event["name"] = "thread_name";
  event["ph"] = "M";
  event["pid"] = 1;
  event["tid"] = track;
  event["args"] = Json::Object();
  event["args"]["name"] = name;
  return event;
}

}  // namespace

Profile::Profile(std::vector<StepInfo> steps, int threads)
    : steps_(std::move(steps)), threads_(threads), times_(steps_.size()) {}

void Profile::Add(const std::vector<StepTiming>& timings) {
  if (timings.size() != steps_.size()) return;
  for (size_t i = 0; i < timings.size(); ++i) {
    const int64_t spent = timings[i].nanoseconds;
    times_[i].least = runs_ == 0 ? spent : std::min(times_[i].least, spent);
    times_[i].total += spent;
  }
  ++runs_;
}

double Profile::BoundSeconds(const StepInfo& step) const {
  double seconds = 2.0 * static_cast<double>(step.macs) / (ProbePeakGflops() * 1e9);
  if (step.bytes_read && step.bytes_written) {
    const uint64_t bytes = *step.bytes_read + *step.bytes_written;
    const double bandwidth = ProbeBandwidth(bytes) * 1e9;
    if (bandwidth > 0) seconds = std::max(seconds, static_cast<double>(bytes) / bandwidth);
  }
  return seconds / threads_;
}

Json Profile::StepRow(size_t index, double all_seconds) const {
  const StepInfo& step = steps_[index];
  const double seconds = static_cast<double>(times_[index].least) / 1e9;
  Json row = Json::Object();
  row["name"] = step.name;
  row["op"] = step.op;
  row["tactic"] = step.tactic;
  row["layout"] = step.layout;
  row["inputs"] = step.inputs;
  row["outputs"] = step.outputs;
  row["min_ms"] = seconds * 1e3;
  row["mean_ms"] = Part(static_cast<double>(times_[index].total) / kNanosecondsPerMs, runs_);
  row["share"] = Part(seconds, all_seconds);
  row["gflops"] = Gflops(step.macs, seconds);
  row["bytes_read"] = Bytes(step.bytes_read);
  row["bytes_written"] = Bytes(step.bytes_written);
  row["roofline"] = Part(BoundSeconds(step), seconds);
  return row;
}

Json Profile::Groups(double all_seconds) const {
  struct Group {
    int64_t count = 0, macs = 0, least = 0, total = 0;
    uint64_t read = 0, written = 0;
    bool known = true;
    double bound = 0;
  };
  std::map<std::string, Group> groups;
  for (size_t i = 0; i < steps_.size(); ++i) {
    Group& group = groups[GroupName(steps_[i])];
    ++group.count;
    group.macs += steps_[i].macs;
    group.least += times_[i].least;
    group.total += times_[i].total;
    group.known = group.known && steps_[i].bytes_read && steps_[i].bytes_written;
    group.read += steps_[i].bytes_read.value_or(0);
    group.written += steps_[i].bytes_written.value_or(0);
    group.bound += BoundSeconds(steps_[i]);
  }
  std::vector<std::pair<std::string, Group>> sorted(groups.begin(), groups.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.least > b.second.least; });
  Json rows = Json::Array();
  for (const auto& [name, group] : sorted) {
    const double seconds = static_cast<double>(group.least) / 1e9;
    Json row = Json::Object();
    row["steps"] = name;
    row["count"] = group.count;
    row["min_ms"] = seconds * 1e3;
    row["mean_ms"] = Part(static_cast<double>(group.total) / kNanosecondsPerMs, runs_);
    row["share"] = Part(seconds, all_seconds);
    row["gflops"] = Gflops(group.macs, seconds);
    row["bytes_read"] = group.known ? Json(group.read) : Json();
    row["bytes_written"] = group.known ? Json(group.written) : Json();
    row["roofline"] = Part(group.bound, seconds);
    rows.Append(std::move(row));
  }
  return rows;
}

void Profile::WriteTo(Json* report) const {
  double seconds = 0, bound = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    seconds += static_cast<double>(times_[i].least) / 1e9;
    bound += BoundSeconds(steps_[i]);
  }
  (*report)["roofline_ms"] = bound * 1e3;
  (*report)["profile"] = Groups(seconds);
  (*report)["steps"] = Json::Array();
  for (size_t i = 0; i < steps_.size(); ++i) (*report)["steps"].Append(StepRow(i, seconds));
}

void Profile::WriteComparisonTo(Json* report) const {
  Json rows = Json::Array();
  for (const StepInfo& step : steps_) {
    if (step.compared.empty()) continue;
    Json row = Json::Object();
    row["name"] = step.name;
    row["op"] = step.op;
    row["tactic"] = step.tactic;
    row["inputs"] = step.inputs;
    row["tactics"] = Json::Object();
    for (const TacticTime& time : step.compared) {
      const bool worked = std::isfinite(time.seconds);
      row["tactics"][time.tactic] = worked ? Json(time.seconds * 1e3) : Json();
    }
    rows.Append(std::move(row));
  }
  (*report)["comparison"] = std::move(rows);
}

Json Profile::Trace(const std::vector<StepTiming>& timings) const {
  Json events = Json::Array();
  events.Append(TrackName(0, "steps"));
  std::map<std::thread::id, int64_t> tracks;
  for (size_t i = 0; i < timings.size(); ++i) {
    const StepTiming& timing = timings[i];
    const std::string name = fmt::format("{} '{}'", timing.op, timing.step);
    Json event = Event(name, timing.op, timing.start, timing.nanoseconds, 0);
    event["args"] = Json::Object();
    event["args"]["tactic"] = timing.tactic;
    if (timings.size() == steps_.size()) {
      event["args"]["layout"] = steps_[i].layout;
      event["args"]["inputs"] = steps_[i].inputs;
      event["args"]["outputs"] = steps_[i].outputs;
      const double seconds = static_cast<double>(timing.nanoseconds) / 1e9;
      event["args"]["gflops"] = Gflops(steps_[i].macs, seconds);
    }
    events.Append(std::move(event));
    for (const SliceTiming& slice : timing.slices) {
      const auto [place, added] = tracks.try_emplace(slice.thread, tracks.size() + 1);
      if (added) {
        events.Append(TrackName(place->second, fmt::format("thread {}", place->second)));
      }
      events.Append(Event(name, timing.op, slice.start, slice.nanoseconds, place->second));
    }
  }
  Json trace = Json::Object();
  trace["displayTimeUnit"] = "ms";
  trace["traceEvents"] = std::move(events);
  return trace;
}

void PrintProfile(const Json& report) {
  fmt::print("\n{}  {:>5}  {}\n", RowHead(), "steps", "operator (tactic)");
  for (const Json& row : report.Find("profile")->items()) {
    fmt::print("{}  {:>5}  {}\n", RowText(row), *row.Find("count")->GetInt64(), Text(row, "steps"));
  }
  fmt::print("\n{}  {:<13}  {}\n", RowHead(), "layout", "operator (tactic) of node");
  for (const Json& row : report.Find("steps")->items()) {
    fmt::print("{}  {:<13}  {} ({}) '{}'\n", RowText(row), Text(row, "layout"), Text(row, "op"),
               Text(row, "tactic"), Text(row, "name"));
  }
}

void PrintComparison(const Json& report) {
  fmt::print("\nms of each kernel alone, on one thread; * is taken\n");
  for (const Json& row : report.Find("comparison")->items()) {
    fmt::print("{} '{}':", Text(row, "op"), Text(row, "name"));
    for (const auto& [tactic, time] : row.Find("tactics")->members()) {
      fmt::print("  {}{} {}", tactic == Text(row, "tactic") ? "*" : "", tactic,
                 time.is_null() ? "failed" : fmt::format("{:.4f}", *time.GetDouble()));
    }
    fmt::print("\n");
  }
}

}  // namespace kheya
