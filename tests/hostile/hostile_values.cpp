#include <utility>

#include "hostile/parts.h"

namespace kheya::test {
namespace {

std::string Times(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

// Texts that are none, long, or made to take time.
const std::vector<std::pair<const char*, std::string>>& OddTexts() {
  static const auto* texts = new std::vector<std::pair<const char*, std::string>>{
      {"empty", ""},
      {"nul", std::string("a\0b", 3)},
      {"invalid", "\xff\xfe\xc0"},
      {"cut", "\xe2\x82"},
      {"surrogate", "\xed\xa0\x80"},
      {"overlong", "\xc0\xaf"},
      {"beyond_unicode", "\xf4\x90\x80\x80"},
      {"combining", "a" + Times("\xcc\x81", 20'000)},
      {"sharp_s", Times("\xc3\x9f", 50'000)},
      {"ligature", Times("\xef\xb7\xba", 20'000)},  // 18 characters when it is decomposed
      {"long", std::string(200'000, 'a')},
      {"spaces", std::string(100'000, ' ')},
      {"separators", Times("a ", 100'000)},
  };
  return *texts;
}

void AddTexts(std::vector<HostileModel>& models) {
  for (const auto& [name, text] : OddTexts()) {
    const std::string suffix = std::string("_") + name;
    const Operand one = K(Strings{text});
    const Operand three = K(Strings{text, "b", text});
    AddRows(
        models,
        {{"normalizer_lower" + suffix,
          "StringNormalizer",
          {three},
          {StringAttribute("case_change_action", "LOWER"), StringsAttribute("stopwords", {text})}},
         {"normalizer_upper" + suffix,
          "StringNormalizer",
          {three},
          {StringAttribute("case_change_action", "UPPER"), IntAttribute("is_case_sensitive", 0),
           StringsAttribute("stopwords", {"b", text})}},
         {"split" + suffix, "StringSplit", {three}, {}, 2},
         {"split_by" + suffix, "StringSplit", {three}, {StringAttribute("delimiter", text)}, 2},
         {"concat" + suffix, "StringConcat", {three, one}},
         {"match" + suffix, "RegexFullMatch", {three}, {StringAttribute("pattern", "(a|b)*c")}},
         {"pattern" + suffix, "RegexFullMatch", {three}, {StringAttribute("pattern", text)}},
         {"encode" + suffix,
          "ai.onnx.ml::LabelEncoder",
          {three},
          {StringsAttribute("keys_strings", {text, text}), IntsAttribute("values_int64s", {1, 2})}},
         {"to_float" + suffix, "Cast", {three}, {IntAttribute("to", 1)}},
         {"to_int" + suffix, "Cast", {three}, {IntAttribute("to", 7)}},
         {"unique" + suffix, "Unique", {three}, {}, 4},
         {"equal" + suffix, "Equal", {three, one}}});
  }
}

void AddPatterns(std::vector<HostileModel>& models) {
  const std::pair<const char*, std::string> patterns[] = {
      {"nested_stars", "((((a*)*)*)*)*b"},
      {"alternatives", Times("a|", 30'000) + "b"},
      {"counted", "(a{1000}){1000}"},
      {"counted_thrice", "((a{100}){100}){100}"},
      {"counted_too_far", "a{2000000000}"},
      {"unicode_classes", Times("[\\p{L}\\p{N}]{1,99}", 50)},
      {"groups", Times("(", 5000) + "a" + Times(")", 5000)},
      {"open", "(a"},
      {"closed", "a)"},
      {"class_open", "[a-"},
      {"class_reversed", "[z-a]"},
      {"backslash", "a\\"},
      {"backreference", "(a)\\1"},
      {"look_ahead", "(?=a)a"},
      {"any_byte", "\\C*"},
      {"named_twice", "(?P<a>x)(?P<a>y)"},
      {"stars", Times("a*", 20'000)},
      {"nothing", "[^\\x00-\\x{10FFFF}]"},
  };
  for (const auto& [name, pattern] : patterns) {
    models.push_back(OneNode({std::string("pattern_") + name,
                              "RegexFullMatch",
                              {K(Strings{std::string(5000, 'a'), "", "\xff"})},
                              {StringAttribute("pattern", pattern)}}));
  }
  AddRows(
      models,
      {{"pattern_missing", "RegexFullMatch", {K(Strings{"a"})}},
       {"match_of_ints", "RegexFullMatch", {K(Ints{1})}, {StringAttribute("pattern", "a")}},
       {"normalizer_of_cube", "StringNormalizer", {In("string[2,2,2]")}},
       {"normalizer_of_two_rows", "StringNormalizer", {In("string[2,3]")}},
       {"normalizer_of_none", "StringNormalizer", {In("string[0]")}},
       {"normalizer_of_action",
        "StringNormalizer",
        {In("string[2]")},
        {StringAttribute("case_change_action", "lower")}},
       {"normalizer_of_locale",
        "StringNormalizer",
        {In("string[2]")},
        {StringAttribute("locale", "no_SUCH\n"), StringAttribute("case_change_action", "UPPER")}},
       {"split_negative", "StringSplit", {K(Strings{"a b c"})}, {IntAttribute("maxsplit", -1)}, 2},
       {"split_most",
        "StringSplit",
        {K(Strings{"a b c"})},
        {IntAttribute("maxsplit", INT64_MAX)},
        2},
       {"split_least",
        "StringSplit",
        {K(Strings{"a b c"})},
        {IntAttribute("maxsplit", INT64_MIN)},
        2},
       {"split_none", "StringSplit", {K(Strings{})}, {}, 2},
       {"concat_shapes", "StringConcat", {In("string[2]"), In("string[3]")}},
       {"concat_types", "StringConcat", {In("string[2]"), In("float32[2]")}},
       {"strings_add", "Add", {In("string[2]"), In("string[2]")}},
       {"strings_to_bool", "Cast", {K(Strings{"maybe"})}, {IntAttribute("to", 9)}},
       {"strings_to_half",
        "Cast",
        {K(Strings{"1e99999", "-nan", "0x1p-9999", "1_0"})},
        {IntAttribute("to", 10)}},
       {"strings_to_int4",
        "Cast",
        {K(Strings{"99999999999999999999"})},
        {IntAttribute("to", 22)}}});
}

void AddTfIdf(std::vector<HostileModel>& models) {
  // Of grams with one and with two tokens.
  const std::string right =
      OneNode({"",
               "TfIdfVectorizer",
               {In("int64[2,6]")},
               {StringAttribute("mode", "TFIDF"), IntAttribute("min_gram_length", 1),
                IntAttribute("max_gram_length", 2), IntAttribute("max_skip_count", 1),
                IntsAttribute("ngram_counts", {0, 2}), IntsAttribute("ngram_indexes", {0, 1, 2}),
                IntsAttribute("pool_int64s", {1, 0, 0, 1, 1, 0}),
                FloatsAttribute("weights", {1, 2, 3})}})
          .bytes;
  models.push_back({"tfidf", right});
  for (const char* name : {"min_gram_length", "max_gram_length", "max_skip_count"}) {
    for (int64_t odd : kOddInts) {
      models.push_back({"tfidf_" + std::string(name) + "_" + std::to_string(odd),
                        WithAttribute(right, name, IntAttribute(name, odd))});
    }
    models.push_back({"tfidf_without_" + std::string(name), WithAttribute(right, name, "")});
  }
  const std::pair<const char*, std::vector<Ints>> lists[] = {
      {"ngram_counts",
       {{},
        {0},
        {1},
        {0, 99},
        {-1, 2},
        {2, 0},
        {0, INT64_MAX},
        {INT64_MIN, 0},
        {0, 0, 0, 0},
        {0, 1}}},
      {"ngram_indexes",
       {{}, {0}, {0, 1, -2}, {0, 0, 0}, {0, 1, INT64_MAX}, {0, 1, 1 << 30}, Ints(99)}},
      {"pool_int64s", {{}, {1}, Ints(7), {1, 1, 1, 1, 1, 1}, Ints(50'000)}}};
  for (const auto& [name, values] : lists) {
    for (size_t i = 0; i < values.size(); ++i) {
      models.push_back({std::string("tfidf_") + name + "_" + std::to_string(i),
                        WithAttribute(right, name, IntsAttribute(name, values[i]))});
    }
  }
  models.push_back(
      {"tfidf_weights", WithAttribute(right, "weights", FloatsAttribute("weights", {1}))});
  models.push_back({"tfidf_both_pools",
                    WithAttribute(right, "pool_strings", StringsAttribute("pool_strings", {"a"}))});
  models.push_back({"tfidf_mode", WithAttribute(right, "mode", StringAttribute("mode", "TF\n"))});
  // Grams of 2,000 lengths at 2,000 distances from 4,000 places.
  Ints counts(2000, 6);
  counts[0] = 0;
  counts[1] = 2;
  std::string skips = WithAttribute(right, "ngram_counts", IntsAttribute("ngram_counts", counts));
  for (const char* name : {"max_gram_length", "max_skip_count"}) {
    skips = WithAttribute(skips, name, IntAttribute(name, 2000));
  }
  models.push_back(
      {"tfidf_cubic", WithOperand(skips, 0, Filled(DType::kInt64, {1, 4000}, 32'000))});
  models.push_back({"tfidf_of_strings", WithOperand(right, 0, In("string[2,6]"))});
  models.push_back({"tfidf_of_cube", WithOperand(right, 0, In("int64[2,2,2]"))});
}

void AddSequences(std::vector<HostileModel>& models) {
  const Operand sequence = In("seq(float32?)");
  for (int64_t odd : kOddInts) {
    const std::string text = "_" + std::to_string(odd);
    AddRows(
        models,
        {{"sequence_at" + text, "SequenceAt", {sequence, Scalar(odd)}},
         {"sequence_erase" + text, "SequenceErase", {sequence, Scalar(odd)}},
         {"sequence_insert" + text, "SequenceInsert", {sequence, In("float32[2]"), Scalar(odd)}},
         {"split_to" + text, "SplitToSequence", {In("float32[6,2]"), Scalar(odd)}},
         {"split_to_parts" + text, "SplitToSequence", {In("float32[6,2]"), K(Ints{odd, 3})}},
         {"split_to_axis" + text,
          "SplitToSequence",
          {In("float32[6,2]")},
          {IntAttribute("axis", odd)}},
         {"split_to_keepdims" + text,
          "SplitToSequence",
          {In("float32[6,2]")},
          {IntAttribute("keepdims", odd)}},
         {"concat_from_axis" + text, "ConcatFromSequence", {sequence}, {IntAttribute("axis", odd)}},
         {"concat_from_new" + text,
          "ConcatFromSequence",
          {sequence},
          {IntAttribute("axis", 0), IntAttribute("new_axis", odd)}},
         {"sequence_empty" + text, "SequenceEmpty", {}, {IntAttribute("dtype", odd)}}});
  }
  AddRows(
      models,
      {{"construct_mixed", "SequenceConstruct", {In("float32[2]"), In("int64[2]")}},
       {"construct_nothing", "SequenceConstruct", {}},
       {"construct_sequences", "SequenceConstruct", {sequence, sequence}},
       {"construct_left_out", "SequenceConstruct", {In("float32[2]"), None()}},
       {"concat_from_tensor", "ConcatFromSequence", {In("float32[2]")}, {IntAttribute("axis", 0)}},
       {"concat_from_no_axis", "ConcatFromSequence", {sequence}},
       {"concat_from_strings",
        "ConcatFromSequence",
        {In("seq(string?)")},
        {IntAttribute("axis", 0)}},
       {"concat_from_nested",
        "ConcatFromSequence",
        {In("seq(seq(float32?))")},
        {IntAttribute("axis", 0)}},
       {"insert_other_type", "SequenceInsert", {sequence, In("int64[2]")}},
       {"insert_sequence", "SequenceInsert", {sequence, sequence}},
       {"insert_nothing", "SequenceInsert", {sequence, None()}},
       {"at_of_tensor", "SequenceAt", {In("float32[2]"), Scalar(0)}},
       {"at_of_two", "SequenceAt", {sequence, K(Ints{0, 1})}},
       {"at_of_float", "SequenceAt", {sequence, ScalarFloat(0)}},
       {"length_of_tensor", "SequenceLength", {In("float32[2]")}},
       {"length_of_optional", "SequenceLength", {In("optional(seq(float32?))")}},
       {"split_to_many", "SplitToSequence", {In("float32[60000]"), Scalar(1)}},
       {"split_to_empty", "SplitToSequence", {In("float32[0]"), K(Ints{0, 0, 0})}},
       {"split_to_strings", "SplitToSequence", {In("string[5]"), Scalar(2)}},
       {"split_to_overflow",
        "SplitToSequence",
        {In("float32[6]"), K(Ints{INT64_MAX, 7, INT64_MIN})}},
       {"split_to_scalar", "SplitToSequence", {In("float32[]")}}});
}

void AddOptionals(std::vector<HostileModel>& models) {
  AddRows(models,
          {{"get_of_none", "OptionalGetElement", {None()}},
           {"get_of_nothing", "OptionalGetElement", {}},
           {"get_of_tensor", "OptionalGetElement", {In("float32[2]")}},
           {"get_of_optional", "OptionalGetElement", {In("optional(float32[2])")}},
           {"get_of_optional_sequence", "OptionalGetElement", {In("optional(seq(float32?))")}},
           {"get_of_optional_optional", "OptionalGetElement", {In("optional(optional(float32?))")}},
           {"has_of_none", "OptionalHasElement", {None()}},
           {"has_of_nothing", "OptionalHasElement", {}},
           {"has_of_map", "OptionalHasElement", {In("map(int64,float32[])")}},
           {"optional_of_nothing", "Optional", {}},
           {"optional_of_optional", "Optional", {In("optional(float32?)")}},
           {"optional_of_map", "Optional", {In("map(string,int64[])")}},
           {"optional_of_two", "Optional", {In("float32[2]"), In("float32[2]")}},
           {"optional_adds", "Add", {In("optional(float32[2])"), In("float32[2]")}},
           {"sequence_adds", "Add", {In("seq(float32[2])"), In("float32[2]")}},
           {"sequence_same", "Identity", {In("seq(float32[2])")}},
           {"optional_same", "Identity", {In("optional(seq(float32[2]))")}},
           {"map_same", "Identity", {In("map(int64,float32[])")}}});
  for (const char* type : {"float32", "seq", ""}) {
    models.push_back(OneNode({std::string("optional_of_type_") + type,
                              "Optional",
                              {},
                              {TypeAttribute("type", type[0] == 'f'   ? In("float32[2]").type
                                                     : type[0] == 's' ? In("seq(int8?)").type
                                                                      : "")}}));
  }
}

}  // namespace

std::vector<HostileModel> HostileValues() {
  std::vector<HostileModel> models;
  AddTexts(models);
  AddPatterns(models);
  AddTfIdf(models);
  AddSequences(models);
  AddOptionals(models);
  return models;
}

}  // namespace kheya::test
