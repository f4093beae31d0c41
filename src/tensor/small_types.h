// Elements that C++ has no type for: float8 in its forms, float6, float4, and integers of 4 and 2
// bits. Each is a code of at most 8 bits; those under 8 bits share bytes, low bits first (a code of
// 6 bits may lie in two bytes).
//
//   format           sign exponent mantissa  bias  largest    special codes
//   float8e4m3fn     1    4        3         7     448        0x7f, 0xff: NaN
//   float8e4m3fnuz   1    4        3         8     240        0x80: NaN; no -0
//   float8e5m2       1    5        2         15    57344      0x7c: infinity, above it NaN
//   float8e5m2fnuz   1    5        2         16    57344      0x80: NaN; no -0
//   float8e8m0       0    8        0         127   2^127      0xff: NaN; no 0
//   float6e2m3       1    2        3         1     7.5        none
//   float6e3m2       1    3        2         3     28         none
//   float4e2m1       1    2        1         1     6          none
// Sources: OCP 8-bit Floating Point, OCP Microscaling Formats, arXiv 2206.02915 (fnuz).
#ifndef KHEYA_TENSOR_SMALL_TYPES_H_
#define KHEYA_TENSOR_SMALL_TYPES_H_

#include <cstdint>

#include "tensor/dtype.h"

namespace kheya {

bool IsSmallFloat(DType dtype);    // float8*, float6*, float4
bool IsSmallInteger(DType dtype);  // int4, uint4, int2, uint2
inline bool IsSmall(DType dtype) { return IsSmallFloat(dtype) || IsSmallInteger(dtype); }

// The code of element `index` of dense memory.
uint8_t CodeAt(DType dtype, const void* data, int64_t index);
// Sets it, leaving its neighbours in the byte as they are.
void SetCode(DType dtype, void* data, int64_t index, uint8_t code);

// The number that a code stands for, exactly.
double SmallToDouble(DType dtype, uint8_t code);

enum class SmallRounding : uint8_t { kNearest, kUp, kDown };
struct SmallOptions {
  bool saturate = true;                         // of float8: beyond the largest stays the largest
  SmallRounding rounding = SmallRounding::kUp;  // of float8e8m0 alone
};

// The code of a float type nearest to `value`, ties to the even code. Beyond the largest: the
// largest when saturating (infinity too), else infinity where there is one, else NaN; float6 and
// float4 always saturate and have -0 for NaN. float8e8m0 has no number for 0 (the smallest when
// saturating, else NaN) and for negative ones (NaN).
uint8_t DoubleToSmall(DType dtype, double value, const SmallOptions& options);

// The range of a small integer type, and the code of a number by its low bits.
int64_t SmallLowest(DType dtype);
int64_t SmallHighest(DType dtype);
uint8_t IntegerToSmall(DType dtype, int64_t value);

}  // namespace kheya

#endif  // KHEYA_TENSOR_SMALL_TYPES_H_
