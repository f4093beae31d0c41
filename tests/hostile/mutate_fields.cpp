// Mutation at the level of fields: types, shapes, attributes, operands, subgraphs.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/random.h"
#include "hostile/message_tree.h"

namespace kheya::test {
namespace {

struct Place {
  MessageField* parent;
  size_t index;
  MessageField& field() const { return parent->fields[index]; }
};
// Fields of the same meaning: of the same number in messages of the same kind.
using Meaning = std::pair<MessageKind, uint32_t>;
using Places = std::map<Meaning, std::vector<Place>>;

void Gather(MessageField& message, Places& places) {
  for (size_t i = 0; i < message.fields.size(); ++i) {
    places[{message.kind, message.fields[i].number}].push_back({&message, i});
    Gather(message.fields[i], places);
  }
}

class FieldMutator {
 public:
  FieldMutator(Random& random, MessageField& model, MessageField& other)
      : random_(random), model_(model) {
    Gather(other, others_);
  }

  void MutateOnce() {
    Places places;
    Gather(model_, places);
    if (places.empty()) return;
    // A meaning first: a model has many more dimensions than subgraphs.
    const auto& [meaning, all] = *std::next(places.begin(), Below(places.size()));
    const Place place = all[Below(all.size())];
    switch (Below(8)) {
      case 0:
        place.parent->fields.erase(place.parent->fields.begin() + place.index);
        return;
      case 1: {
        MessageField copy = place.field();
        place.parent->fields.insert(place.parent->fields.begin() + place.index, std::move(copy));
        return;
      }
      case 2:
        return SwapWithSibling(place);
      case 3:
        return TakeFrom(all, place);
      case 4:
        if (const auto found = others_.find(meaning); found != others_.end()) {
          return TakeFrom(found->second, place);
        }
        [[fallthrough]];
      default:
        ChangeContent(place, all);
    }
  }

 private:
  size_t Below(size_t count) { return random_.UniformInt(count); }

  void SwapWithSibling(const Place& place) {
    std::vector<MessageField*> siblings;
    for (MessageField& field : place.parent->fields) {
      if (field.number == place.field().number) siblings.push_back(&field);
    }
    std::swap(place.field(), *siblings[Below(siblings.size())]);
  }

  void TakeFrom(const std::vector<Place>& from, const Place& place) {
    MessageField copy = from[Below(from.size())].field();
    place.field() = std::move(copy);
  }

  void ChangeContent(const Place& place, const std::vector<Place>& all) {
    MessageField& field = place.field();
    if (field.type == WireType::kVarint) {
      ChangeNumber(field);
    } else if (field.type == WireType::kFixed32) {
      constexpr uint32_t kFloats[] = {0,          0x3f800000, 0xbf800000, 0x7f800000,
                                      0x7fc00000, 0x7f7fffff, 0x00000001, 0x4b000000};
      field.scalar = kFloats[Below(std::size(kFloats))];
    } else if (field.kind == MessageKind::kNone) {
      ChangeBytes(field, all);
    } else {
      SwapWithSibling(place);
    }
  }

  void ChangeNumber(MessageField& field) {
    constexpr uint64_t kNumbers[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     17,
                                     255,
                                     1000003,
                                     uint64_t{1} << 31,
                                     uint64_t{1} << 40,
                                     INT64_MAX,
                                     uint64_t{1} << 63,
                                     UINT64_MAX,
                                     UINT64_MAX - 1};
    switch (Below(3)) {
      case 0:
        field.scalar += Below(2) == 0 ? 1 : -1;
        return;
      case 1:  // types of elements and attributes are small numbers
        field.scalar = Below(28);
        return;
      default:
        field.scalar = kNumbers[Below(std::size(kNumbers))];
    }
  }

  void ChangeBytes(MessageField& field, const std::vector<Place>& all) {
    std::string& bytes = field.bytes;
    switch (Below(5)) {
      case 0:
        bytes = all[Below(all.size())].field().bytes;
        return;
      case 1:
        bytes.resize(bytes.size() / 2);
        return;
      case 2:
        if (bytes.size() < 4096) bytes += bytes.empty() ? "a" : bytes;
        return;
      case 3:
        WriteExtreme(bytes);
        return;
      default:
        if (!bytes.empty()) bytes[Below(bytes.size())] = static_cast<char>(random_.Next());
    }
  }

  // An element of 4 or 8 bytes, aligned in what may be the data of a tensor.
  void WriteExtreme(std::string& bytes) {
    static const std::string kExtremes[] = {std::string(8, '\xff'),
                                            std::string(7, '\xff') + "\x7f",
                                            std::string(7, '\0') + "\x80",
                                            std::string(8, '\0'),
                                            std::string("\0\0\xc0\x7f", 4),
                                            std::string("\0\0\x80\x7f", 4),
                                            std::string("\xff\xff\x7f\x7f", 4)};
    const std::string& extreme = kExtremes[Below(std::size(kExtremes))];
    if (bytes.size() < extreme.size()) return;
    const size_t at = Below(bytes.size() / extreme.size()) * extreme.size();
    bytes.replace(at, extreme.size(), extreme);
  }

  Random& random_;
  MessageField& model_;
  Places others_;
};

}  // namespace

std::string MutateFields(std::string_view model, std::string_view other, uint64_t random_seed) {
  Random random(random_seed);
  MessageField tree = ParseModel(model);
  MessageField other_tree = ParseModel(other);
  FieldMutator mutator(random, tree, other_tree);
  const uint64_t count = 1 + random.UniformInt(4);
  for (uint64_t i = 0; i < count; ++i) mutator.MutateOnce();
  return WriteModel(tree);
}

}  // namespace kheya::test
