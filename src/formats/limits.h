// What a model file may ask for. Every limit is far above real models and keeps the memory that a
// hostile file costs in proportion to its size.
#ifndef KHEYA_FORMATS_LIMITS_H_
#define KHEYA_FORMATS_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace kheya::limits {

// Messages within messages; a subgraph takes three levels (graph, node, attribute).
inline constexpr int kMessageDepth = 128;
inline constexpr int kTypeDepth = 8;       // sequences of sequences of ...
inline constexpr int kFunctionDepth = 16;  // functions that call functions

// Totals of one model, subgraphs and functions included.
inline constexpr int64_t kNodes = 250'000;  // also after functions were inlined
inline constexpr int64_t kAttributes = 1'000'000;
inline constexpr int64_t kNames = 4'000'000;  // of inputs and outputs of nodes and graphs
inline constexpr int64_t kTensors = 500'000;
inline constexpr int64_t kTypes = 1'000'000;           // declared types of values
inline constexpr int64_t kAttributeValues = 16 << 20;  // numbers and strings in lists
// Names, numbers and bytes of tensors in inlined functions, counted at each call.
inline constexpr int64_t kInlinedWork = 64 << 20;
inline constexpr int64_t kFunctions = 100'000;
inline constexpr int64_t kMetadata = 100'000;
inline constexpr int64_t kNotes = 4'000'000;  // metadata of single nodes and values

inline constexpr size_t kNameBytes = 8192;
inline constexpr size_t kPathBytes = 1024;  // of external data, relative to the model
inline constexpr size_t kMetadataBytes = 16 << 20;
inline constexpr int64_t kExternalFiles = 10'000;
// A sparse tensor made dense.
inline constexpr uint64_t kDenseBytes = 256 << 20;

}  // namespace kheya::limits

#endif  // KHEYA_FORMATS_LIMITS_H_
