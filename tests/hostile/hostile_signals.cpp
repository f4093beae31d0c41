// Signals, random numbers, pictures, and operators that make much of little.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.h"
#include "hostile/parts.h"

namespace kheya::test {
namespace {

// In the first case of `file`, operand `place` is `operand`.
struct Odd {
  const char* file;
  size_t place;
  std::vector<Operand> operands;
};

void AddOdd(std::vector<HostileModel>& models, const std::vector<Odd>& odds) {
  for (const Odd& odd : odds) {
    for (size_t i = 0; i < odd.operands.size(); ++i) {
      models.push_back({std::string(odd.file) + " operand " + std::to_string(odd.place) + " " +
                            std::to_string(i),
                        WithOperand(FirstCase(odd.file), odd.place, odd.operands[i])});
    }
  }
}

// Every odd number in an attribute of integers of the first case of `file`.
void AddInts(std::vector<HostileModel>& models, const char* file, const Strings& attributes) {
  for (const std::string& name : attributes) {
    for (int64_t odd : kOddInts) {
      models.push_back({std::string(file) + " " + name + " " + std::to_string(odd),
                        WithAttribute(FirstCase(file), name, IntAttribute(name, odd))});
    }
  }
}

std::vector<Operand> OddScalars() {
  std::vector<Operand> operands = {None(),        K(Ints{}),    K(Ints{1, 2}), ScalarFloat(NAN),
                                   In("int64[]"), In("int64?"), In("string[]")};
  for (int64_t odd : kOddInts) operands.push_back(Scalar(odd));
  for (int64_t large : {100'003, 1 << 24, (1 << 28) - 1, 1 << 28})
    operands.push_back(Scalar(large));
  return operands;
}

void AddTransforms(std::vector<HostileModel>& models) {
  AddOdd(models, {{"DFT.json", 1, OddScalars()},
                  {"DFT.json", 2, OddScalars()},
                  {"DFT.json",
                   0,
                   {In("float32[6]"), In("float32[0,0,1]"), In("float32[2,0,1]"),
                    In("float32[2,6,3]"), In("float32[1,1]"), In("int64[2,6,1]"),
                    In("float32[1,9973,1]"), In("complex64[2,6,1]")}},
                  {"STFT.json", 1, OddScalars()},
                  {"STFT.json", 3, OddScalars()},
                  {"STFT.json",
                   2,
                   {None(), In("float32[0]"), In("float32[99]"), In("float32[2,2]"),
                    In("float32[]"), In("float64[4]")}},
                  {"STFT.json",
                   0,
                   {In("float32[8]"), In("float32[0,8,1]"), In("float32[1,0,1]"),
                    In("float32[1,8,3]"), In("float32[1,8,0]")}},
                  {"HannWindow.json", 0, OddScalars()},
                  {"HammingWindow.json", 0, OddScalars()},
                  {"BlackmanWindow.json", 0, OddScalars()}});
  for (size_t place = 0; place < 3; ++place) {
    AddOdd(models, {{"MelWeightMatrix.json", place, OddScalars()}});
  }
  const std::vector<Operand> edges = {ScalarFloat(NAN),   ScalarFloat(INFINITY), ScalarFloat(-1),
                                      ScalarFloat(1e30f), ScalarFloat(0),        Scalar(0)};
  AddOdd(models, {{"MelWeightMatrix.json", 3, edges}, {"MelWeightMatrix.json", 4, edges}});
  AddInts(models, "DFT.json", {"inverse", "onesided"});
  AddInts(models, "STFT.json", {"onesided"});
  AddInts(models, "HannWindow.json", {"periodic", "output_datatype"});
  AddInts(models, "MelWeightMatrix.json", {"output_datatype"});
}

void AddRandom(std::vector<HostileModel>& models) {
  const std::vector<Ints> shapes = {{1'000'000'000},
                                    {INT64_MAX, INT64_MAX},
                                    {-1},
                                    {0, INT64_MAX},
                                    {1 << 20, 1 << 20, 1 << 20},
                                    Ints(70, 1),
                                    {}};
  for (const char* op : {"RandomNormal", "RandomUniform"}) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      models.push_back(OneNode({std::string(op) + "_shape_" + std::to_string(i),
                                op,
                                {},
                                {IntsAttribute("shape", shapes[i])}}));
    }
    for (int64_t odd : kOddInts) {
      models.push_back(OneNode({std::string(op) + "_dtype_" + std::to_string(odd),
                                op,
                                {},
                                {IntsAttribute("shape", {2}), IntAttribute("dtype", odd)}}));
    }
    models.push_back(OneNode({std::string(op) + "_without_shape", op, {}}));
  }
  for (const char* name : {"mean", "scale", "seed"}) {
    for (float odd : {NAN, INFINITY, -1.0f, 3e38f}) {
      models.push_back(OneNode({std::string("random_normal_") + name + std::to_string(odd),
                                "RandomNormal",
                                {},
                                {IntsAttribute("shape", {9}), FloatAttribute(name, odd)}}));
    }
  }
  AddInts(models, "Multinomial.json", {"sample_size", "dtype"});
  AddInts(models, "Bernoulli.json", {"dtype"});
  AddInts(models, "RandomUniformLike.json", {"dtype"});
  const auto rows = [](std::vector<float> values) {
    return Raw(DType::kFloat32, {1, static_cast<int64_t>(values.size())},
               {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
  };
  AddOdd(models,
         {{"Multinomial.json",
           0,
           {rows({}), rows({-INFINITY, -INFINITY}), rows({NAN, NAN}), rows({INFINITY, 1}),
            rows({-3e38f, 3e38f}), In("float32[2,0]"), In("float32[0,3]"), In("float32[3]")}},
          {"Bernoulli.json", 0, {K(Floats{-1, 2, NAN}), In("float32[0]"), In("int64[3]")}}});
}

void AddPictures(std::vector<HostileModel>& models) {
  const auto encoded = [](const std::string& bytes) {
    return Raw(DType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes);
  };
  const std::pair<const char*, std::string> texts[] = {
      {"nothing", ""},
      {"zeros", std::string(500, '\0')},
      {"png_head", "\x89PNG\r\n\x1a\n"},
      {"jpeg_head", "\xff\xd8\xff\xe0"},
      {"tiff_head", std::string("II*\0\xff\xff\xff\xff", 8)},
      {"bmp_huge", "BM" + std::string(16, '\1') +
                       std::string("\xff\xff\xff\x7f\xff\xff\xff\x7f", 8) + std::string(40, '\1')},
      {"pnm_huge", "P6 99999999 99999999 255\n"},
      {"pnm_negative", "P5 -1 -1 255\nabc"},
      {"webp_head", "RIFF\xff\xff\xff\xffWEBPVP8 "},
      {"jp2_head", std::string("\0\0\0\x0cjP  \r\n\x87\n", 12)},
      {"gif", "GIF89a\x01\x01\x01\x01"},
  };
  for (const auto& [name, bytes] : texts) {
    models.push_back(OneNode({std::string("picture_") + name, "ImageDecoder", {encoded(bytes)}}));
  }
  // Pictures cut, and with a byte of each tenth turned round.
  const std::string folder = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/codec/pictures";
  for (const char* file : {"gray.bmp", "deep.pgm", "gray.png", "gray.jpg", "gray.jp2",
                           "deflate.tiff", "alpha.webp", "codestream.j2k"}) {
    const Result<std::string> bytes = ReadFile(folder + "/" + file);
    if (!bytes.ok()) std::abort();
    models.push_back(OneNode({std::string(file) + " cut",
                              "ImageDecoder",
                              {encoded(bytes->substr(0, bytes->size() / 2))}}));
    for (size_t part = 0; part < 5; ++part) {
      std::string changed = *bytes;
      for (size_t i = part; i < std::min<size_t>(changed.size(), 200); i += 37)
        changed[i] ^= '\xff';
      models.push_back(OneNode({std::string(file) + " changed " + std::to_string(part),
                                "ImageDecoder",
                                {encoded(changed)}}));
    }
  }
  AddOdd(models, {{"ImageDecoder.json",
                   0,
                   {In("uint8[3,3]"), In("uint8[0]"), In("float32[9]"), In("uint8[]")}}});
  models.push_back({"picture_format", WithAttribute(FirstCase("ImageDecoder.json"), "pixel_format",
                                                    StringAttribute("pixel_format", "CMYK\n"))});
}

void AddGrowing(std::vector<HostileModel>& models) {
  const std::vector<Operand> sizes = {K(Ints{1 << 20, 1 << 20}),
                                      K(Ints{INT64_MAX, INT64_MAX}),
                                      K(Ints{-1, -1}),
                                      K(Ints{0, 0}),
                                      K(Ints{}),
                                      K(Ints{1, 2, 3, 4, 5})};
  AddOdd(
      models,
      {{"Col2Im.json", 1, sizes},
       {"Col2Im.json", 2, sizes},
       {"CenterCropPad.json", 1, sizes},
       {"AffineGrid.json",
        1,
        {K(Ints{2, 1, 1 << 30, 1 << 30}), K(Ints{2, 1, -1, 5}), K(Ints{2, 1, 0, 0}),
         K(Ints{9, 1, 2, 2}), K(Ints{2, 1, INT64_MAX, INT64_MAX}), K(Ints{})}},
       {"MaxUnpool.json",
        2,
        {K(Ints{1, 1, 1 << 30, 1 << 30}), K(Ints{1, 1, 0, 0}), K(Ints{-1, 1, 4, 4}), K(Ints{4})}},
       {"MaxUnpool.json",
        1,
        {Filled(DType::kInt64, {1, 1, 2, 2}, 32), In("int64[2]"), In("float32[1,1,2,2]")}},
       {"RoiAlign.json",
        1,
        {Raw(DType::kFloat32, {3, 4}, std::string(48, '\x7f')), In("float32[0,4]"),
         In("float32[3,5]")}},
       {"RoiAlign.json", 2, {K(Ints{9, -1, INT64_MAX}), K(Ints{0}), In("int64[0]")}},
       {"NonMaxSuppression.json", 2, OddScalars()},
       {"TensorScatter.json",
        2,
        {K(Ints{9, 9}), K(Ints{-1, 0}), K(Ints{INT64_MAX, INT64_MIN}), K(Ints{0})}},
       {"RotaryEmbedding.json",
        3,
        {Filled(DType::kInt64, {2, 3}, 48), In("int64[2,9]"), In("int64[0]"), None()}},
       {"ReverseSequence.json",
        1,
        {K(Ints{9, -1, 0}), K(Ints{INT64_MAX, INT64_MIN, 0}), K(Ints{1})}}});
  AddInts(models, "RoiAlign.json", {"output_height", "output_width", "sampling_ratio"});
  AddInts(models, "EyeLike.json", {"k", "dtype"});
  AddInts(models, "LSTM.json", {"hidden_size", "input_forget", "layout"});
  AddInts(
      models, "Attention.json",
      {"q_num_heads", "kv_num_heads", "is_causal", "qk_matmul_output_mode", "softmax_precision"});
  AddInts(models, "RotaryEmbedding.json", {"num_heads", "rotary_embedding_dim", "interleaved"});
  AddInts(models, "DeformConv.json", {"group", "offset_group"});
  for (const char* equation :
       {"", "->", "ij,jk", "ij,jk->", "i...j,k", "...,...->......", "ii,jj->ij", "ij,jk->zz",
        "abcdefghijklmnopqrstuvwxyz,z->a", "ij,jk->ik,", "\xff", "ij jk", "iJ,Jk->ik"}) {
    models.push_back({std::string("einsum '") + equation + "'",
                      WithAttribute(FirstCase("Einsum.json"), "equation",
                                    StringAttribute("equation", equation))});
  }
}

}  // namespace

std::vector<HostileModel> HostileSignals() {
  std::vector<HostileModel> models;
  AddTransforms(models);
  AddRandom(models);
  AddPictures(models);
  AddGrowing(models);
  return models;
}

}  // namespace kheya::test
