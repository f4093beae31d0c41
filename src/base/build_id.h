// What tells this build of the library from every other: for files that only this build may use.
#ifndef KHEYA_BASE_BUILD_ID_H_
#define KHEYA_BASE_BUILD_ID_H_

#include <string>

namespace kheya {

// The linker's build id of the program or library that holds this code, in hexadecimal; empty where
// the linker wrote none. Measured once. Thread safety: all.
const std::string& BuildId();

}  // namespace kheya

#endif  // KHEYA_BASE_BUILD_ID_H_
