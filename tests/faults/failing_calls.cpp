// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the n-th call of one kind fails, or from the n-th on all do, once main() has
// begun. Set by the environment:
//   MAPSIM_FAIL=malloc|write|sync|rename|unlink|open|thread   the kind (open: for writing; thread:
//   the start of one)
//   MAPSIM_FAIL_AT=N                            which; 0: none
//   MAPSIM_FAIL_ON=1                            all that follow, too
//   MAPSIM_FAIL_COUNT=FILE                      where to write how many calls of each kind there
//   were
//   MAPSIM_FAIL_SERVE=FOLDER                    instead, runs main() for each line of the input, in
//   a process of its own, in that folder: kind, which, and 1 if all that follow fail, too. Output
//   goes to FOLDER/../out and FOLDER/../err, and the status of waitpid() to the output. So the
//   program is loaded once for thousands of faults.
// Allocations go to the entries that glibc keeps for this, so that looking up a symbol needs none.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

constexpr const char* kKinds[] = {"malloc", "write", "sync", "rename", "unlink", "open", "thread"};
enum Kind { kMalloc, kWrite, kSync, kRename, kUnlink, kOpen, kThread, kCount };

constexpr int kBroken = 99;  // exit code of a process that could not be prepared

const char* failing = nullptr;
long fail_at = 0;
bool fail_on = false;
std::atomic<bool> armed{false};
std::atomic<long> calls[kCount];

bool fails(Kind kind, int error) {
  if (!armed) {
    return false;
  }
  const long call = ++calls[kind];
  if (failing == nullptr || std::strcmp(failing, kKinds[kind]) != 0) {
    return false;
  }
  if (fail_at == 0 || call < fail_at || (call > fail_at && !fail_on)) {
    return false;
  }
  errno = error;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void report() {
  armed = false;
  if (const char* const file = std::getenv("MAPSIM_FAIL_COUNT")) {
    if (std::FILE* const out = std::fopen(file, "w")) {
      for (int kind = 0; kind < kCount; ++kind) {
        std::fprintf(out, "%s %ld\n", kKinds[kind], calls[kind].load());
      }
      std::fclose(out);
    }
  }
}

int (*real_main)(int, char**, char**) = nullptr;

bool put(const std::string& file, int as) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return opened >= 0 && dup2(opened, as) == as && close(opened) == 0;
}

// Comes back in the processes that are to run main(), and never in the one that serves.
void serve(const std::string& folder) {
  constexpr unsigned kPatience = 100;  // seconds
  static char kind[16];
  int on = 0;
  while (std::scanf("%15s %ld %d", kind, &fail_at, &on) == 3) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kPatience);
      failing = kind;
      fail_on = on != 0;
      if (chdir(folder.c_str()) != 0 || !put(folder + "/../out", 1) ||
          !put(folder + "/../err", 2)) {
        _exit(kBroken);
      }
      const int nothing = ::open("/dev/null", O_RDONLY);
      dup2(nothing, 0);
      return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("%d\n", status);
    std::fflush(stdout);
  }
  _exit(0);
}

int armed_main(int argc, char** argv, char** environment) {
  failing = std::getenv("MAPSIM_FAIL");
  const char* const at = std::getenv("MAPSIM_FAIL_AT");
  fail_at = at != nullptr ? std::atol(at) : 0;
  fail_on = std::getenv("MAPSIM_FAIL_ON") != nullptr;
  if (const char* const folder = std::getenv("MAPSIM_FAIL_SERVE")) {
    serve(folder);
  }
  armed = true;
  const int code = real_main(argc, argv, environment);
  report();
  return code;
}

// There is one only where a file may be made.
mode_t mode_of(int flags, std::va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

// The next one takes a mode either way.
int open_by(const char* name, const char* path, int flags, mode_t mode) {
  const bool writes = (flags & (O_WRONLY | O_RDWR)) != 0;
  return writes && fails(kOpen, ENOSPC) ? -1
                                        : next<int(const char*, int, ...)>(name)(path, flags, mode);
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*loader_fini)(), void* stack_end) {
  real_main = main;
  return next<decltype(__libc_start_main)>("__libc_start_main")(armed_main, argc, argv, init, fini,
                                                                loader_fini, stack_end);
}

void* malloc(std::size_t size) { return fails(kMalloc, ENOMEM) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails(kMalloc, ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  return fails(kMalloc, ENOMEM) ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(kMalloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  void* const got = fails(kMalloc, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
  *place = got;
  return got == nullptr ? ENOMEM : 0;
}

ssize_t write(int file, const void* data, std::size_t size) {
  return fails(kWrite, ENOSPC) ? -1 : next<decltype(write)>("write")(file, data, size);
}
ssize_t pwrite64(int file, const void* data, std::size_t size, off64_t at) {
  return fails(kWrite, ENOSPC) ? -1 : next<decltype(pwrite64)>("pwrite64")(file, data, size, at);
}
int ftruncate64(int file, off64_t size) noexcept {
  return fails(kWrite, ENOSPC) ? -1 : next<decltype(ftruncate64)>("ftruncate64")(file, size);
}

int fsync(int file) { return fails(kSync, EIO) ? -1 : next<decltype(fsync)>("fsync")(file); }
int fdatasync(int file) {
  return fails(kSync, EIO) ? -1 : next<decltype(fdatasync)>("fdatasync")(file);
}

int rename(const char* from, const char* to) noexcept {
  return fails(kRename, EIO) ? -1 : next<decltype(rename)>("rename")(from, to);
}
int unlink(const char* path) noexcept {
  return fails(kUnlink, EIO) ? -1 : next<decltype(unlink)>("unlink")(path);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* with) noexcept {
  return fails(kThread, EAGAIN)
             ? EAGAIN
             : next<decltype(pthread_create)>("pthread_create")(thread, attributes, run, with);
}

int open64(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_by("open64", path, flags, mode);
}
int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_by("open", path, flags, mode);
}
}
