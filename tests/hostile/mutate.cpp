#include <algorithm>

#include "base/random.h"
#include "hostile/hostile_models.h"

namespace kheya::test {
namespace {

// A place in `text`, and how many bytes from there, at most `limit`.
struct Part {
  size_t begin;
  size_t size;
};

Part RandomPart(Random& random, std::string_view text, size_t limit) {
  const size_t begin = random.UniformInt(text.size());
  const size_t most = std::min(limit, text.size() - begin);
  return {begin, 1 + random.UniformInt(most)};
}

std::string RandomVarint(Random& random) {
  static constexpr uint64_t kValues[] = {0,          1,
                                         0x7f,       0x80,
                                         0xffff,     0x7fffffff,
                                         0x80000000, uint64_t{1} << 40,
                                         UINT64_MAX, UINT64_MAX >> 1};
  uint64_t value = kValues[random.UniformInt(std::size(kValues))];
  std::string text;
  for (; value >= 0x80; value >>= 7) text.push_back(static_cast<char>(value | 0x80));
  text.push_back(static_cast<char>(value));
  return text;
}

void MutateOnce(Random& random, std::string& text, std::string_view other) {
  const Part part = RandomPart(random, text, 64);
  switch (random.UniformInt(9)) {
    case 0:
      text[part.begin] ^= static_cast<char>(1 << random.UniformInt(8));
      break;
    case 1:
      text[part.begin] = static_cast<char>(random.Next());
      break;
    case 2:
      text.resize(part.begin + 1);
      break;
    case 3:
      text.erase(part.begin, part.size);
      break;
    case 4:
      text.insert(part.begin, text.substr(part.begin, part.size));
      break;
    case 5:
      text.insert(part.begin, RandomVarint(random));
      break;
    case 6:
      text.replace(part.begin, 1, RandomVarint(random));
      break;
    case 7: {
      const Part from = RandomPart(random, other, 64);
      text.replace(part.begin, part.size, other.substr(from.begin, from.size));
      break;
    }
    default:
      // A length or a small number, one more or less.
      text[part.begin] = static_cast<char>(text[part.begin] + (random.UniformInt(2) ? 1 : -1));
  }
}

}  // namespace

std::string Mutate(std::string_view seed, std::string_view other, uint64_t random_seed) {
  Random random(random_seed);
  std::string text(seed);
  const uint64_t count = 1 + random.UniformInt(8);
  for (uint64_t i = 0; i < count && !text.empty(); ++i) MutateOnce(random, text, other);
  return text;
}

}  // namespace kheya::test
