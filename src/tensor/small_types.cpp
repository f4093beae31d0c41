#include "tensor/small_types.h"

#include <array>
#include <cmath>
#include <limits>

namespace kheya {
namespace {

struct Format {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  uint8_t largest;   // the code of the largest number
  uint8_t infinity;  // 0: there is none
  uint8_t nan;       // of positive sign; 0: there is none
  bool unsigned_zero;
};

constexpr std::array<Format, 7> kFormats = {
    Format{DType::kFloat8E4M3FN, 4, 3, 7, 0x7e, 0, 0x7f, false},
    Format{DType::kFloat8E4M3FNUZ, 4, 3, 8, 0x7f, 0, 0x80, true},
    Format{DType::kFloat8E5M2, 5, 2, 15, 0x7b, 0x7c, 0x7e, false},
    Format{DType::kFloat8E5M2FNUZ, 5, 2, 16, 0x7f, 0, 0x80, true},
    Format{DType::kFloat6E2M3, 2, 3, 1, 0x1f, 0, 0, false},
    Format{DType::kFloat6E3M2, 3, 2, 3, 0x1f, 0, 0, false},
    Format{DType::kFloat4E2M1, 2, 1, 1, 0x7, 0, 0, false}};

const Format* FormatOf(DType dtype) {
  for (const Format& format : kFormats) {
    if (format.dtype == dtype) return &format;
  }
  return nullptr;
}

constexpr int kE8M0Bias = 127;
constexpr uint8_t kE8M0Largest = 0xfe;
constexpr uint8_t kE8M0NaN = 0xff;

uint8_t SignBit(const Format& format) {
  return static_cast<uint8_t>(1 << (format.exponent_bits + format.mantissa_bits));
}

// A code without its sign.
double Magnitude(const Format& format, int code) {
  const int mantissa = code & ((1 << format.mantissa_bits) - 1);
  const int exponent = code >> format.mantissa_bits;
  if (exponent == 0) return std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
  return std::ldexp(mantissa + (1 << format.mantissa_bits),
                    exponent - format.bias - format.mantissa_bits);
}

// The nearest code of a magnitude, ties to even; one above the largest when it is beyond it. The
// codes of magnitudes are in their order.
int NearestCode(const Format& format, double magnitude) {
  int low = 0;
  int high = format.largest + 1;  // what would come next
  if (magnitude >= Magnitude(format, high)) return high;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (Magnitude(format, middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - Magnitude(format, low);
  const double above = Magnitude(format, high) - magnitude;
  if (below == above) return low % 2 == 0 ? low : high;
  return below < above ? low : high;
}

uint8_t EncodeE8M0(double value, const SmallOptions& options) {
  const uint8_t beyond = options.saturate ? kE8M0Largest : kE8M0NaN;
  if (std::isnan(value) || value < 0) return kE8M0NaN;
  if (std::isinf(value)) return beyond;
  const double smallest = std::ldexp(1.0, -kE8M0Bias);
  if (value < smallest) return options.saturate ? 0 : kE8M0NaN;
  int exponent = 0;
  const double fraction = 2 * std::frexp(value, &exponent);  // value = fraction * 2^(exponent - 1)
  int code = exponent - 1 + kE8M0Bias;
  const bool nearer_above = fraction > 1.5 || (fraction == 1.5 && code % 2 != 0);
  if (options.rounding == SmallRounding::kUp
          ? fraction > 1
          : options.rounding == SmallRounding::kNearest && nearer_above) {
    ++code;
  }
  return code > kE8M0Largest ? beyond : static_cast<uint8_t>(code);
}

uint8_t Encode(const Format& format, double value, bool saturate) {
  const uint8_t sign = std::signbit(value) ? SignBit(format) : 0;
  const bool signed_nan = format.nan != SignBit(format);
  const auto nan = static_cast<uint8_t>(format.nan | (signed_nan ? sign : 0));
  if (std::isnan(value)) return format.nan == 0 ? SignBit(format) : nan;
  const int code = std::isinf(value) ? format.largest + 1 : NearestCode(format, std::abs(value));
  if (code == 0) return format.unsigned_zero ? 0 : sign;
  if (code <= format.largest) return static_cast<uint8_t>(code | sign);
  if (saturate || format.nan == 0) return static_cast<uint8_t>(format.largest | sign);
  return format.infinity != 0 ? static_cast<uint8_t>(format.infinity | sign) : nan;
}

double Decode(const Format& format, uint8_t code) {
  const uint8_t sign = SignBit(format);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (format.unsigned_zero && code == format.nan) return kNaN;
  const auto unsigned_code = static_cast<uint8_t>(code & (sign - 1));
  const double factor = (code & sign) != 0 ? -1 : 1;
  if (unsigned_code <= format.largest) return factor * Magnitude(format, unsigned_code);
  if (unsigned_code == format.infinity) return factor * std::numeric_limits<double>::infinity();
  return kNaN;
}

}  // namespace

bool IsSmallFloat(DType dtype) { return FormatOf(dtype) != nullptr || dtype == DType::kFloat8E8M0; }

bool IsSmallInteger(DType dtype) {
  return dtype == DType::kInt4 || dtype == DType::kUint4 || dtype == DType::kInt2 ||
         dtype == DType::kUint2;
}

uint8_t CodeAt(DType dtype, const void* data, int64_t index) {
  const int bits = GetDTypeInfo(dtype).bits;
  const auto* bytes = static_cast<const uint8_t*>(data);
  const int64_t byte = index / 8 * bits + index % 8 * bits / 8;
  const int shift = static_cast<int>(index % 8) * bits % 8;
  int code = bytes[byte] >> shift;
  if (shift + bits > 8) code |= bytes[byte + 1] << (8 - shift);
  return static_cast<uint8_t>(code & ((1 << bits) - 1));
}

void SetCode(DType dtype, void* data, int64_t index, uint8_t code) {
  const int bits = GetDTypeInfo(dtype).bits;
  const int shift = static_cast<int>(index % 8) * bits % 8;
  const int mask = ((1 << bits) - 1) << shift;
  const int value = code << shift;
  uint8_t* byte = static_cast<uint8_t*>(data) + index / 8 * bits + index % 8 * bits / 8;
  byte[0] = static_cast<uint8_t>((byte[0] & ~mask) | (value & mask));
  if (shift + bits > 8) {
    byte[1] = static_cast<uint8_t>((byte[1] & ~(mask >> 8)) | ((value & mask) >> 8));
  }
}

double SmallToDouble(DType dtype, uint8_t code) {
  if (const Format* format = FormatOf(dtype)) return Decode(*format, code);
  if (dtype == DType::kFloat8E8M0) {
    return code == kE8M0NaN ? std::numeric_limits<double>::quiet_NaN()
                            : std::ldexp(1.0, code - kE8M0Bias);
  }
  const int64_t value = code;
  return static_cast<double>(
      value > SmallHighest(dtype) ? value - (int64_t{1} << GetDTypeInfo(dtype).bits) : value);
}

uint8_t DoubleToSmall(DType dtype, double value, const SmallOptions& options) {
  if (dtype == DType::kFloat8E8M0) return EncodeE8M0(value, options);
  const Format* format = FormatOf(dtype);
  return format == nullptr ? 0 : Encode(*format, value, options.saturate);
}

int64_t SmallLowest(DType dtype) {
  return dtype == DType::kInt4 ? -8 : dtype == DType::kInt2 ? -2 : 0;
}

int64_t SmallHighest(DType dtype) {
  switch (dtype) {
    case DType::kInt4:
      return 7;
    case DType::kUint4:
      return 15;
    case DType::kInt2:
      return 1;
    default:
      return 3;
  }
}

uint8_t IntegerToSmall(DType dtype, int64_t value) {
  const uint64_t mask = (uint64_t{1} << GetDTypeInfo(dtype).bits) - 1;
  return static_cast<uint8_t>(static_cast<uint64_t>(value) & mask);
}

}  // namespace kheya
