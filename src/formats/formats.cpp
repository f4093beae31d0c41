#include "formats/formats.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "formats/package/package.h"
#include "formats/wire/protobuf_reader.h"

namespace kheya {
namespace {

using Content = std::span<const std::byte>;

std::string_view Text(Content content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

bool StartsWithBytes(Content content, std::string_view magic) {
  return Text(content).starts_with(magic);
}

// A protobuf message of fields that ModelProto has, with a graph (7) among them.
bool LooksLikeOnnx(Content content) {
  constexpr uint32_t kKnown[] = {1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26};
  ProtobufReader reader(content);
  bool found_graph = false;
  for (WireField field; !found_graph && reader.Next(field);) {
    if (std::find(std::begin(kKnown), std::end(kKnown), field.number) == std::end(kKnown)) {
      return false;
    }
    if (field.number == 1 && field.type != WireType::kVarint) return false;
    found_graph = field.number == 7 && field.type == WireType::kBytes;
  }
  return found_graph;
}

// A varint of field 1 or a producer name first: cut or damaged ONNX, which the importer explains.
bool LooksLikeDamagedOnnx(Content content) {
  if (content.size() < 4) return false;
  const auto tag = std::to_integer<int>(content[0]);
  const auto version = std::to_integer<int>(content[1]);
  return tag == 0x08 && version >= 1 && version < 32;
}

bool LooksLikeTflite(Content content) {
  return content.size() >= 8 && Text(content).substr(4, 4) == "TFL3";
}

struct Sniffer {
  const char* name;
  bool (*matches)(Content content);
};

// What is recognized and not supported; the first that matches.
constexpr Sniffer kUnsupported[] = {
    {"HDF5 (Keras)", [](Content c) { return StartsWithBytes(c, "\x89HDF\r\n\x1a\n"); }},
    {"ZIP (PyTorch, Keras or SavedModel archive)",
     [](Content c) { return StartsWithBytes(c, "PK\x03\x04"); }},
    {"TFLite", LooksLikeTflite},
    {"pickle (PyTorch)",
     [](Content c) {
       return c.size() > 2 && c[0] == std::byte{0x80} && std::to_integer<int>(c[1]) <= 5;
     }},
    {"GGUF", [](Content c) { return StartsWithBytes(c, "GGUF"); }},
    {"NumPy", [](Content c) { return StartsWithBytes(c, "\x93NUMPY"); }},
    {"gzip", [](Content c) { return StartsWithBytes(c, "\x1f\x8b"); }},
    {"XML", [](Content c) { return StartsWithBytes(c, "<?xml") || StartsWithBytes(c, "<net"); }},
    {"JSON", [](Content c) { return StartsWithBytes(c, "{\"") || StartsWithBytes(c, "{\n"); }},
    {"Git LFS pointer", [](Content c) { return StartsWithBytes(c, "version https://git-lfs"); }},
};

struct Format {
  const char* id;
  const char* name;
  bool (*matches)(Content content);
  Result<Graph> (*import)(const MappedFile& file, const ImportOptions& options,
                          std::vector<std::string>* warnings);
};

constexpr Format kFormats[] = {
    {"onnx", "ONNX", LooksLikeOnnx, ImportOnnx},
    {"kheya", "Kheya package", PackageFile::Matches, ImportPackage},
};

const Format* FindFormat(Content content) {
  for (const Format& format : kFormats) {
    if (format.matches(content)) return &format;
  }
  for (const Sniffer& sniffer : kUnsupported) {
    if (sniffer.matches(content)) return nullptr;
  }
  return LooksLikeDamagedOnnx(content) ? &kFormats[0] : nullptr;
}

}  // namespace

std::string SniffFormat(std::span<const std::byte> content) {
  if (const Format* format = FindFormat(content)) return format->name;
  for (const Sniffer& sniffer : kUnsupported) {
    if (sniffer.matches(content)) return sniffer.name;
  }
  return "nothing known";
}

Result<ImportedModel> Import(const std::string& path, const ImportOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path, options.file));
  const Content content = file.bytes();
  if (content.empty()) {
    return InvalidArgumentError("file '{}': found an empty file, expected a model", path);
  }
  const Format* format = FindFormat(content);
  if (format == nullptr) {
    return UnimplementedError(
        "file '{}': the content looks like {}, supported are: ONNX, Kheya packages", path,
        SniffFormat(content));
  }
  ImportedModel model{format->id, content.size(), Graph(), {}, {}};
  ImportOptions with_files = options;
  with_files.external_files = &model.external_files;
  KHEYA_ASSIGN_OR_RETURN(model.graph, format->import(file, with_files, &model.warnings));
  return model;
}

}  // namespace kheya
