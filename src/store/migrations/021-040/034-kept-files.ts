import type { Migration } from "../migration.ts"

/**
 * Files of people, where several machines share the database. Bytes are never changed, only replaced: `content` says which
 * ones a file has. They get a row before they come, without a path; what never gets one is swept up.
 */
export const keptFiles: Migration = {
  name: "034_kept_files",
  statements: ({ clustered, bytes, uncompressed }) => [
    `CREATE TABLE kept_file (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      path TEXT,
      content TEXT NOT NULL,
      hash TEXT NOT NULL,
      size BIGINT NOT NULL,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE UNIQUE INDEX kept_file_path ON kept_file (person, path)",
    "CREATE INDEX kept_file_unnamed ON kept_file (created_at) WHERE path IS NULL",
    `CREATE TABLE kept_file_part (
      content TEXT NOT NULL,
      number BIGINT NOT NULL,
      person TEXT NOT NULL,
      bytes ${bytes} NOT NULL,
      PRIMARY KEY (content, number))`,
    "CREATE INDEX kept_file_part_person ON kept_file_part (person)",
    ...uncompressed("kept_file_part", "bytes"),
    // Files that are in no row of these, and on which machine's disk they were changed.
    `CREATE TABLE file_disk (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      path TEXT NOT NULL,
      disk TEXT NOT NULL) ${clustered}`,
    "CREATE UNIQUE INDEX file_disk_path ON file_disk (person, path)",
  ],
}
