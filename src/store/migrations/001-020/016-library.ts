import type { Migration } from "../migration.ts"

/**
 * Collections of documents. What a document says is an edition of it: its text in parts, and the passages it was cut
 * into. Editions are written bit by bit, and count when the row of the document names them: readers see the one before
 * or the one after, whole. Those that no document names stand in `edition`, until they are cleared away.
 */
export const library: Migration = {
  name: "016_library",
  statements: ({ serialKey, clustered, fullText }) => [
    // `vectors` counts the vectors of its passages as they come: whoever has an index in memory reads on from there.
    `CREATE TABLE collection (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      name TEXT NOT NULL,
      documents BIGINT NOT NULL DEFAULT 0,
      passages BIGINT NOT NULL DEFAULT 0,
      vectors BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL) ${clustered}`,
    "CREATE UNIQUE INDEX collection_name ON collection (person, name)",
    // `day` is 20240115; 20240000 where only the year is known. `reason` says why it could not be read.
    `CREATE TABLE document (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      collection TEXT NOT NULL,
      source TEXT NOT NULL,
      format TEXT NOT NULL,
      title TEXT NOT NULL,
      authors TEXT NOT NULL,
      day BIGINT,
      hash TEXT NOT NULL,
      edition TEXT NOT NULL,
      reason TEXT,
      characters BIGINT NOT NULL,
      passages BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL) ${clustered}`,
    "CREATE UNIQUE INDEX document_source ON document (collection, source)",
    "CREATE INDEX document_person ON document (person, collection, created_at)",
    `CREATE TABLE document_text (
      id TEXT NOT NULL,
      person TEXT NOT NULL,
      edition TEXT NOT NULL,
      start_at BIGINT NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (person, edition, start_at)) ${clustered}`,
    // Offsets are UTF-16 units of the text of the edition, as everywhere in this program.
    `CREATE TABLE passage (
      key ${serialKey},
      person TEXT NOT NULL,
      collection TEXT NOT NULL,
      document TEXT NOT NULL,
      edition TEXT NOT NULL,
      ordinal BIGINT NOT NULL,
      heading TEXT NOT NULL,
      start_at BIGINT NOT NULL,
      end_at BIGINT NOT NULL,
      hash TEXT NOT NULL,
      text TEXT NOT NULL)`,
    "CREATE UNIQUE INDEX passage_place ON passage (person, edition, ordinal)",
    ...fullText,
    // Editions that are being written, or that nobody reads any more; `at` is since when.
    `CREATE TABLE edition (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      state TEXT NOT NULL,
      at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX edition_person ON edition (person)",
    // How far an embedder has come with an edition: its passages are taken in order.
    `CREATE TABLE embedding (
      person TEXT NOT NULL,
      edition TEXT NOT NULL,
      embedder TEXT NOT NULL,
      collection TEXT NOT NULL,
      document TEXT NOT NULL,
      embedded BIGINT NOT NULL,
      passages BIGINT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (person, edition, embedder)) ${clustered}`,
    // Only what waits, so that nobody looks through all documents to find that none does.
    "CREATE INDEX embedding_waiting ON embedding (embedder, at) WHERE embedded < passages",
    `CREATE TABLE passage_vector (
      person TEXT NOT NULL,
      edition TEXT NOT NULL,
      ordinal BIGINT NOT NULL,
      embedder TEXT NOT NULL,
      collection TEXT NOT NULL,
      document TEXT NOT NULL,
      version BIGINT NOT NULL,
      vector TEXT NOT NULL,
      PRIMARY KEY (person, edition, ordinal, embedder)) ${clustered}`,
    "CREATE INDEX passage_vector_version ON passage_vector (collection, embedder, version)",
  ],
}
