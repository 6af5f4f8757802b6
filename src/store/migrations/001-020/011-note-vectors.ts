import type { Migration } from "../migration.ts"

/**
 * Notes by meaning. A vector says which embedder made it and what of: `hash` is of the text, `note_updated_at` the note's
 * own time then: -1 where it waits to be embedded, for the first time or again; `at` since when it does, or is as it is. Text, because that is the one kind of bytes that both engines
 * read alike.
 */
export const noteVectors: Migration = {
  name: "011_note_vectors",
  statements: ({ clustered }) => [
    // Beside those of another embedder: nodes that are configured differently for a while do not undo each other's work.
    `CREATE TABLE note_vector (
      note TEXT NOT NULL,
      embedder TEXT NOT NULL,
      person TEXT NOT NULL,
      hash TEXT NOT NULL,
      note_updated_at BIGINT NOT NULL,
      version BIGINT NOT NULL,
      at BIGINT NOT NULL,
      vector TEXT NOT NULL,
      PRIMARY KEY (note, embedder)) ${clustered}`,
    // Whoever has an index in memory reads what has come since.
    "CREATE INDEX note_vector_version ON note_vector (person, embedder, version)",
    // Only what waits, so that nobody looks through all notes to find that none does.
    "CREATE INDEX note_vector_waiting ON note_vector (embedder, person, at) WHERE note_updated_at = -1",
    // Counts a person's vectors as they come; behind one another, because the row is locked until its commit.
    "ALTER TABLE workspace ADD COLUMN vectors BIGINT NOT NULL DEFAULT 0",
  ],
}
