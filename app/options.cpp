// SPDX-License-Identifier: Apache-2.0
#include "app/options.hpp"

#include <algorithm>
#include <thread>

namespace mapsim {

void add_output(CLI::App& command, Output& output) {
  command.add_flag("--json", output.json, "JSON for programs instead of text");
  command.add_option("--out", output.file, "Write to FILE, whole or not at all")->type_name("FILE");
}

void add_threads(CLI::App& command, int& threads) {
  threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  add_number(command, "--threads", threads, 1, kMaxThreads,
             "Threads; the answer does not depend on it [all]");
}

void add_choice(CLI::App& command, const std::string& name, const Words& words,
                const std::function<void(const std::string&)>& take, const std::string& help) {
  command.add_option_function<std::string>("--" + name, take, help)
      ->check([name, words](const std::string& word) {
        const bool known = std::find(words.begin(), words.end(), word) != words.end();
        return known ? std::string{}
                     : fmt::format("no {} '{}'{}", name, word, suggestion(word, words));
      })
      ->type_name("NAME");
}

void add_text(CLI::App& command, const std::string& name, const char* type, const std::string& help,
              const std::function<std::optional<std::string>(const std::string&)>& read) {
  command
      .add_option_function<std::string>(
          name, [read](const std::string& text) { read(text); }, help)
      ->check([read](const std::string& text) { return read(text).value_or(""); })
      ->type_name(type);
}

}  // namespace mapsim
