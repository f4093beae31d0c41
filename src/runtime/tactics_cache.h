// Choices of kernels kept on disk, so that they are timed once for each kind of machine.
#ifndef KHEYA_RUNTIME_TACTICS_CACHE_H_
#define KHEYA_RUNTIME_TACTICS_CACHE_H_

#include <string>

#include "base/status.h"
#include "runtime/tuner.h"

namespace kheya {

// What choices depend on beside the call: processor, this program's version and the libraries',
// the kernels there are.
std::string TuningMachine();

// The file of `machine` in `folder`.
std::string TacticsCachePath(const std::string& folder, const std::string& machine);

// The choices in the file; none where there is no file, or it is damaged, of another format or of
// another machine.
TacticChoices ReadTactics(const std::string& path, const std::string& machine);

// Adds the choices to the file, atomically, making its folder. Two processes may write at once:
// what one of them adds may be lost, never damaged. ResourceExhausted for more than 65,536 choices.
Status WriteTactics(const std::string& path, const std::string& machine, TacticChoices choices);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_TACTICS_CACHE_H_
