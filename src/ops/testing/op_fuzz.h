// Operators on inputs and attributes that nobody would give them, for tests and fuzzing: cases of
// tests/cases/ops, changed at random.
#ifndef KHEYA_OPS_TESTING_OP_FUZZ_H_
#define KHEYA_OPS_TESTING_OP_FUZZ_H_

#include <cstdint>
#include <functional>
#include <string>

#include "ops/op.h"
#include "ops/testing/case_file.h"

namespace kheya::test {

// The cases' path below tests/cases/ops: "Add.json", "ml/Scaler.json".
std::string CaseFileOf(const OpDef& op);

// A number of [0, count); any source of numbers will do.
using Choose = std::function<uint32_t(uint32_t count)>;

// Changes inputs and attributes of a case at random: types, shapes, elements, what is left out.
void Mutate(const OpDef& op, OpCase& one, const Choose& choose);

// Infers and evaluates the case's node, its inputs given as constants or as inputs whose types are
// known more or less well. Empty when all is well: what was inferred is true of what was computed,
// or there was a clean error; the memory that was asked for stays in a budget and a run that is
// told to stop does so within `patience_ms`. Otherwise says what is wrong.
std::string CheckHostile(const OpDef& op, const OpCase& one, const Choose& choose, int patience_ms);

}  // namespace kheya::test

#endif  // KHEYA_OPS_TESTING_OP_FUZZ_H_
