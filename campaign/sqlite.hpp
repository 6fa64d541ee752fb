// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "campaign/record.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace mapsim {

struct CloseDatabase {
  void operator()(sqlite3* database) const;
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const;
};

// Waiting while others write: `say` is called once after a second; the wait ends a second after
// `stop` is set.
struct DatabaseWait {
  std::function<void(const std::string& path)> say{};
  const std::atomic<bool>* stop = nullptr;
};

// The operation was abandoned, and the database is as it was before.
struct DatabaseInterrupted {};

// A database file. Refusals of SQLite (no such file, not a database, damage, disk full) are
// ConfigErrors about the file. One thread at a time.
class Database {
 public:
  explicit Database(const std::string& path, DatabaseWait wait = {});  // made if it is not there
  const std::string& path() const { return path_; }
  // The name of another file for ATTACH; read-only if it cannot be written.
  static std::string name_to_attach(const std::string& path);
  void execute(const std::string& sql);
  // From now on a running statement ends with DatabaseInterrupted soon after `stop` is set. With
  // nullptr none does.
  void heed(const std::atomic<bool>* stop);
  sqlite3* handle() const { return handle_.get(); }
  [[noreturn]] void fail() const;  // with SQLite's last error
  [[noreturn]] void refuse(const std::string& message) const;
  // The content of the file is not what was written there.
  [[noreturn]] void refuse_damaged(const std::string& message) const;

 private:
  class BusyHandler;
  std::string path_;
  std::shared_ptr<BusyHandler>
      busy_handler_;  // SQLite keeps its address; a type that only the source knows
  std::unique_ptr<sqlite3, CloseDatabase> handle_;
};

// A prepared statement of a database that outlives it.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  // Starts again with these values of its parameters, in order.
  Statement& bind(std::span<const Cell> values);
  Statement& bind(std::initializer_list<Cell> values) {
    return bind(std::span{values.begin(), values.size()});
  }
  bool step();                             // false: no (further) row
  void run(std::span<const Cell> values);  // without an answer
  void run(std::initializer_list<Cell> values) { run(std::span{values.begin(), values.size()}); }
  int columns() const;
  std::string name(int column) const;
  Cell cell(int column) const;  // of the current row
  // A cell of the current row. If it is absent or has another type, the file is damaged.
  std::int64_t whole(int column) const;
  std::string text(int column) const;

 private:
  Database* database_;
  std::unique_ptr<sqlite3_stmt, CloseStatement> handle_;
};

// BEGIN IMMEDIATE until commit(); rolled back if commit() is not reached.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace mapsim
