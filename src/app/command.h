// Command: one subcommand of `kheya`.
#ifndef KHEYA_APP_COMMAND_H_
#define KHEYA_APP_COMMAND_H_

#include <functional>

#include "base/status.h"

namespace CLI {
class App;
}

namespace kheya {

// Does the command's work, printing to stdout. Called after its options were parsed.
using CommandBody = std::function<Status()>;

struct Command {
  const char* name;
  const char* summary;  // one line
  const char* example;  // command lines, each on its own line
  // Adds options to the subcommand and returns what to do.
  CommandBody (*define)(CLI::App& app);
};

CommandBody DefineInspect(CLI::App& app);
CommandBody DefineRun(CLI::App& app);
CommandBody DefineBench(CLI::App& app);
CommandBody DefineCompile(CLI::App& app);
CommandBody DefineEvaluate(CLI::App& app);
CommandBody DefineServe(CLI::App& app);
CommandBody DefineConvert(CLI::App& app);
CommandBody DefineOptimize(CLI::App& app);
CommandBody DefineConformance(CLI::App& app);
CommandBody DefineDevices(CLI::App& app);
CommandBody DefineCompletion(CLI::App& app);

// Ends the process's `main`: 0 ok, 1 failed, 2 wrong usage.
int RunCli(int argc, char** argv);

}  // namespace kheya

#endif  // KHEYA_APP_COMMAND_H_
