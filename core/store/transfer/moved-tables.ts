import type { Engine } from "../engine/engine.ts"

/** A table whose rows `pawl export` writes and `pawl import` reads, each with all columns that are not listed here. */
export interface MovedTable {
  readonly table: string
  /** The column that names the person or the conversation of a row. */
  readonly owner: string
  readonly names: "person id" | "conversation key"
  /** The columns that identify a row. An import leaves a row alone if its person has one with the same values. */
  readonly key: readonly string[]
  /** Columns that the database computes. */
  readonly omitted?: readonly string[]
  /**
   * Columns that every imported row gets, whatever the file contains, because approvals do not move to another server.
   */
  readonly fixed?: Readonly<Record<string, string | number | null>>
  /** A condition for the rows that are moved. */
  readonly only?: string
  /** A column that names a row of the same person in another table. Without that row, it is left out. */
  readonly within?: { readonly column: string; readonly table: string }
  /** Encrypted with the master key: left out by a server that cannot decrypt it. */
  readonly sealed?: true
}

const ofPerson = (table: string, key: string, more: Partial<MovedTable> = {}): MovedTable => ({
  ...{ table, owner: "person", names: "person id", key: key.split(" ") },
  ...more,
})

/** In this order in the file: a row comes after the rows that it names. */
export const movedTables: readonly MovedTable[] = [
  { table: "message_key", owner: "conversation", names: "conversation key", key: ["conversation", "key"] },
  ofPerson("applied_call", "call_id"),
  ofPerson("statement_attempt", "call_id"),
  ofPerson("usage", "run id"),
  ofPerson("workspace", "person", { fixed: { vectors: 0 } }),
  ...["client", "project", "checkpoint", "task", "task_comment", "note"].map((table) => ofPerson(table, "id")),
  ofPerson("tainted_row", "person place id"),
  ofPerson("provider_key", "id", { sealed: true }),
  ofPerson("connection", "id", { sealed: true }),
  ofPerson("query_result", "id"),
  ofPerson("mcp_server", "id", { sealed: true }),
  // Not the tools of a server of the operator: those pins are not the person's.
  ofPerson("mcp_tool", "server tool", {
    fixed: { agreed: null, agreed_hash: null, rule: null },
    within: { column: "server", table: "mcp_server" },
  }),
  ofPerson("message_file", "id", { only: "hash IS NOT NULL" }),
  ofPerson("message_file_use", "file conversation message"),
  ofPerson("message_file_text", "file"),
  ofPerson("collection", "id", { fixed: { vectors: 0 } }),
  ofPerson("document", "id"),
  // Not those of an edition that is being written, or that no document names any more.
  ...[
    ofPerson("document_text", "person edition start_at"),
    ofPerson("passage", "person edition ordinal", { omitted: ["key", "words"] }),
    ofPerson("embedding", "person edition embedder", { fixed: { embedded: 0, claimed_by: null, claimed_until: 0 } }),
  ].map((table) => ({ ...table, only: "edition IN (SELECT edition FROM document WHERE document.person = ?)" })),
]

/** The bytes of a file, in the file after its row. */
export const FILE_PART = "message_file_part"

const MADE_AGAIN = "is computed from other rows"
const IN_THE_JOURNAL = "is written from the journal"
const WAY_IN = "lets someone in: people sign in again, with `pawl invite`"
const THIS_SERVER = "describes this server and its processes"

/** Every other table, and why its rows are not moved. A test compares both lists with the schema. */
export const unmovedTables: Readonly<Record<string, string>> = {
  person: "moved as a line of its own",
  conversation: "moved as a line of its own, with its journal",
  event: "moved as the journal of its conversation",
  message_file_part: "moved as the bytes of its file",
  inbox: "input that waits for a server: start it and let it finish before the export",
  run: IN_THE_JOURNAL,
  proposal: IN_THE_JOURNAL,
  audit_entry: IN_THE_JOURNAL,
  kept_fold: MADE_AGAIN,
  usage_day: MADE_AGAIN,
  usage_summed: MADE_AGAIN,
  note_vector: MADE_AGAIN,
  passage_vector: MADE_AGAIN,
  storage_use: MADE_AGAIN,
  edition: "editions that are being written or removed",
  budget: "a row to lock",
  reservation: "what a call in progress may cost",
  news: "counts changes for other processes",
  delivery: "says when a webhook was called",
  earmark: THIS_SERVER,
  node: THIS_SERVER,
  node_mail: THIS_SERVER,
  death: THIS_SERVER,
  bucket: THIS_SERVER,
  migration: THIS_SERVER,
  master_key: THIS_SERVER,
  storage_limit: THIS_SERVER,
  files_folder: THIS_SERVER,
  file_place: THIS_SERVER,
  file_disk: THIS_SERVER,
  connected_device: THIS_SERVER,
  table_of_pack: "written by the pack, which an import needs",
  kept_file: "moved with the connection of its upload",
  kept_file_part: "moved with the connection of its upload",
  token: WAY_IN,
  session: WAY_IN,
  sign_in_link: WAY_IN,
  sign_in_attempt: WAY_IN,
  ticket: WAY_IN,
  authorization_code: WAY_IN,
  program_grant: WAY_IN,
  issuer_identity: WAY_IN,
  shared_run: WAY_IN,
  device: "binds a name to a credential, and credentials are not moved",
  mcp_sign_in: "a sign-in to another server, which the person repeats",
  mcp_sign_in_attempt: "a sign-in in progress",
  erased_person: "people who were erased here",
  erased_identity: "people who were erased here",
}

/** The tables of packs, with all their columns. */
export async function readMovedPackTables(engine: Engine): Promise<MovedTable[]> {
  const sql = "SELECT name, person FROM table_of_pack ORDER BY name"
  const rows = await engine.query<{ name: string; person: string }>(sql, [])
  return rows.map(({ name, person }) => ({ table: name, owner: person, names: "person id", key: ["id"] }))
}

/** A column as an import checks it. */
export interface MovedColumn {
  readonly name: string
  readonly type: "text" | "integer" | "number" | "bytes"
  /** A row may leave it out or have NULL there. */
  readonly isOptional: boolean
}

/** The columns of a table that a line of the file has. */
export async function readColumns(engine: Engine, moved: MovedTable): Promise<MovedColumn[]> {
  const { table, owner, names, omitted = [], fixed = {} } = moved
  const sql =
    engine.name === "sqlite"
      ? `SELECT name, type, "notnull" = 0 AND pk = 0 OR dflt_value IS NOT NULL AS optional FROM pragma_table_info(?)`
      : `SELECT column_name::text AS name, upper(data_type)::text AS type,
          is_nullable = 'YES' OR column_default IS NOT NULL AS optional FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ?`
  const rows = await engine.query<{ name: string; type: string; optional: boolean | number }>(sql, [table])
  return rows
    .filter(({ name }) => !omitted.includes(name) && !Object.hasOwn(fixed, name))
    .map(({ name, type, optional }) => {
      // The file has the id of the conversation: keys are those of one database.
      const isId = name === owner && names === "conversation key"
      return { name, type: isId ? "text" : typeOf(type), isOptional: Boolean(optional) }
    })
}

function typeOf(type: string): MovedColumn["type"] {
  if (/INT/.test(type)) return "integer"
  if (/REAL|DOUBLE|NUMERIC/.test(type)) return "number"
  return /BLOB|BYTEA/.test(type) ? "bytes" : "text"
}
