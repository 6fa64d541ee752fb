// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "app/arguments.hpp"
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/inputs.hpp"
#include "app/size_notes.hpp"
#include "app/watch.hpp"
#include "core/diagnostic.hpp"
#include "core/memory.hpp"
#include "mapper/counting/gmp_memory.hpp"

namespace mapsim {

namespace {

void print(const std::string& text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole || std::fflush(stdout) != 0) {
    throw UsageError("cannot write to standard output");
  }
}

// The files that a command writes anew.
template <class Arguments>
std::vector<std::string> outputs_of(const Arguments& arguments) {
  std::vector<std::string> outputs{arguments.output.file};
  if constexpr (requires { arguments.mapping_file; }) {
    outputs.push_back(arguments.mapping_file);
  }
  if constexpr (requires { arguments.certificate_file; }) {
    outputs.push_back(arguments.certificate_file);
  }
  if constexpr (requires { arguments.svg; }) {
    outputs.push_back(arguments.svg);
  }
  if constexpr (requires { arguments.trace; }) {
    outputs.push_back(arguments.trace);
  }
  if constexpr (requires { arguments.arch_file; }) {
    outputs.push_back(arguments.arch_file);
  }
  if constexpr (requires { arguments.plan_file; }) {
    outputs.push_back(arguments.plan_file);
    outputs.push_back(arguments.page_file);
  }
  if constexpr (requires { arguments.calibrated; }) {
    outputs.push_back(arguments.calibrated);
  }
  return outputs;
}

// A result must replace neither what it was made from nor another one.
template <class Arguments>
void refuse_overwriting(const Arguments& arguments) {
  const std::vector<std::string> outputs = outputs_of(arguments);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const Input& input : inputs_of(arguments)) {
      refuse_same_file(outputs[i], input.path);
    }
    if constexpr (requires { arguments.database; }) {
      refuse_same_file(outputs[i], arguments.database);
    }
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      refuse_same_file(outputs[i], outputs[j]);
    }
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
        check_inputs(inputs_of(arguments));
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

// Allocates nothing. What was in use says about how much more is needed.
void say_out_of_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr long kKibibytesPerMebibyte = 1024;
  std::fprintf(stderr,
               "mapsim: out of memory, with %ld MiB in use at most; --memory bounds a search, and"
               " constraints make it smaller\n",
               usage.ru_maxrss / kKibibytesPerMebibyte);
}

// Where memory ends in a function that promises not to throw, as some of the parser of options do,
// which may leave no exception to look at.
[[noreturn]] void end_without_memory() {
  say_out_of_memory();
  _exit(kNegative);
}
[[noreturn]] void end_badly() {
  try {
    if (std::current_exception()) {
      std::rethrow_exception(std::current_exception());
    }
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {
    std::fputs("mapsim: internal error: an exception that nobody expects\n", stderr);
    _exit(kInternal);
  }
  end_without_memory();
}

// No thread can be started for want of memory, too.
bool is_want_of_memory(const std::error_code& code) {
  return code == std::errc::resource_unavailable_try_again || code == std::errc::not_enough_memory;
}

}  // namespace

}  // namespace mapsim

// Every exception that leaves a command becomes an exit code here, and nowhere else.
int main(int argc, char** argv) {
  mapsim::keep_freed_memory();
  std::set_terminate(mapsim::end_badly);
  mapsim::let_gmp_throw();
  mapsim::exit_when_interrupted();
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
  } catch (const std::bad_alloc&) {
    mapsim::say_out_of_memory();
    return mapsim::kNegative;
  } catch (const std::system_error& error) {
    if (mapsim::is_want_of_memory(error.code())) {
      mapsim::say_out_of_memory();
      return mapsim::kNegative;
    }
    fmt::print(stderr, "mapsim: {}\n", mapsim::printable(error.what()));
    return mapsim::kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mapsim: internal error: {}\n", mapsim::printable(error.what()));
    return mapsim::kInternal;
  }
}
