/** How the rows of a table identify their owner: by the key or the id of a conversation or a person. */
export interface PersonalTable {
  readonly table: string
  readonly column: string
  readonly names: "conversation key" | "conversation id" | "person key" | "person id" | "call of a conversation"
  /** The columns of an export, never a secret; or the reason why none are exported. */
  readonly exported: readonly string[] | string
  /**
   * How to find the rows of a conversation if there is no index by conversation, which every turn would have to update.
   * Otherwise all rows would be scanned.
   */
  readonly foundBy?: "started runs" | "user id" | "person"
  /**
   * The columns that identify and order rows in an export, if not `id`. They follow the person in an index, so that no
   * page has to sort all rows.
   */
  readonly place?: readonly string[]
}

const AS_LISTED = ["created_at", "id"] as const
const IN_THE_JOURNAL = "its rows repeat what the events say"
const CONNECTED_NOW = "only lists the sockets that are open now"

/** Every table with personal data. Erasure and export use this list, and a test compares it with the schema. */
export const personalTables: readonly PersonalTable[] = [
  // Before the events, by which the rows of this table, of runs and of the audit are found.
  { table: "applied_call", column: "call_id", names: "call of a conversation", exported: IN_THE_JOURNAL },
  // Also by person, because a write may finish after its conversation was erased.
  { table: "applied_call", column: "person", names: "person id", exported: IN_THE_JOURNAL },
  { table: "statement_attempt", column: "call_id", names: "call of a conversation", exported: IN_THE_JOURNAL },
  { table: "statement_attempt", column: "person", names: "person id", exported: IN_THE_JOURNAL },
  { table: "delivery", column: "conversation", names: "conversation key", exported: "says when a webhook was called" },
  {
    table: "audit_entry",
    column: "conversation_id",
    names: "conversation id",
    foundBy: "user id",
    exported: "shown as audit",
  },
  { table: "message_key", column: "conversation", names: "conversation key", exported: "hashes that no one can read" },
  {
    table: "earmark",
    column: "conversation",
    names: "conversation key",
    exported: "which process is about to continue",
  },
  { table: "kept_fold", column: "conversation", names: "conversation key", exported: IN_THE_JOURNAL },
  { table: "inbox", column: "conversation", names: "conversation key", exported: "shown with its conversation" },
  {
    table: "proposal",
    column: "conversation",
    names: "conversation key",
    foundBy: "person",
    exported: "shown with its conversation",
  },
  {
    table: "run",
    column: "conversation",
    names: "conversation key",
    foundBy: "started runs",
    exported: "shown with its conversation",
  },
  { table: "event", column: "conversation", names: "conversation key", exported: "shown with its conversation" },
  // With its conversation, and by person.
  { table: "shared_run", column: "conversation", names: "conversation key", exported: "shown by its person" },
  {
    table: "shared_run",
    column: "person",
    names: "person key",
    exported: ["id", "run", "created_at", "expires_at"], // not its hash
  },
  {
    table: "token",
    column: "person",
    names: "person key",
    exported: ["id", "name", "scopes", "created_at", "revoked_at"], // not its hash
  },
  {
    table: "session",
    column: "person",
    names: "person key",
    exported: ["id", "scopes", "browser", "created_at", "expires_at", "revoked_at", "issuer"], // not its hash
  },
  { table: "news", column: "person", names: "person key", exported: "counts what was changed, and says nothing of it" },
  { table: "sign_in_link", column: "person", names: "person key", exported: "a way in, and nothing else" },
  {
    table: "device",
    column: "person",
    names: "person id",
    exported: ["id", "name", "bound_at", "taken_at", "asked_at"],
  },
  // With the conversation of the connection, and by person.
  { table: "connected_device", column: "conversation", names: "conversation id", exported: CONNECTED_NOW },
  { table: "connected_device", column: "person", names: "person id", exported: CONNECTED_NOW },
  { table: "authorization_code", column: "person", names: "person key", exported: "a way in, and nothing else" },
  { table: "program_grant", column: "person", names: "person key", exported: "a way in, and nothing else" },
  {
    table: "issuer_identity",
    column: "person",
    names: "person key",
    exported: ["issuer", "subject", "name", "created_at", "signed_in_at"],
  },
  { table: "ticket", column: "person", names: "person key", exported: "a way in, and nothing else" },
  {
    table: "provider_key",
    column: "person",
    names: "person id",
    exported: ["provider", "updated_at"], // not the encrypted fields
  },
  // With its conversation, and by person if there is none.
  { table: "query_result", column: "conversation", names: "conversation id", exported: "shown by its person" },
  {
    table: "query_result",
    column: "person",
    names: "person id",
    // Not its rows, which are copies from the person's own database.
    exported: ["id", "connection", "conversation", "statement", "truncated", "created_at"],
    place: AS_LISTED,
  },
  {
    table: "connection",
    column: "person",
    names: "person id",
    exported: ["id", "name", "engine", "created_at", "updated_at"], // not the encrypted fields
  },
  {
    table: "kept_file",
    column: "person",
    names: "person id",
    exported: ["id", "path", "hash", "size", "created_at"],
  },
  // Files before their uses, in the order in which writers lock them.
  {
    table: "message_file",
    column: "person",
    names: "person id",
    exported: ["id", "name", "type", "size", "width", "height", "hash", "created_at"],
  },
  { table: "message_file_use", column: "conversation", names: "conversation id", exported: IN_THE_JOURNAL },
  { table: "message_file_use", column: "person", names: "person id", exported: IN_THE_JOURNAL },
  { table: "message_file_part", column: "person", names: "person id", exported: "written behind each file, as base64" },
  { table: "message_file_text", column: "person", names: "person id", exported: "read out of the files" },
  { table: "file_disk", column: "person", names: "person id", exported: ["id", "path"], place: ["path"] },
  // As for results of queries, the content is available through its connection.
  { table: "kept_file_part", column: "person", names: "person id", exported: "the bytes of databases made of uploads" },
  {
    table: "mcp_server",
    column: "person",
    names: "person id",
    exported: ["id", "name", "agents", "created_at", "updated_at"], // not the encrypted fields
  },
  {
    table: "mcp_tool",
    column: "person",
    names: "person id",
    exported: ["server", "tool", "rule", "updated_at"],
    place: ["server", "tool"],
  },
  {
    table: "mcp_sign_in",
    column: "person",
    names: "person id",
    exported: ["server", "state", "updated_at"], // not the encrypted fields
  },
  { table: "mcp_sign_in_attempt", column: "person", names: "person id", exported: "a way in, and nothing else" },
  // Before its contents, in the order in which writers lock them.
  {
    table: "collection",
    column: "person",
    names: "person id",
    exported: ["id", "name", "documents", "passages", "created_at", "updated_at"],
  },
  {
    table: "document",
    column: "person",
    names: "person id",
    exported: [
      ...["id", "collection", "edition", "source", "format", "title", "authors", "day", "hash", "reason"],
      ...["characters", "passages", "created_at", "updated_at"],
    ],
    place: ["collection", "created_at", "id"],
  },
  {
    table: "document_text",
    column: "person",
    names: "person id",
    exported: ["id", "edition", "start_at", "text"],
    place: ["edition", "start_at"],
  },
  { table: "edition", column: "person", names: "person id", exported: "what is being written, or cleared away" },
  { table: "embedding", column: "person", names: "person id", exported: "how far the vectors are" },
  { table: "passage_vector", column: "person", names: "person id", exported: "numbers made from the passages" },
  { table: "passage", column: "person", names: "person id", exported: "cut from the texts of the documents" },
  // Before the reservations, in the order in which writers lock them; the reverse order could deadlock.
  { table: "budget", column: "person", names: "person id", exported: "a place to stand in line" },
  // By person only: costs stay when a conversation is deleted.
  {
    table: "usage",
    column: "person",
    names: "person id",
    exported: [
      ...["run", "conversation", "model", "provider", "paid_by", "day"],
      ...["input_tokens", "output_tokens", "cached_tokens", "cost", "root_run"],
    ],
    place: ["day", "run", "id"],
  },
  { table: "usage_day", column: "person", names: "person id", exported: "adds up the rows of usage" },
  { table: "usage_summed", column: "person", names: "person id", exported: "says which days are added up" },
  { table: "reservation", column: "person", names: "person id", exported: "what a call under way may cost" },
  // Before the rows of the workspace, in the order in which writers lock them.
  { table: "workspace", column: "person", names: "person id", exported: "a place to stand in line" },
  {
    table: "client",
    column: "person",
    names: "person id",
    exported: ["id", "parent_id", "name", "industry", "created_at"],
    place: AS_LISTED,
  },
  {
    table: "project",
    column: "person",
    names: "person id",
    exported: ["id", "client_id", "name", "status", "ai_summary", "created_at"],
    place: AS_LISTED,
  },
  {
    table: "checkpoint",
    column: "person",
    names: "person id",
    exported: ["id", "project_id", "title", "date", "day", "is_ai_suggested", "is_approved", "created_at"],
    place: AS_LISTED,
  },
  {
    table: "tainted_row",
    column: "person",
    names: "person id",
    exported: ["place", "id", "taint", "created_at"],
    place: ["place", "id"],
  },
  { table: "note_vector", column: "person", names: "person id", exported: "numbers made from the notes" },
  {
    table: "note",
    column: "person",
    names: "person id",
    exported: ["id", "project_id", "title", "content", "created_at", "updated_at"],
    place: AS_LISTED,
  },
  {
    table: "task_comment",
    column: "person",
    names: "person id",
    exported: ["id", "task_id", "author", "content", "created_at"],
    place: AS_LISTED,
  },
  {
    table: "task",
    column: "person",
    names: "person id",
    exported: [
      ...["id", "project_id", "title", "description", "status", "priority", "assignee", "due_date", "due_day"],
      ...["is_ai_suggested", "is_approved", "created_at"],
    ],
    place: AS_LISTED,
  },
  // Last: deletions in the other tables update it.
  { table: "storage_use", column: "person", names: "person id", exported: "adds up the bytes of the other tables" },
]

/** Tables without personal data, or whose rows have their own rules. */
export const otherTables: Readonly<Record<string, string>> = {
  conversation: "erased last, because the others are found through it",
  person: "the name is deleted at once and the row a day later, when nothing can refer to it any more",
  erased_person: "ids of erased people, for a day",
  erased_identity: "hashes of deleted users of an issuer, so that an old token does not recreate them",
  master_key: "identifies the key that encrypts secrets",
  sign_in_attempt: "hashes of sign-ins in progress, which belong to no user yet, for ten minutes",
  node: "processes, not people",
  node_mail: "messages between nodes, read within a second and deleted with their target node",
  death: "the assessment of a node failure, by ids of conversations",
  bucket: "hashes of rate-limited callers, for a minute or two",
  migration: "the version of the schema",
  file_place: "names of files in the folder; a row is deleted with the bytes, right after the row of its file",
  storage_limit: "how many bytes each person may store",
  files_folder: "the folder that contains the bytes of files",
  table_of_pack: "the tables of packs, with how to export and delete their rows",
}
