import type { SchemaSyntax } from "../engine/schema-syntax.ts"

/** A row of the workspace. The second index serves a list of the rows of one parent, in the order of the list. */
const workspaceTable = (name: string, parent: string, columns: string) => [
  `CREATE TABLE ${name} (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, created_at BIGINT NOT NULL, ${columns})`,
  `CREATE INDEX ${name}_listed ON ${name} (person, created_at, id)`,
  `CREATE INDEX ${name}_person ON ${name} (person, ${parent}, created_at, id)`,
]

/** People's content: the workspace, files, results of queries, and the library of documents. */
export const contentTables = ({ serialKey, clustered, bytes, uncompressed, fullText }: SchemaSyntax) => [
  // `version` counts the writes of a person: a write that read another version does not happen, so no two writes miss each
  // other. `sample` lists the rows of the sample workspace while it is loaded. `vectors` counts the vectors of the notes.
  `CREATE TABLE workspace (
    person TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL, sample TEXT, vectors BIGINT NOT NULL DEFAULT 0) ${clustered}`,
  ...workspaceTable("client", "parent_id", "parent_id TEXT, industry TEXT, name TEXT NOT NULL"),
  ...workspaceTable(
    "project",
    "client_id",
    "client_id TEXT, status TEXT NOT NULL, name TEXT NOT NULL, ai_summary TEXT",
  ),
  // With a `day`, `date` is its noon in UTC, and the day counts only while `date` has that value. The same for tasks.
  ...workspaceTable(
    "checkpoint",
    "project_id",
    `project_id TEXT NOT NULL, date BIGINT NOT NULL, day TEXT, is_ai_suggested BIGINT NOT NULL, is_approved BIGINT NOT NULL,
      title TEXT NOT NULL`,
  ),
  ...workspaceTable(
    "task",
    "project_id",
    `project_id TEXT, status TEXT NOT NULL, priority TEXT NOT NULL, due_date BIGINT, due_day TEXT,
      is_ai_suggested BIGINT NOT NULL DEFAULT 0, is_approved BIGINT NOT NULL DEFAULT 1, assignee TEXT,
      title TEXT NOT NULL, description TEXT`,
  ),
  ...workspaceTable("task_comment", "task_id", "task_id TEXT NOT NULL, author TEXT NOT NULL, content TEXT NOT NULL"),
  ...workspaceTable(
    "note",
    "project_id",
    "updated_at BIGINT NOT NULL, project_id TEXT, title TEXT NOT NULL, content TEXT NOT NULL",
  ),
  // The vector of a note for one embedder. `hash` is of the text. `note_updated_at` is the time of the note, or -1 if it
  // waits to be embedded; `at` is since when. `claimed_by` embeds it until `claimed_until`; without a name it is deferred.
  // Vectors are text because both engines read text alike.
  `CREATE TABLE note_vector (
    note TEXT NOT NULL, embedder TEXT NOT NULL, person TEXT NOT NULL, hash TEXT NOT NULL, note_updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL, at BIGINT NOT NULL, vector TEXT NOT NULL, claimed_by TEXT,
    claimed_until BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (note, embedder)) ${clustered}`,
  "CREATE INDEX note_vector_version ON note_vector (person, embedder, version)",
  "CREATE INDEX note_vector_waiting ON note_vector (embedder, person, at) WHERE note_updated_at = -1",
  // Rows that a run wrote after it had read untrusted content. Rows on devices have no column for it. `place` is empty for
  // the workspace of the server.
  `CREATE TABLE tainted_row (
    person TEXT NOT NULL, place TEXT NOT NULL, id TEXT NOT NULL, taint TEXT NOT NULL, created_at BIGINT NOT NULL,
    PRIMARY KEY (person, place, id)) ${clustered}`,

  // Results of queries, whole. `conversation` is NULL if the person asked directly. A result that was not used for long
  // loses its rows (`size` 0).
  `CREATE TABLE query_result (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, connection TEXT NOT NULL, conversation TEXT, size BIGINT NOT NULL,
    truncated BIGINT NOT NULL, hash TEXT NOT NULL, created_at BIGINT NOT NULL, used_at BIGINT, statement TEXT NOT NULL,
    result TEXT NOT NULL)`,
  "CREATE INDEX query_result_person ON query_result (person, created_at)",
  "CREATE INDEX query_result_conversation ON query_result (conversation)",
  "CREATE INDEX query_result_used ON query_result ((coalesce(used_at, created_at))) WHERE size > 0",
  // Attempts to change a database of a person, recorded before its COMMIT, so that it can be asked later.
  `CREATE TABLE statement_attempt (
    call_id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, connection_id TEXT NOT NULL, at BIGINT NOT NULL, holder TEXT,
    mark TEXT, answer TEXT)`,
  "CREATE INDEX statement_attempt_person ON statement_attempt (person)",

  // Files of people if several machines share the database. Bytes are replaced, never changed: `content` names them. A row
  // comes before its bytes and without a path; a row that never gets one is swept.
  `CREATE TABLE kept_file (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, path TEXT, content TEXT NOT NULL, hash TEXT NOT NULL,
    size BIGINT NOT NULL, created_at BIGINT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX kept_file_path ON kept_file (person, path)",
  "CREATE INDEX kept_file_unnamed ON kept_file (created_at) WHERE path IS NULL",
  "CREATE INDEX kept_file_exported ON kept_file (person, id)",
  `CREATE TABLE kept_file_part (
    content TEXT NOT NULL, number BIGINT NOT NULL, person TEXT NOT NULL, bytes ${bytes} NOT NULL,
    PRIMARY KEY (content, number))`,
  "CREATE INDEX kept_file_part_person ON kept_file_part (person)",
  ...uncompressed("kept_file_part", "bytes"),
  // Files that lie on the disk of one machine.
  `CREATE TABLE file_disk (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, path TEXT NOT NULL, disk TEXT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX file_disk_path ON file_disk (person, path)",

  // Files of messages, one for each person and content. A file counts once it has a `hash`: then all bytes have arrived.
  `CREATE TABLE message_file (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, hash TEXT, name TEXT NOT NULL, type TEXT NOT NULL,
    size BIGINT NOT NULL, width BIGINT, height BIGINT, created_at BIGINT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX message_file_hash ON message_file (person, hash)",
  "CREATE INDEX message_file_created ON message_file (created_at)",
  "CREATE INDEX message_file_exported ON message_file (person, id)",
  `CREATE TABLE message_file_part (
    file TEXT NOT NULL, number BIGINT NOT NULL, person TEXT NOT NULL, bytes ${bytes} NOT NULL, PRIMARY KEY (file, number))`,
  "CREATE INDEX message_file_part_person ON message_file_part (person)",
  ...uncompressed("message_file_part", "bytes"),
  // The messages that refer to a file.
  `CREATE TABLE message_file_use (
    file TEXT NOT NULL, conversation TEXT NOT NULL, message TEXT NOT NULL, person TEXT NOT NULL, used_at BIGINT NOT NULL,
    checked_at BIGINT, PRIMARY KEY (file, conversation, message)) ${clustered}`,
  "CREATE INDEX message_file_use_conversation ON message_file_use (conversation)",
  "CREATE INDEX message_file_use_person ON message_file_use (person)",
  "CREATE INDEX message_file_use_unchecked ON message_file_use (used_at) WHERE checked_at IS NULL",
  `CREATE TABLE message_file_text (
    file TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, pages BIGINT, problem TEXT, text TEXT NOT NULL)`,
  "CREATE INDEX message_file_text_person ON message_file_text (person)",
  // Bytes in a folder. A row is written with its file, before the bytes, and deleted after them: a row without its file
  // names bytes that must still be removed. `files_folder` has one row: which folder it is.
  `CREATE TABLE file_place (place TEXT NOT NULL PRIMARY KEY, file TEXT NOT NULL, person TEXT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX file_place_file ON file_place (file)",
  "CREATE INDEX file_place_person ON file_place (person)",
  `CREATE TABLE files_folder (id TEXT NOT NULL PRIMARY KEY, database_mark TEXT NOT NULL, folder_mark TEXT) ${clustered}`,

  // `vectors` counts the vectors of the passages: an index in memory continues from there.
  `CREATE TABLE collection (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, name TEXT NOT NULL, documents BIGINT NOT NULL DEFAULT 0,
    passages BIGINT NOT NULL DEFAULT 0, vectors BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL) ${clustered}`,
  "CREATE UNIQUE INDEX collection_name ON collection (person, name)",
  // `day` is 20240115, or 20240000 if only the year is known. `reason` says why the document could not be read. The content
  // is an edition, written in portions: it counts once `edition` names it, so readers see one edition or the next, whole.
  `CREATE TABLE document (
    id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, collection TEXT NOT NULL, format TEXT NOT NULL, day BIGINT,
    hash TEXT NOT NULL, edition TEXT NOT NULL, characters BIGINT NOT NULL, passages BIGINT NOT NULL,
    created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, source TEXT NOT NULL, title TEXT NOT NULL, reason TEXT,
    authors TEXT NOT NULL)`,
  "CREATE UNIQUE INDEX document_source ON document (collection, source)",
  "CREATE INDEX document_person ON document (person, collection, created_at, id)",
  "CREATE INDEX document_hash ON document (collection, hash)",
  `CREATE TABLE document_text (
    id TEXT NOT NULL, person TEXT NOT NULL, edition TEXT NOT NULL, start_at BIGINT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (person, edition, start_at))`,
  // Editions that are being written, or that no document names any more.
  `CREATE TABLE edition (id TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, state TEXT NOT NULL, at BIGINT NOT NULL) ${clustered}`,
  "CREATE INDEX edition_person ON edition (person)",
  // Offsets are UTF-16 units of the text of the edition. `grams` finds Chinese, Japanese, Korean and Thai; it is empty if
  // there is no such text, and NULL if the passage was not examined yet.
  `CREATE TABLE passage (
    key ${serialKey}, person TEXT NOT NULL, collection TEXT NOT NULL, document TEXT NOT NULL, edition TEXT NOT NULL,
    ordinal BIGINT NOT NULL, heading TEXT NOT NULL, start_at BIGINT NOT NULL, end_at BIGINT NOT NULL, hash TEXT NOT NULL,
    text TEXT NOT NULL, grams TEXT)`,
  "CREATE UNIQUE INDEX passage_place ON passage (person, edition, ordinal)",
  "CREATE INDEX passage_without_grams ON passage (key) WHERE grams IS NULL",
  ...fullText,
  // How many passages of an edition an embedder has embedded, in order, and who does it at the moment.
  `CREATE TABLE embedding (
    person TEXT NOT NULL, edition TEXT NOT NULL, embedder TEXT NOT NULL, collection TEXT NOT NULL, document TEXT NOT NULL,
    embedded BIGINT NOT NULL, passages BIGINT NOT NULL, at BIGINT NOT NULL, claimed_by TEXT,
    claimed_until BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (person, edition, embedder)) ${clustered}`,
  "CREATE INDEX embedding_waiting ON embedding (embedder, at) WHERE embedded < passages",
  "CREATE INDEX embedding_turns ON embedding (embedder, person, at) WHERE embedded < passages",
  `CREATE TABLE passage_vector (
    person TEXT NOT NULL, edition TEXT NOT NULL, ordinal BIGINT NOT NULL, embedder TEXT NOT NULL, collection TEXT NOT NULL,
    document TEXT NOT NULL, version BIGINT NOT NULL, vector TEXT NOT NULL,
    PRIMARY KEY (person, edition, ordinal, embedder)) ${clustered}`,
  "CREATE INDEX passage_vector_version ON passage_vector (collection, embedder, version)",

  // Tables of packs: the column that names the person, the columns of an export, and the triggers that count the bytes.
  `CREATE TABLE table_of_pack (
    name TEXT NOT NULL PRIMARY KEY, person TEXT NOT NULL, exported TEXT NOT NULL, counted TEXT) ${clustered}`,
]
