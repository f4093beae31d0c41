// Dim: one dimension of a symbolic shape, or one element of a propagated int64 value.
//
// It is unknown, or a polynomial with int64 coefficients over atoms: symbols ("batch") and opaque
// terms such as "floor((H-1)/2)". The form is canonical, so two Dims that are equal as polynomials
// compare equal: (N+1)*2 == 2*N+2. Arithmetic that overflows gives unknown. Products of more than
// a few terms also give unknown, so a hostile graph cannot make them grow.
// Values, cheap to copy when known. Thread safety: a value.
#ifndef KHEYA_TENSOR_DIM_H_
#define KHEYA_TENSOR_DIM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace kheya {

class Dim {
 public:
  Dim() = default;  // unknown
  Dim(int64_t value) : state_(State::kKnown), value_(value) {}
  static Dim Unknown() { return Dim(); }
  static Dim Symbol(std::string_view name);

  bool known() const { return state_ == State::kKnown; }
  bool unknown() const { return state_ == State::kUnknown; }
  bool symbolic() const { return state_ == State::kSymbolic; }
  int64_t value() const { return value_; }  // must be known
  std::optional<int64_t> maybe() const { return known() ? std::optional(value_) : std::nullopt; }
  // The name when this is exactly one symbol with coefficient 1.
  std::optional<std::string> symbol() const;

  // "?" when unknown, "12", "batch", "2*N+1".
  std::string ToString() const;
  // The inverse of ToString; nullopt when the text is not a Dim.
  static std::optional<Dim> Parse(std::string_view text);

  // Unknown operands give unknown (but 0 * x is 0).
  Dim operator+(const Dim& other) const;
  Dim operator-(const Dim& other) const;
  Dim operator*(const Dim& other) const;
  // Rounds toward minus infinity (ONNX shape arithmetic on dimensions); division by 0: unknown.
  // Exact when the divisor divides every coefficient, an opaque atom otherwise.
  Dim FloorDiv(const Dim& divisor) const;
  Dim CeilDiv(const Dim& divisor) const;

  // The value when each symbol's value is given by `lookup` (nullopt: not known).
  std::optional<int64_t> Evaluate(
      const std::function<std::optional<int64_t>(std::string_view)>& lookup) const;

  // Equal as polynomials; an unknown equals nothing, itself included: use SameAs to compare forms.
  bool operator==(const Dim& other) const;
  bool SameAs(const Dim& other) const;

 private:
  enum class State : uint8_t { kUnknown, kKnown, kSymbolic };
  struct Polynomial;
  static Dim FromPolynomial(Polynomial polynomial);
  Polynomial ToPolynomial() const;
  State state_ = State::kUnknown;
  int64_t value_ = 0;
  std::shared_ptr<const Polynomial> polynomial_;
};

}  // namespace kheya

#endif  // KHEYA_TENSOR_DIM_H_
