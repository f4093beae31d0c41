// Placing the values of a plan in its arena.
#ifndef KHEYA_RUNTIME_MEMORY_H_
#define KHEYA_RUNTIME_MEMORY_H_

#include "base/status.h"
#include "runtime/plan.h"

namespace kheya {

// Lets outputs share the memory of inputs that end at their step where the kernel allows it, gives
// each arena register and workspace an offset so that nothing that lives at the same time overlaps,
// and lists what each step releases. ResourceExhausted when the sum overflows.
Status PlaceMemory(Plan& plan);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_MEMORY_H_
