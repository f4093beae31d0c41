#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"

namespace kheya {
namespace {

struct Words {
  std::string command;
  std::string summary;
  std::vector<std::string> flags;
};

std::vector<Words> Collect(const CLI::App& root) {
  std::vector<Words> all;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    Words words{sub->get_name(), sub->get_description(), {}};
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames()) words.flags.push_back("--" + name);
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::string JoinWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string Bash(const std::vector<Words>& all) {
  std::string names, cases;
  for (const Words& words : all) {
    names += (names.empty() ? "" : " ") + words.command;
    cases += fmt::format("    {}) flags='{}' ;;\n", words.command, JoinWords(words.flags));
  }
  return fmt::format(
      "_kheya() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} flags=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  if [[ $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _kheya kheya\n",
      names, cases);
}

// The text within single quotes: `quote` is how the shell writes one inside.
std::string Quoted(const std::string& text, const char* quote) {
  std::string quoted;
  for (char c : text) quoted += c == '\'' ? std::string(quote) : std::string(1, c);
  return quoted;
}

std::string Zsh(const std::vector<Words>& all) {
  std::string names, cases;
  for (const Words& words : all) {
    names += fmt::format("    '{}:{}'\n", words.command, Quoted(words.summary, "'\\''"));
    cases += fmt::format("    {}) compadd -- {} ;;\n", words.command, JoinWords(words.flags));
  }
  return fmt::format(
      "#compdef kheya\n"
      "_kheya() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  if [[ $words[CURRENT] != -* ]]; then\n"
      "    _files\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n{}  esac\n"
      "}}\n"
      "compdef _kheya kheya\n",
      names, cases);
}

std::string Fish(const std::vector<Words>& all) {
  std::string script;
  for (const Words& words : all) {
    script += fmt::format("complete -c kheya -n __fish_use_subcommand -f -a {} -d '{}'\n",
                          words.command, Quoted(words.summary, "\\'"));
    for (const std::string& flag : words.flags) {
      script += fmt::format("complete -c kheya -n '__fish_seen_subcommand_from {}' -l {}\n",
                            words.command, flag.substr(2));
    }
  }
  return script;
}

}  // namespace

CommandBody DefineCompletion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  const CLI::App* root = app.get_parent();
  return [shell, root] {
    const std::vector<Words> all = Collect(*root);
    const std::string script = *shell == "bash"  ? Bash(all)
                               : *shell == "zsh" ? Zsh(all)
                                                 : Fish(all);
    fmt::print("{}", script);
    return OkStatus();
  };
}

}  // namespace kheya
