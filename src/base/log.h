// Where the library says what it does. Nothing else in the library prints.
//
//   LogInfo("serve", "model '{}' is ready", name);
//   Log(LogLevel::kInfo, "serve", "request", {{"http.response.status_code", 200}});
//
// On a terminal a record is a readable line on stderr, otherwise one JSON object a line with the
// field names of the Elastic Common Schema. Thread safety: all functions.
#ifndef KHEYA_BASE_LOG_H_
#define KHEYA_BASE_LOG_H_

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace kheya {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// "debug", "info", "warning", "error", "off".
const char* LogLevelName(LogLevel level);
Result<LogLevel> ParseLogLevel(std::string_view name);

using LogFields = std::vector<std::pair<std::string, Json>>;

struct LogRecord {
  std::chrono::system_clock::time_point time;
  LogLevel level = LogLevel::kInfo;
  std::string_view logger;  // the room or part that speaks
  std::string_view message;
  const LogFields* fields = nullptr;  // never null in a sink
};

// One JSON object without the line end.
std::string LogRecordToJson(const LogRecord& record);
// "message key=value ...", control characters escaped.
std::string LogRecordToText(const LogRecord& record);

enum class LogFormat { kAuto, kText, kJson };  // kAuto: text when stderr is a terminal

// Records below `level` are dropped before they are made. At first: kInfo, kAuto.
void SetLogLevel(LogLevel level);
LogLevel GetLogLevel();
void SetLogFormat(LogFormat format);
// Sends records to `sink` instead of stderr; an empty function brings stderr back. `sink` is called
// by one thread at a time and must not log.
void SetLogSink(std::function<void(const LogRecord&)> sink);

void Log(LogLevel level, std::string_view logger, std::string_view message,
         const LogFields& fields = {});

inline bool LogEnabled(LogLevel level) { return level >= GetLogLevel(); }

template <typename... Args>
void LogDebug(std::string_view logger, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kDebug)) {
    Log(LogLevel::kDebug, logger, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogInfo(std::string_view logger, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kInfo)) {
    Log(LogLevel::kInfo, logger, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogWarning(std::string_view logger, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kWarning)) {
    Log(LogLevel::kWarning, logger, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogError(std::string_view logger, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kError)) {
    Log(LogLevel::kError, logger, fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace kheya

#endif  // KHEYA_BASE_LOG_H_
