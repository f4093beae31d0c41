#include "base/log.h"

#include <fmt/chrono.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/string_util.h"

namespace kheya {
namespace {

constexpr const char* kLevelNames[] = {"debug", "info", "warning", "error", "off"};
constexpr const char* kEcsVersion = "8.11.0";

spdlog::level::level_enum ToLibrary(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

struct LogState {
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::mutex mutex;
  std::function<void(const LogRecord&)> sink;  // guarded by mutex
  std::shared_ptr<spdlog::logger> stderr_logger;
  bool json = false;  // guarded by mutex

  LogState() {
    auto target = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    stderr_logger = std::make_shared<spdlog::logger>("kheya", std::move(target));
    stderr_logger->set_level(spdlog::level::trace);
    SetFormat(LogFormat::kAuto);
  }

  void SetFormat(LogFormat format) {
    std::lock_guard lock(mutex);
    json = format == LogFormat::kJson || (format == LogFormat::kAuto && isatty(STDERR_FILENO) == 0);
    stderr_logger->set_pattern(json ? "%v" : "%H:%M:%S.%e %^%l%$ %v");
  }
};

// Never destroyed: threads may log until the very end.
LogState& State() {
  static auto* state = new LogState();
  return *state;
}

std::string Timestamp(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time - seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03d}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), millis.count());
}

}  // namespace

const char* LogLevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

Result<LogLevel> ParseLogLevel(std::string_view name) {
  for (size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (name == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return InvalidArgumentError("found log level '{}', expected debug, info, warning, error or off",
                              Abbreviate(name));
}

std::string LogRecordToJson(const LogRecord& record) {
  Json line = Json::Object();
  line["@timestamp"] = Timestamp(record.time);
  line["log.level"] = LogLevelName(record.level);
  line["message"] = record.message;
  line["ecs.version"] = kEcsVersion;
  line["log.logger"] = record.logger;
  for (const auto& [key, value] : *record.fields) line[key] = value;
  return line.Dump();
}

std::string LogRecordToText(const LogRecord& record) {
  std::string text = EscapeControls(record.message);
  for (const auto& [key, value] : *record.fields) {
    text += fmt::format(" {}={}", EscapeControls(key),
                        value.is_string() ? EscapeControls(*value.GetString()) : value.Dump());
  }
  return text;
}

void SetLogLevel(LogLevel level) { State().level.store(level, std::memory_order_relaxed); }

LogLevel GetLogLevel() { return State().level.load(std::memory_order_relaxed); }

void SetLogFormat(LogFormat format) { State().SetFormat(format); }

void SetLogSink(std::function<void(const LogRecord&)> sink) {
  LogState& state = State();
  std::lock_guard lock(state.mutex);
  state.sink = std::move(sink);
}

void Log(LogLevel level, std::string_view logger, std::string_view message,
         const LogFields& fields) {
  if (!LogEnabled(level) || level == LogLevel::kOff) return;
  const LogRecord record{std::chrono::system_clock::now(), level, logger, message, &fields};
  LogState& state = State();
  std::lock_guard lock(state.mutex);
  if (state.sink) {
    state.sink(record);
    return;
  }
  const std::string line = state.json ? LogRecordToJson(record) : LogRecordToText(record);
  state.stderr_logger->log(ToLibrary(level), spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace kheya
