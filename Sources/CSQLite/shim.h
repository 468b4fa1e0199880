#ifndef HOUSEHOLD_CSQLITE_SHIM_H
#define HOUSEHOLD_CSQLITE_SHIM_H

#include <malloc.h>
#include <sqlite3.h>

/* sqlite3_db_config is variadic; these are the switches that we turn. */
static inline int household_sqlite_set_triggers(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, on, (int *)0);
}
static inline int household_sqlite_set_defensive(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}
/* sqlite3_config is variadic too. SQLite then counts its memory no more, for which it takes a lock at each allocation;
   once it runs the call is refused, which changes nothing. */
static inline int household_sqlite_count_no_memory(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
/* For a process in which no second thread ever uses SQLite: it leaves out all of its locks, too. */
static inline int household_sqlite_use_in_one_thread(void) {
  int code = sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
  return code == SQLITE_OK ? household_sqlite_count_no_memory() : code;
}
/* Gives memory that is free again back to the system: the C library keeps it otherwise. */
static inline void household_sqlite_release_memory(sqlite3 *connection) {
  sqlite3_db_release_memory(connection);
  malloc_trim(0);
}
/* Notes the length of the write-ahead log after each commit, in pages, and leaves it alone up to this many. */
enum { household_sqlite_longest_log = 4000 };
static inline int household_sqlite_after_commit(void *length, sqlite3 *connection, const char *name, int pages) {
  *(int *)length = pages;
  return pages >= household_sqlite_longest_log ? sqlite3_wal_checkpoint(connection, name) & 0 : SQLITE_OK;
}
static inline void household_sqlite_note_log_length(sqlite3 *connection, int *length) {
  sqlite3_wal_hook(connection, household_sqlite_after_commit, length);
}
/* SQLITE_TRANSIENT is a cast that Swift does not import: the value is copied by SQLite before the call returns. */
static inline int household_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}
static inline int household_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                    : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
