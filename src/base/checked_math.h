// Integer arithmetic that says when it overflows. Sizes in files and requests are hostile.
#ifndef KHEYA_BASE_CHECKED_MATH_H_
#define KHEYA_BASE_CHECKED_MATH_H_

#include <type_traits>

namespace kheya {

// Each returns false on overflow, leaving `*out` unspecified.
template <typename T>
[[nodiscard]] bool CheckedAdd(T a, T b, std::type_identity_t<T>* out) {
  return !__builtin_add_overflow(a, b, out);
}
template <typename T>
[[nodiscard]] bool CheckedSub(T a, T b, std::type_identity_t<T>* out) {
  return !__builtin_sub_overflow(a, b, out);
}
template <typename T>
[[nodiscard]] bool CheckedMul(T a, T b, std::type_identity_t<T>* out) {
  return !__builtin_mul_overflow(a, b, out);
}

}  // namespace kheya

#endif  // KHEYA_BASE_CHECKED_MATH_H_
