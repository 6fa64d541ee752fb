// SPDX-License-Identifier: Apache-2.0
#include "campaign/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

// How long another process may write before this one gives up.
constexpr std::chrono::seconds kBusyTimeout{60};
// How long it does so without a word, and how long still when it is told to stop.
constexpr std::chrono::seconds kSilence{1};

// SQLite's code: where there was no memory for a copy of a text, the cell would stay NULL.
int bind_cell(sqlite3_stmt* statement, int at, const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return sqlite3_bind_int64(statement, at, *whole);
  }
  if (const auto* number = std::get_if<double>(&cell)) {
    return sqlite3_bind_double(statement, at, *number);
  }
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return sqlite3_bind_text(statement, at, text->data(), static_cast<int>(text->size()),
                             SQLITE_TRANSIENT);  // NOLINT: SQLite's own cast
  }
  return sqlite3_bind_null(statement, at);
}

// A file that nobody here can write, beside which SQLite cannot put its log: results to look at.
bool is_archive(const std::string& path) {
  const std::string folder = std::filesystem::path{path}.parent_path().string();
  const bool there = access(path.c_str(), R_OK) == 0;
  return there && access((path + "-wal").c_str(), F_OK) != 0 &&
         (access(path.c_str(), W_OK) != 0 ||
          access(folder.empty() ? "." : folder.c_str(), W_OK) != 0);
}

std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", static_cast<int>(c))
                                            : std::string{c};
  }
  return uri + "?immutable=1";
}

// A likely reason why a file cannot be written.
std::string limit_on_files() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? fmt::format("; a file may have {} bytes at most (ulimit -f)", limit.rlim_cur)
             : "";
}

}  // namespace

void CloseDatabase::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void CloseStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

// One wait after the other.
class Database::BusyHandler {
 public:
  BusyHandler(std::string path, DatabaseWait wait)
      : path_{std::move(path)}, wait_{std::move(wait)} {}

  void begin() { start_ = Clock::now(); }
  // False: it has an end. Otherwise some time has gone by.
  bool lasts() {
    const auto waited = Clock::now() - start_;
    if (waited >= (wait_.stop != nullptr && *wait_.stop ? kSilence : kBusyTimeout)) {
      return false;
    }
    if (waited >= kSilence && !said_ && wait_.say) {
      said_ = true;
      wait_.say(path_);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return true;
  }
  bool is_stopped() const { return wait_.stop != nullptr && *wait_.stop; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string path_;
  DatabaseWait wait_;
  Clock::time_point start_;
  bool said_ = false;
};

Database::Database(const std::string& path, DatabaseWait wait)
    : path_{path}, busy_handler_{std::make_shared<BusyHandler>(path, std::move(wait))} {
  sqlite3* opened = nullptr;
  const int code =
      is_archive(path)
          ? sqlite3_open_v2(immutable_uri(path).c_str(), &opened,
                            SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr)
          : sqlite3_open_v2(path.c_str(), &opened,
                            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, nullptr);
  handle_.reset(opened);
  if (code != SQLITE_OK) {
    fail();
  }
  sqlite3_busy_handler(
      opened,
      [](void* handler, int times) {
        auto& mine = *static_cast<BusyHandler*>(handler);
        if (times == 0) {
          mine.begin();
        }
        return static_cast<int>(mine.lasts());
      },
      busy_handler_.get());
}

std::string Database::name_to_attach(const std::string& path) {
  return is_archive(path) ? immutable_uri(path) : path;
}

// All SQL is ours: what it cannot be asked of a database of ours was damaged, too.
void Database::fail() const {
  const std::string message = sqlite3_errmsg(handle_.get());
  switch (sqlite3_errcode(handle_.get())) {
    case SQLITE_INTERRUPT:
      throw DatabaseInterrupted{};
    case SQLITE_BUSY:
      if (busy_handler_->is_stopped()) {
        throw DatabaseInterrupted{};
      }
      refuse(message);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:
      refuse_damaged(message);
    case SQLITE_IOERR:  // of which SQLite does not say more
      refuse(message + limit_on_files());
    default:
      refuse(message);
  }
}

void Database::heed(const std::atomic<bool>* stop) {
  constexpr int kInstructions = 10'000;  // of SQLite's machine, about a millisecond
  const auto is_set = [](void* flag) {
    return static_cast<int>(*static_cast<const std::atomic<bool>*>(flag));
  };
  sqlite3_progress_handler(handle_.get(), kInstructions, stop != nullptr ? +is_set : nullptr,
                           const_cast<std::atomic<bool>*>(stop));  // NOLINT: it is only read
}

void Database::refuse(const std::string& message) const {
  throw ConfigError{{{path_, 0, 0, "", message, ""}}};
}

void Database::refuse_damaged(const std::string& message) const { refuse("damaged: " + message); }

// SQLite itself waits for others, but not where two of them change over to the log at once.
void Database::execute(const std::string& sql) {
  const auto run = [&] {
    return sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  };
  busy_handler_->begin();
  int code = run();
  while (code == SQLITE_BUSY && busy_handler_->lasts()) {
    code = run();
  }
  if (code != SQLITE_OK) {
    fail();
  }
}

Statement::Statement(Database& database, const std::string& sql) : database_{&database} {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(),
                                      static_cast<int>(sql.size()) + 1, &prepared, nullptr);
  handle_.reset(prepared);
  if (code != SQLITE_OK) {
    database.fail();
  }
}

Statement& Statement::bind(std::span<const Cell> values) {
  sqlite3_reset(handle_.get());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bind_cell(handle_.get(), static_cast<int>(i) + 1, values[i]) != SQLITE_OK) {
      database_->fail();
    }
  }
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    database_->fail();
  }
  if (code == SQLITE_DONE) {
    sqlite3_reset(handle_.get());  // or it would keep the others from writing
  }
  return code == SQLITE_ROW;
}

void Statement::run(std::span<const Cell> values) {
  bind(values);
  while (step()) {
  }
}

int Statement::columns() const { return sqlite3_column_count(handle_.get()); }

std::string Statement::name(int column) const {
  const char* const name = sqlite3_column_name(handle_.get(), column);
  if (name == nullptr) {  // no memory for it
    database_->fail();
  }
  return name;
}

Cell Statement::cell(int column) const {
  sqlite3_stmt* const row = handle_.get();
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(row, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(row, column);
    case SQLITE_NULL:
      return {};
    default: {
      const void* const bytes = sqlite3_column_blob(row, column);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
      return bytes == nullptr ? std::string{} : std::string{static_cast<const char*>(bytes), size};
    }
  }
}

std::int64_t Statement::whole(int column) const {
  const Cell value = cell(column);
  const auto* const found = std::get_if<std::int64_t>(&value);
  if (found == nullptr) {
    database_->refuse_damaged(name(column) + " is not a whole number");
  }
  return *found;
}

std::string Statement::text(int column) const {
  const Cell value = cell(column);
  const auto* const found = std::get_if<std::string>(&value);
  if (found == nullptr) {
    database_->refuse_damaged(name(column) + " is not text");
  }
  return *found;
}

Transaction::Transaction(Database& database) : database_{database} {
  database.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace mapsim
