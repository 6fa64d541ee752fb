// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "app/arguments.hpp"
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/size_notes.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

void print(const std::string& text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole || std::fflush(stdout) != 0) {
    throw UsageError("cannot write to standard output");
  }
}

// A result must not replace what it was made from.
template <class Arguments>
void refuse_overwriting(const Arguments& arguments) {
  const auto check = [&](const std::string& input) {
    refuse_same_file(arguments.output.file, input);
    if constexpr (requires { arguments.mapping_file; }) {
      refuse_same_file(arguments.mapping_file, input);
    }
    if constexpr (requires { arguments.certificate_file; }) {
      refuse_same_file(arguments.certificate_file, input);
    }
    if constexpr (requires { arguments.svg; }) {
      refuse_same_file(arguments.svg, input);
    }
  };
  if constexpr (requires { arguments.arch; }) {
    check(arguments.arch);
  }
  if constexpr (requires { arguments.workload; }) {
    check(arguments.workload);
  }
  if constexpr (requires { arguments.workloads; }) {
    for (const std::string& workload : arguments.workloads) {
      check(workload);
    }
  }
  if constexpr (requires { arguments.calibrated; }) {
    check(arguments.measurements);
    refuse_same_file(arguments.calibrated, arguments.measurements);
    refuse_same_file(arguments.calibrated, arguments.arch);
    refuse_same_file(arguments.output.file, arguments.calibrated);
  }
  if constexpr (requires { arguments.network; }) {
    check(arguments.network);
  }
  if constexpr (requires { arguments.campaign; }) {
    check(arguments.campaign);
  }
  if constexpr (requires { arguments.database; }) {
    check(arguments.database);
  }
  if constexpr (requires { arguments.mapping; }) {
    check(arguments.mapping);
  }
  if constexpr (requires { arguments.constraints; }) {
    check(arguments.constraints);
  }
  if constexpr (requires { arguments.certificate; }) {
    check(arguments.certificate);
  }
  if constexpr (requires { arguments.mapping_file; }) {
    refuse_same_file(arguments.output.file, arguments.mapping_file);
  }
  if constexpr (requires { arguments.certificate_file; }) {
    refuse_same_file(arguments.output.file, arguments.certificate_file);
    refuse_same_file(arguments.mapping_file, arguments.certificate_file);
  }
}

template <class Arguments>
void print_size_notes(const Arguments& arguments) {
  std::string notes;
  if constexpr (requires { arguments.arch; }) {
    notes += size_notes(arguments.arch);
  }
  if constexpr (requires { arguments.workload; }) {
    notes += size_notes(arguments.workload);
  }
  fmt::print(stderr, "{}", notes);
}

template <class Arguments>
Answer answer_to(const Arguments& arguments, const Say& say) {
  if constexpr (requires { run(arguments, say); }) {
    return run(arguments, say);
  } else {
    return run(arguments);
  }
}

int run_command(int argc, const char* const* argv) {
  const auto parsed = parse_arguments(argc, argv);
  if (const auto* information = std::get_if<Information>(&parsed)) {
    print(information->text);
    return kDone;
  }
  return std::visit(
      [](const auto& arguments) -> int {
        refuse_overwriting(arguments);
        OutputFile file{arguments.output.file};
        const Say say = [&](const std::string& text) {
          if (arguments.output.file.empty()) {
            print(text);
          } else if (!text.empty()) {
            file.write(text);
          }
        };
        const Answer answer = answer_to(arguments, say);
        say(answer.text);
        print_size_notes(arguments);
        if (!answer.remark.empty()) {
          fmt::print(stderr, "mapsim: {}\n", printable(answer.remark));
        }
        return answer.code;
      },
      std::get<Command>(parsed));
}

}  // namespace

}  // namespace mapsim

// Every exception that leaves a command becomes an exit code here, and nowhere else.
int main(int argc, char** argv) {
  try {
    return mapsim::run_command(argc, argv);
  } catch (const mapsim::ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return mapsim::kBadInput;
  } catch (const mapsim::UnsupportedSearch& error) {
    fmt::print(stderr, "mapsim: {}\n", error.what());
    return mapsim::kBadInput;
  } catch (const mapsim::UsageError& error) {
    fmt::print(stderr, "mapsim: {}\n", mapsim::printable(error.what()));
    return mapsim::kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mapsim: internal error: {}\n", mapsim::printable(error.what()));
    return mapsim::kInternal;
  }
}
