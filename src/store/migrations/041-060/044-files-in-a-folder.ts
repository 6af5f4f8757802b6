import type { Migration } from "../migration.ts"

/**
 * Files of messages whose bytes lie in a folder. A row of `file_place` comes with its file, before the bytes do, and goes when
 * they have: one without its file says what has to be removed still. `files_folder` has one row: which folder it is.
 */
export const filesInAFolder: Migration = {
  name: "044_files_in_a_folder",
  statements: ({ clustered }) => [
    `CREATE TABLE file_place (
      place TEXT NOT NULL PRIMARY KEY,
      file TEXT NOT NULL,
      person TEXT NOT NULL) ${clustered}`,
    "CREATE UNIQUE INDEX file_place_file ON file_place (file)",
    "CREATE INDEX file_place_person ON file_place (person)",
    `CREATE TABLE files_folder (
      id TEXT NOT NULL PRIMARY KEY,
      database_mark TEXT NOT NULL,
      folder_mark TEXT) ${clustered}`,
  ],
}
