// The version of Kheya, from the build: "0.1.0".
#ifndef KHEYA_BASE_VERSION_H_
#define KHEYA_BASE_VERSION_H_

namespace kheya {

extern const char* const kVersion;

}  // namespace kheya

#endif  // KHEYA_BASE_VERSION_H_
