// Checks of flags while they are parsed: what fails one is wrong usage (exit code 2).
#ifndef KHEYA_APP_VALIDATORS_H_
#define KHEYA_APP_VALIDATORS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "base/status.h"

namespace kheya {

// A whole number of [least, most].
CLI::Validator WholeNumber(int64_t least, int64_t most = std::numeric_limits<int32_t>::max());

// Fails with the message of `check`.
CLI::Validator Accepts(Status (*check)(const std::string& text));

}  // namespace kheya

#endif  // KHEYA_APP_VALIDATORS_H_
