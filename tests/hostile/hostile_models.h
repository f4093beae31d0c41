// Hostile ONNX files: what a file can say that no honest exporter would.
#ifndef KHEYA_TESTS_HOSTILE_HOSTILE_MODELS_H_
#define KHEYA_TESTS_HOSTILE_HOSTILE_MODELS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kheya::test {

struct HostileModel {
  std::string name;
  std::string bytes;
};

// Small models that are right: what mutations start from.
std::vector<std::string> SeedModels();

// Made by hand, by theme.
std::vector<HostileModel> HostileStructures();   // cycles, names, nesting, functions, versions
std::vector<HostileModel> HostileTensors();      // dimensions, sizes, external data
std::vector<HostileModel> HostileOperators();    // attributes and constants that ask for too much
std::vector<HostileModel> HostileBytes();        // the wire format
std::vector<HostileModel> HostileControlFlow();  // If, Loop, Scan, SequenceMap and their bodies
std::vector<HostileModel> HostileValues();       // strings, sequences, optionals
std::vector<HostileModel> HostileLearning();     // ai.onnx.ml
std::vector<HostileModel> HostileSignals();      // signals, random numbers, pictures
std::vector<HostileModel> HostileQuantized();    // types of few bits, com.microsoft
std::vector<HostileModel> HostileFunctions();    // functions of the model itself

// `seed` with one to eight changes: bits, bytes, lengths, cut, repeated or moved parts.
std::string Mutate(std::string_view seed, std::string_view other, uint64_t random_seed);

}  // namespace kheya::test

#endif  // KHEYA_TESTS_HOSTILE_HOSTILE_MODELS_H_
