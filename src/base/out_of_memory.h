// CatchOutOfMemory: the boundary behind which containers may find no memory. Budgets refuse what is
// large before it is allocated; what remains (a limit of the system, memory that no budget counts)
// is thrown by the standard library and becomes a Status here.
//
//   return CatchOutOfMemory([&] { return Import(path, options); });
//
// One stands at each way in: loading, compiling, running. Functions within need none.
#ifndef KHEYA_BASE_OUT_OF_MEMORY_H_
#define KHEYA_BASE_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>

#include "base/status.h"

namespace kheya {

// What `body` returns, a Status or a Result; ResourceExhausted when it threw std::bad_alloc or
// std::length_error.
template <typename Body>
auto CatchOutOfMemory(Body&& body) -> decltype(body()) {
#ifndef __cpp_exceptions  // tools/coverage counts without them
  return body();
#else
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError("the system has no memory for this");
  } catch (const std::length_error&) {
    return ResourceExhaustedError("found more elements than memory can hold");
  }
#endif
}

}  // namespace kheya

#endif  // KHEYA_BASE_OUT_OF_MEMORY_H_
