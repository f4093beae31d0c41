#include "graph/text_tokens.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace kheya::text {
namespace {

// A NaN other than this one is written as its bits.
template <typename T, typename Bits>
bool IsPlainNan(T value) {
  return std::bit_cast<Bits>(value) == std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
}

template <typename T, typename Bits>
std::string FloatTextOf(T value) {
  if (std::isnan(value)) {
    if (IsPlainNan<T, Bits>(value)) return "nan";
    return fmt::format("0x{:0{}x}", std::bit_cast<Bits>(value), 2 * sizeof(Bits));
  }
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".eni") == std::string::npos) text += ".0";
  return text;
}

template <typename T>
std::optional<T> ParseNumber(std::string_view token, int base = 10) {
  T value{};
  std::from_chars_result result{};
  const char* end = token.data() + token.size();
  if constexpr (std::is_floating_point_v<T>) {
    result = std::from_chars(token.data(), end, value);
  } else {
    result = std::from_chars(token.data(), end, value, base);
  }
  if (result.ec != std::errc() || result.ptr != end || token.empty()) return std::nullopt;
  return value;
}

template <typename T, typename Bits>
std::optional<T> ParseFloatOf(std::string_view token) {
  if (token == "nan") return std::numeric_limits<T>::quiet_NaN();
  if (token.starts_with("0x")) {
    const std::optional<Bits> bits = ParseNumber<Bits>(token.substr(2), 16);
    return bits ? std::optional<T>(std::bit_cast<T>(*bits)) : std::nullopt;
  }
  return ParseNumber<T>(token);
}

template <typename T>
bool Append(std::optional<T> value, std::vector<std::byte>& bytes) {
  if (!value) return false;
  const auto* raw = reinterpret_cast<const std::byte*>(&*value);
  bytes.insert(bytes.end(), raw, raw + sizeof(T));
  return true;
}

// Float16 and BFloat16: by way of float, which holds them exactly; their NaNs by their bits.
template <typename T>
std::string ShortFloatText(uint16_t bits) {
  T value;
  value.bits = bits;
  if (std::isnan(static_cast<float>(value))) return fmt::format("0x{:04x}", bits);
  return FloatTextOf<float, uint32_t>(value);
}

template <typename T>
std::optional<uint16_t> ParseShortFloat(std::string_view token) {
  if (token.starts_with("0x")) return ParseNumber<uint16_t>(token.substr(2), 16);
  const std::optional<float> value = ParseFloatOf<float, uint32_t>(token);
  return value ? std::optional(T(*value).bits) : std::nullopt;
}

std::optional<uint8_t> ParseBool(std::string_view token) {
  if (token == "true") return uint8_t{1};
  if (token == "false") return uint8_t{0};
  return ParseNumber<uint8_t>(token);
}

// Any byte is a bool in a file; one that is neither 0 nor 1 keeps its number.
std::string BoolText(uint8_t value) {
  if (value > 1) return fmt::format("{}", value);
  return value == 1 ? "true" : "false";
}

}  // namespace

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/';
}

std::string QuoteName(std::string_view name) {
  bool plain = !name.empty() && name != "_";
  for (char c : name) plain = plain && IsNameChar(c);
  return plain ? std::string(name) : Quote(name);
}

std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string FloatText(float value) { return FloatTextOf<float, uint32_t>(value); }

std::optional<float> ParseFloatText(std::string_view token) {
  return ParseFloatOf<float, uint32_t>(token);
}

bool HasElementText(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
    case DType::kBool:
    case DType::kString:
      return true;
    default:
      return false;
  }
}

std::string ElementText(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return FloatTextOf<float, uint32_t>(tensor.At<float>(index));
    case DType::kFloat64:
      return FloatTextOf<double, uint64_t>(tensor.At<double>(index));
    case DType::kFloat16:
      return ShortFloatText<Float16>(tensor.At<uint16_t>(index));
    case DType::kBFloat16:
      return ShortFloatText<BFloat16>(tensor.At<uint16_t>(index));
    case DType::kInt8:
      return fmt::format("{}", tensor.At<int8_t>(index));
    case DType::kInt16:
      return fmt::format("{}", tensor.At<int16_t>(index));
    case DType::kInt32:
      return fmt::format("{}", tensor.At<int32_t>(index));
    case DType::kInt64:
      return fmt::format("{}", tensor.At<int64_t>(index));
    case DType::kUint8:
      return fmt::format("{}", tensor.At<uint8_t>(index));
    case DType::kUint16:
      return fmt::format("{}", tensor.At<uint16_t>(index));
    case DType::kUint32:
      return fmt::format("{}", tensor.At<uint32_t>(index));
    case DType::kUint64:
      return fmt::format("{}", tensor.At<uint64_t>(index));
    case DType::kBool:
      return BoolText(tensor.At<uint8_t>(index));
    case DType::kString:
      return Quote(tensor.data<std::string>()[index]);
    default:
      return "?";
  }
}

bool AppendElement(DType dtype, std::string_view token, std::vector<std::byte>& bytes) {
  switch (dtype) {
    case DType::kFloat32:
      return Append(ParseFloatOf<float, uint32_t>(token), bytes);
    case DType::kFloat64:
      return Append(ParseFloatOf<double, uint64_t>(token), bytes);
    case DType::kFloat16:
      return Append(ParseShortFloat<Float16>(token), bytes);
    case DType::kBFloat16:
      return Append(ParseShortFloat<BFloat16>(token), bytes);
    case DType::kInt8:
      return Append(ParseNumber<int8_t>(token), bytes);
    case DType::kInt16:
      return Append(ParseNumber<int16_t>(token), bytes);
    case DType::kInt32:
      return Append(ParseNumber<int32_t>(token), bytes);
    case DType::kInt64:
      return Append(ParseNumber<int64_t>(token), bytes);
    case DType::kUint8:
      return Append(ParseNumber<uint8_t>(token), bytes);
    case DType::kUint16:
      return Append(ParseNumber<uint16_t>(token), bytes);
    case DType::kUint32:
      return Append(ParseNumber<uint32_t>(token), bytes);
    case DType::kUint64:
      return Append(ParseNumber<uint64_t>(token), bytes);
    case DType::kBool:
      return Append(ParseBool(token), bytes);
    default:
      return false;
  }
}

std::string BlobText(std::span<const std::byte> bytes) {
  std::string text = "0x";
  for (std::byte each : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(each));
  return text;
}

std::optional<std::vector<std::byte>> ParseBlobText(std::string_view token) {
  if (!token.starts_with("0x") || token.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  for (size_t i = 2; i < token.size(); i += 2) {
    const std::optional<uint8_t> value = ParseNumber<uint8_t>(token.substr(i, 2), 16);
    if (!value) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(*value));
  }
  return bytes;
}

}  // namespace kheya::text
