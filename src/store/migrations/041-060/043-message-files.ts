import type { Migration } from "../migration.ts"

/**
 * Files of messages, once for each person and content. A row is there before its bytes are; it has a `hash` when all of them
 * have come, and only then somebody sees it. A use says which message of which conversation names a file.
 */
export const messageFiles: Migration = {
  name: "043_message_files",
  statements: ({ clustered, bytes, uncompressed }) => [
    `CREATE TABLE message_file (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      hash TEXT,
      name TEXT NOT NULL,
      type TEXT NOT NULL,
      size BIGINT NOT NULL,
      width BIGINT,
      height BIGINT,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE UNIQUE INDEX message_file_hash ON message_file (person, hash)",
    "CREATE INDEX message_file_created ON message_file (created_at)",
    `CREATE TABLE message_file_part (
      file TEXT NOT NULL,
      number BIGINT NOT NULL,
      person TEXT NOT NULL,
      bytes ${bytes} NOT NULL,
      PRIMARY KEY (file, number))`,
    "CREATE INDEX message_file_part_person ON message_file_part (person)",
    ...uncompressed("message_file_part", "bytes"),
    `CREATE TABLE message_file_use (
      file TEXT NOT NULL,
      conversation TEXT NOT NULL,
      message TEXT NOT NULL,
      person TEXT NOT NULL,
      used_at BIGINT NOT NULL,
      checked_at BIGINT,
      PRIMARY KEY (file, conversation, message)) ${clustered}`,
    "CREATE INDEX message_file_use_conversation ON message_file_use (conversation)",
    "CREATE INDEX message_file_use_person ON message_file_use (person)",
    "CREATE INDEX message_file_use_unchecked ON message_file_use (used_at) WHERE checked_at IS NULL",
    `CREATE TABLE message_file_text (
      file TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      text TEXT NOT NULL,
      pages BIGINT,
      problem TEXT) ${clustered}`,
    "CREATE INDEX message_file_text_person ON message_file_text (person)",
  ],
}
