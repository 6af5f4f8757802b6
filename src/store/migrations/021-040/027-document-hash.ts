import type { Migration } from "../migration.ts"

/** The same bytes are the same document, whatever they are called: they are looked for by their hash. */
export const documentHash: Migration = {
  name: "027_document_hash",
  statements: () => ["CREATE INDEX document_hash ON document (collection, hash)"],
}
