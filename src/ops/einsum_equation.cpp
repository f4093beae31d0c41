#include "ops/einsum_equation.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>

#include "base/string_util.h"

namespace kheya {
namespace {

constexpr int kMaxAxes = 64;

// One operand or the output: letters, and where the ellipsis stands among them.
struct Term {
  std::string letters;
  std::optional<size_t> ellipsis;
};

Result<Term> ParseTerm(std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::isalpha(static_cast<unsigned char>(c))) {
      term.letters.push_back(c);
    } else if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = term.letters.size();
      i += 2;
    } else if (c != ' ') {
      return InvalidArgumentError(
          "found '{}' in the equation, expected letters and at most one "
          "ellipsis",
          Abbreviate(text));
    }
  }
  if (term.letters.size() > static_cast<size_t>(kMaxAxes)) {
    return InvalidArgumentError("found {} letters in one term of the equation, expected at most {}",
                                term.letters.size(), kMaxAxes);
  }
  return term;
}

// The output that an equation without an arrow means.
Term ImplicitOutput(const std::vector<Term>& operands) {
  std::map<char, int> counts;
  Term output;
  for (const Term& operand : operands) {
    if (operand.ellipsis) output.ellipsis = 0;
    for (char letter : operand.letters) ++counts[letter];
  }
  for (const auto& [letter, count] : counts) {
    if (count == 1) output.letters.push_back(letter);
  }
  return output;
}

// How many axes the ellipsis of an operand of `rank` stands for.
Result<int> EllipsisRank(const Term& term, int rank) {
  const int rest = rank - static_cast<int>(term.letters.size());
  if (rest == 0 || (rest > 0 && term.ellipsis)) return rest;
  return InvalidArgumentError("found an operand of rank {} for '{}' of the equation", rank,
                              term.letters);
}

// The axes of a term whose ellipsis stands for `count` axes, the last of `all`.
std::vector<int> AxesOf(const Term& term, int count, int all, const std::map<char, int>& letters) {
  std::vector<int> axes;
  for (char letter : term.letters) axes.push_back(letters.at(letter));
  std::vector<int> dots;
  for (int i = all - count; i < all; ++i) dots.push_back(i);
  const size_t at = term.ellipsis.value_or(0);
  axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at), dots.begin(), dots.end());
  return axes;
}

Status CheckOutput(const Term& output, const std::map<char, int>& letters) {
  for (size_t i = 0; i < output.letters.size(); ++i) {
    const char letter = output.letters[i];
    if (!letters.contains(letter) || output.letters.find(letter) != i) {
      return InvalidArgumentError(
          "found '{}' in the output of the equation, expected a letter of "
          "the operands, once",
          letter);
    }
  }
  return OkStatus();
}

}  // namespace

Result<EinsumEquation> ParseEinsum(std::string_view equation, std::span<const int> ranks) {
  const size_t arrow = equation.find("->");
  std::vector<Term> terms;
  for (std::string_view part : Split(equation.substr(0, arrow), ',')) {
    KHEYA_ASSIGN_OR_RETURN(Term term, ParseTerm(part));
    terms.push_back(std::move(term));
  }
  if (terms.size() != ranks.size()) {
    return InvalidArgumentError("found {} operands in the equation and {} inputs", terms.size(),
                                ranks.size());
  }
  Term output = ImplicitOutput(terms);
  if (arrow != std::string_view::npos) {
    KHEYA_ASSIGN_OR_RETURN(output, ParseTerm(equation.substr(arrow + 2)));
  }
  int dots = 0;
  std::vector<int> counts;
  for (size_t i = 0; i < terms.size(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(int count, EllipsisRank(terms[i], ranks[i]));
    counts.push_back(count);
    dots = std::max(dots, count);
  }
  EinsumEquation result;
  result.num_axes = dots;
  std::map<char, int> letters;
  for (const Term& term : terms) {
    for (char letter : term.letters) {
      if (letters.emplace(letter, result.num_axes).second) ++result.num_axes;
    }
  }
  KHEYA_RETURN_IF_ERROR(CheckOutput(output, letters));
  for (size_t i = 0; i < terms.size(); ++i) {
    result.operands.push_back(AxesOf(terms[i], counts[i], dots, letters));
  }
  result.output = AxesOf(output, output.ellipsis ? dots : 0, dots, letters);
  return result;
}

Result<std::vector<Dim>> EinsumSizes(const EinsumEquation& equation,
                                     std::span<const SymbolicShape> shapes) {
  std::vector<Dim> sizes(equation.num_axes, Dim(1));
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      const Dim& dim = shapes[i][d];
      Dim& size = sizes[equation.operands[i][d]];
      const bool one = dim.known() && dim.value() == 1;
      const bool size_is_one = size.known() && size.value() == 1;
      if (dim.known() && size.known() && !one && !size_is_one && dim.value() != size.value()) {
        return InvalidArgumentError("found sizes {} and {} of one letter of the equation",
                                    size.value(), dim.value());
      }
      if (!one && (size_is_one || dim.known())) size = dim;
    }
  }
  return sizes;
}

}  // namespace kheya
