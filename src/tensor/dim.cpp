#include "tensor/dim.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/checked_math.h"

namespace kheya {
namespace {

constexpr size_t kMaxTerms = 8;
constexpr size_t kMaxDegree = 6;
constexpr size_t kMaxAtomBytes = 512;

bool IsSymbolChar(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return letter || (!first && ((c >= '0' && c <= '9') || c == '.'));
}

// A symbol as it is, or in quotes where it could be read as something else.
std::string SymbolText(std::string_view name) {
  bool plain = name != "floor";
  for (size_t i = 0; i < name.size(); ++i) plain = plain && IsSymbolChar(name[i], i == 0);
  if (plain) return std::string(name);
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// What a polynomial is over: a symbol, or the floor of a quotient that has no simpler form.
struct Atom {
  std::string text;  // unique to it
  std::string symbol;
  Dim numerator;  // of an opaque atom
  Dim denominator;
};
using AtomPtr = std::shared_ptr<const Atom>;

struct Term {
  std::vector<AtomPtr> atoms;  // sorted by text, repeated for powers; empty: the constant
  int64_t coefficient = 0;
};

bool SameAtoms(const Term& a, const Term& b) {
  return std::equal(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
                    [](const AtomPtr& x, const AtomPtr& y) { return x->text == y->text; });
}

// Higher degrees first, the constant last.
bool TermLess(const Term& a, const Term& b) {
  if (a.atoms.size() != b.atoms.size()) return a.atoms.size() > b.atoms.size();
  return std::lexicographical_compare(
      a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
      [](const AtomPtr& x, const AtomPtr& y) { return x->text < y->text; });
}

bool AtomLess(const AtomPtr& a, const AtomPtr& b) { return a->text < b->text; }

// Divides out the atoms of `divisor`; false when they are not all there.
bool RemoveAtoms(const Term& divisor, Term& term) {
  for (const AtomPtr& atom : divisor.atoms) {
    auto it = std::find_if(term.atoms.begin(), term.atoms.end(),
                           [&](const AtomPtr& each) { return each->text == atom->text; });
    if (it == term.atoms.end()) return false;
    term.atoms.erase(it);
  }
  return true;
}

}  // namespace

// Terms in order, without zero coefficients.
struct Dim::Polynomial {
  std::vector<Term> terms;

  // Adds the term; false on overflow or too many terms.
  bool Add(Term term) {
    auto it = std::find_if(terms.begin(), terms.end(),
                           [&](const Term& each) { return SameAtoms(each, term); });
    if (it == terms.end()) {
      if (term.coefficient != 0) terms.push_back(std::move(term));
      return terms.size() <= kMaxTerms;
    }
    if (!CheckedAdd(it->coefficient, term.coefficient, &it->coefficient)) return false;
    if (it->coefficient == 0) terms.erase(it);
    return true;
  }
};

Dim Dim::FromPolynomial(Polynomial polynomial) {
  if (polynomial.terms.empty()) return Dim(0);
  if (polynomial.terms.size() == 1 && polynomial.terms[0].atoms.empty()) {
    return Dim(polynomial.terms[0].coefficient);
  }
  std::sort(polynomial.terms.begin(), polynomial.terms.end(), TermLess);
  Dim dim;
  dim.state_ = State::kSymbolic;
  dim.polynomial_ = std::make_shared<const Polynomial>(std::move(polynomial));
  return dim;
}

Dim::Polynomial Dim::ToPolynomial() const {
  if (symbolic()) return *polynomial_;
  Polynomial polynomial;
  if (value_ != 0) polynomial.terms.push_back({{}, value_});
  return polynomial;
}

Dim Dim::Symbol(std::string_view name) {
  if (name.empty() || name.size() > kMaxAtomBytes) return Unknown();
  auto atom = std::make_shared<Atom>();
  atom->text = SymbolText(name);
  atom->symbol = name;
  return FromPolynomial({{Term{{std::move(atom)}, 1}}});
}

std::optional<std::string> Dim::symbol() const {
  if (!symbolic() || polynomial_->terms.size() != 1) return std::nullopt;
  const Term& term = polynomial_->terms[0];
  if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0]->symbol.empty()) {
    return std::nullopt;
  }
  return term.atoms[0]->symbol;
}

std::string Dim::ToString() const {
  if (unknown()) return "?";
  if (known()) return fmt::format("{}", value_);
  std::string text;
  for (const Term& term : polynomial_->terms) {
    if (term.coefficient > 0 && !text.empty()) text += '+';
    if (term.atoms.empty() || (term.coefficient != 1 && term.coefficient != -1)) {
      text += fmt::format("{}", term.coefficient);
      if (!term.atoms.empty()) text += '*';
    } else if (term.coefficient == -1) {
      text += '-';
    }
    for (size_t i = 0; i < term.atoms.size(); ++i) {
      if (i > 0) text += '*';
      text += term.atoms[i]->text;
    }
  }
  return text;
}

Dim Dim::operator+(const Dim& other) const {
  if (unknown() || other.unknown()) return Unknown();
  Polynomial sum = ToPolynomial();
  for (const Term& term : other.ToPolynomial().terms) {
    if (!sum.Add(term)) return Unknown();
  }
  return FromPolynomial(std::move(sum));
}

Dim Dim::operator-(const Dim& other) const { return *this + other * Dim(-1); }

Dim Dim::operator*(const Dim& other) const {
  if ((known() && value_ == 0) || (other.known() && other.value_ == 0)) return Dim(0);
  if (unknown() || other.unknown()) return Unknown();
  Polynomial product;
  const Polynomial a = ToPolynomial();
  const Polynomial b = other.ToPolynomial();
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      Term term = x;
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(term.atoms.begin(), term.atoms.end(), AtomLess);
      if (term.atoms.size() > kMaxDegree ||
          !CheckedMul(x.coefficient, y.coefficient, &term.coefficient) ||
          !product.Add(std::move(term))) {
        return Unknown();
      }
    }
  }
  return FromPolynomial(std::move(product));
}

namespace {

std::string InParentheses(const Dim& dim, bool simple) {
  return simple ? dim.ToString() : "(" + dim.ToString() + ")";
}

}  // namespace

Dim Dim::FloorDiv(const Dim& divisor) const {
  if (unknown() || divisor.unknown() || divisor == Dim(0)) return Unknown();
  if (divisor.known() && divisor.value_ < 0) {
    return divisor.value_ == INT64_MIN ? Unknown()
                                       : (*this * Dim(-1)).FloorDiv(Dim(-divisor.value_));
  }
  if (known() && divisor.known()) return Dim(FloorDivide(value_, divisor.value_));
  if (*this == divisor) return Dim(1);
  // What the divisor divides is taken out; of the rest, the floor is an atom of its own.
  const Polynomial by = divisor.ToPolynomial();
  Polynomial whole, rest;
  for (const Term& term : ToPolynomial().terms) {
    Term quotient = term;
    bool fits = by.terms.size() == 1 && RemoveAtoms(by.terms[0], quotient);
    fits = fits && term.coefficient % by.terms[0].coefficient == 0;
    if (fits) {
      quotient.coefficient = term.coefficient / by.terms[0].coefficient;
      if (!whole.Add(std::move(quotient))) return Unknown();
    } else if (term.atoms.empty() && divisor.known()) {
      const int64_t floor = FloorDivide(term.coefficient, divisor.value_);
      const int64_t remainder = term.coefficient - floor * divisor.value_;
      if (!whole.Add({{}, floor}) || !rest.Add({{}, remainder})) return Unknown();
    } else if (!rest.Add(term)) {
      return Unknown();
    }
  }
  const Dim numerator = FromPolynomial(std::move(rest));
  if (numerator.known() && divisor.known()) {
    return FromPolynomial(std::move(whole)) + Dim(FloorDivide(numerator.value_, divisor.value_));
  }
  if (numerator == Dim(0)) return FromPolynomial(std::move(whole));
  auto atom = std::make_shared<Atom>();
  atom->numerator = numerator;
  atom->denominator = divisor;
  const bool one_term = numerator.known() || numerator.polynomial_->terms.size() == 1;
  atom->text = "floor(" + InParentheses(numerator, one_term) + "/" +
               InParentheses(divisor, divisor.known() || divisor.symbol().has_value()) + ")";
  if (atom->text.size() > kMaxAtomBytes) return Unknown();
  return FromPolynomial(std::move(whole)) + FromPolynomial({{Term{{std::move(atom)}, 1}}});
}

Dim Dim::CeilDiv(const Dim& divisor) const { return (*this * Dim(-1)).FloorDiv(divisor) * Dim(-1); }

namespace {

using Lookup = std::function<std::optional<int64_t>(std::string_view)>;

std::optional<int64_t> EvaluateAtom(const Atom& atom, const Lookup& lookup) {
  if (!atom.symbol.empty()) return lookup(atom.symbol);
  const std::optional<int64_t> numerator = atom.numerator.Evaluate(lookup);
  const std::optional<int64_t> denominator = atom.denominator.Evaluate(lookup);
  if (!numerator || !denominator) return std::nullopt;
  return Dim(*numerator).FloorDiv(Dim(*denominator)).maybe();
}

}  // namespace

std::optional<int64_t> Dim::Evaluate(const Lookup& lookup) const {
  if (!symbolic()) return maybe();
  int64_t sum = 0;
  for (const Term& term : polynomial_->terms) {
    int64_t product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) {
      const std::optional<int64_t> value = EvaluateAtom(*atom, lookup);
      if (!value || !CheckedMul(product, *value, &product)) return std::nullopt;
    }
    if (!CheckedAdd(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

bool Dim::operator==(const Dim& other) const { return !unknown() && SameAs(other); }

bool Dim::SameAs(const Dim& other) const {
  if (state_ != other.state_) return false;
  if (!symbolic()) return unknown() || value_ == other.value_;
  if (polynomial_ == other.polynomial_) return true;
  return std::equal(polynomial_->terms.begin(), polynomial_->terms.end(),
                    other.polynomial_->terms.begin(), other.polynomial_->terms.end(),
                    [](const Term& a, const Term& b) {
                      return a.coefficient == b.coefficient && SameAtoms(a, b);
                    });
}

namespace {

// expression: product { ("+" | "-") product }
// product:    factor { "*" factor }
// factor:     "-" factor | integer | symbol | "floor(" expression "/" factor ")" | "(" expression
// ")"
class DimParser {
 public:
  explicit DimParser(std::string_view text) : text_(text) {}

  std::optional<Dim> Parse() {
    const std::optional<Dim> dim = Expression(0);
    return dim && pos_ == text_.size() ? dim : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 16;

  bool Accept(std::string_view token) {
    if (!text_.substr(pos_).starts_with(token)) return false;
    pos_ += token.size();
    return true;
  }

  std::optional<Dim> Expression(int depth) {
    std::optional<Dim> sum = Product(depth);
    while (sum) {
      const bool plus = Accept("+");
      if (!plus && !Accept("-")) break;
      const std::optional<Dim> next = Product(depth);
      sum = next ? std::optional(plus ? *sum + *next : *sum - *next) : std::nullopt;
    }
    return sum;
  }

  std::optional<Dim> Product(int depth) {
    std::optional<Dim> product = Factor(depth);
    while (product && Accept("*")) {
      const std::optional<Dim> next = Factor(depth);
      product = next ? std::optional(*product * *next) : std::nullopt;
    }
    return product;
  }

  std::optional<Dim> Factor(int depth) {
    if (depth > kMaxDepth || pos_ >= text_.size()) return std::nullopt;
    const char c = text_[pos_];
    if (c >= '0' && c <= '9') return Integer(1);
    if (c == '-') return Negated(depth);
    if (c == '"') return QuotedSymbol();
    if (Accept("floor(")) return Floor(depth);
    if (Accept("(")) {
      const std::optional<Dim> inner = Expression(depth + 1);
      return Accept(")") ? inner : std::nullopt;
    }
    const size_t start = pos_;
    while (pos_ < text_.size() && IsSymbolChar(text_[pos_], pos_ == start)) ++pos_;
    if (pos_ == start) return std::nullopt;
    return Dim::Symbol(text_.substr(start, pos_ - start));
  }

  std::optional<Dim> Negated(int depth) {
    ++pos_;
    if (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') return Integer(-1);
    const std::optional<Dim> factor = Factor(depth + 1);
    return factor ? std::optional(*factor * Dim(-1)) : std::nullopt;
  }

  // The sign goes in before the digits, so that the smallest integer is read.
  std::optional<Dim> Integer(int64_t sign) {
    int64_t value = 0;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') {
      if (!CheckedMul(value, int64_t{10}, &value) ||
          !CheckedAdd(value, sign * (text_[pos_] - '0'), &value)) {
        return std::nullopt;
      }
      ++pos_;
    }
    return Dim(value);
  }

  std::optional<Dim> QuotedSymbol() {
    std::string name;
    for (++pos_; pos_ < text_.size() && text_[pos_] != '"'; ++pos_) {
      if (text_[pos_] == '\\' && ++pos_ == text_.size()) return std::nullopt;
      name += text_[pos_];
    }
    return Accept("\"") && !name.empty() ? std::optional(Dim::Symbol(name)) : std::nullopt;
  }

  std::optional<Dim> Floor(int depth) {
    const std::optional<Dim> numerator = Expression(depth + 1);
    if (!numerator || !Accept("/")) return std::nullopt;
    const std::optional<Dim> denominator = Factor(depth + 1);
    if (!denominator || !Accept(")")) return std::nullopt;
    return numerator->FloorDiv(*denominator);
  }

  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace

std::optional<Dim> Dim::Parse(std::string_view text) {
  if (text == "?") return Unknown();
  return DimParser(text).Parse();
}

}  // namespace kheya
