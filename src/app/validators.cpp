#include "app/validators.h"

#include "base/string_util.h"

namespace kheya {

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  const auto check = [least, most](std::string& text) -> std::string {
    const Result<int64_t> number = ParseInt64(text);
    if (number.ok() && *number >= least && *number <= most) return "";
    return fmt::format("found '{}', expected a whole number of {} to {}", Abbreviate(text), least,
                       most);
  };
  return CLI::Validator(check, "");
}

CLI::Validator Accepts(Status (*check)(const std::string& text)) {
  return CLI::Validator([check](std::string& text) { return std::string(check(text).message()); },
                        "");
}

}  // namespace kheya
