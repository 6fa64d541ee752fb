// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include "app/arguments.hpp"
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/inputs.hpp"
#include "app/options.hpp"
#include "app/out_of_memory.hpp"
#include "app/size_notes.hpp"
#include "app/startable_threads.hpp"
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
  if constexpr (requires { arguments.csv_file; }) {
    outputs.push_back(arguments.csv_file);
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

// What bounds the memory of a command, as the message of one that had too little ends: by those
// options that the command has.
template <class Arguments>
const char* bound_of_memory() {
  Arguments arguments;
  const Options options = options_of(arguments).options;
  const auto has = [&options](const char* name) {
    return std::ranges::any_of(options, [&](const Option& each) { return name_of(each) == name; });
  };
  const bool has_space = has("--constraints");
  if (has("--memory")) {
    return has_space ? "; bound it with --memory, or narrow the space with --constraints"
                     : "; --memory bounds each search";
  }
  return has_space ? "; narrow the space with --constraints" : "";
}

// `bound`: becomes what bounds the memory of the command that is run.
int run_command(int argc, const char* const* argv, const char*& bound) {
  auto parsed = parse_arguments(argc, argv);
  if (const auto* information = std::get_if<Information>(&parsed)) {
    print(information->text);
    return kDone;
  }
  return std::visit(
      [&bound](auto& arguments) -> int {
        bound = bound_of_memory<std::decay_t<decltype(arguments)>>();
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

// Where memory ends in a function that promises not to throw, as some of the parser of options do,
// which may leave no exception to look at.
[[noreturn]] void end_without_memory(const std::bad_alloc& error) {
  say_out_of_memory(error, "");
  _exit(kNegative);
}
[[noreturn]] void end_badly() {
  try {
    if (std::current_exception()) {
      std::rethrow_exception(std::current_exception());
    }
  } catch (const std::bad_alloc& error) {
    end_without_memory(error);
  } catch (...) {
    std::fputs("mapsim: internal error: an exception that nobody expects\n", stderr);
    _exit(kInternal);
  }
  end_without_memory({});
}

}  // namespace

}  // namespace mapsim

// Every exception that leaves a command becomes an exit code here, and nowhere else.
int main(int argc, char** argv) {
  mapsim::keep_freed_memory();
  std::set_terminate(mapsim::end_badly);
  mapsim::let_gmp_throw();
  mapsim::exit_when_interrupted();
  const char* bound_of_memory = "";
  try {
    return mapsim::run_command(argc, argv, bound_of_memory);
  } catch (const mapsim::ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return mapsim::kBadInput;
  } catch (const mapsim::UnsupportedSearch& error) {
    fmt::print(stderr, "mapsim: {}\n", error.what());
    return mapsim::kBadInput;
  } catch (const mapsim::UsageError& error) {
    fmt::print(stderr, "mapsim: {}\n", mapsim::printable(error.what()));
    return mapsim::kBadInput;
  } catch (const std::bad_alloc& error) {
    mapsim::say_out_of_memory(error, bound_of_memory);
    return mapsim::kNegative;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      fmt::print(stderr, "mapsim: no thread can be started: a limit{}\n", mapsim::kLimitsOfThreads);
      return mapsim::kNegative;
    }
    if (error.code() == std::errc::not_enough_memory) {
      mapsim::say_out_of_memory({}, bound_of_memory);
      return mapsim::kNegative;
    }
    fmt::print(stderr, "mapsim: {}\n", mapsim::printable(error.what()));
    return mapsim::kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mapsim: internal error: {}\n", mapsim::printable(error.what()));
    return mapsim::kInternal;
  }
}
