import type { StorageKind } from "../../protocol/account/storage.ts"
import type { CountedTable } from "../engine/byte-counts.ts"

const ofPerson = (table: string, texts: string, more: Partial<CountedTable> = {}): CountedTable => ({
  ...{ table, column: "person", names: "person id", texts: texts.split(" "), ...more },
})

const ofConversation = (table: string, texts: string, base?: number): CountedTable => ({
  ...{ table, column: "conversation", names: "conversation key", texts: texts.split(" ") },
  ...(base === undefined ? {} : { base }),
})

/** People add rows, and may make their texts longer. */
const GROWTH = { refuses: "growth" } as const
/** People add rows, and only the server changes them. */
const ROWS = { refuses: "rows" } as const

/** Includes the rows of `run`, `usage`, `message_key` and `proposal` that come with events. */
const EVENT_BASE = 400

/**
 * Tables that count towards a person's storage, with sums in `storage_use`. Triggers maintain the sums, so that no
 * write bypasses them, not even by a node of another version.
 *
 * A migration that adds a table needs its `triggers`; one that adds a column needs `dropTriggers`, `triggers` and
 * `recount`.
 */
export const countedTables: readonly CountedTable[] = [
  ofConversation("event", "type message_id role content tool_calls call_id body", EVENT_BASE),
  ofConversation("inbox", "id body"),
  ofConversation("kept_fold", "version body"),
  ofPerson(
    "audit_entry",
    "id conversation_id user_id run_id call_id proposal_id tool action summary arguments before after decided_by inverse undoes",
    { column: "user_id" },
  ),
  ofPerson("applied_call", "call_id answer person"),
  ofPerson("statement_attempt", "call_id person connection_id holder mark answer"),
  ofPerson("query_result", "id person connection conversation statement result hash", ROWS),
  ofPerson("client", "id person parent_id name industry", GROWTH),
  ofPerson("project", "id person client_id name status ai_summary", GROWTH),
  ofPerson("checkpoint", "id person project_id title day", GROWTH),
  ofPerson("note", "id person project_id title content", GROWTH),
  ofPerson("note_vector", "note embedder person hash vector claimed_by"),
  ofPerson("task", "id person title description status priority project_id assignee due_day", GROWTH),
  ofPerson("task_comment", "id person task_id author content", GROWTH),
  ofPerson("tainted_row", "person place id taint"),
  ofPerson("collection", "id person name", ROWS),
  ofPerson("document", "id person collection source format title authors hash edition reason", ROWS),
  ofPerson("document_text", "id person edition text", ROWS),
  ofPerson("edition", "id person state"),
  ofPerson("embedding", "person edition embedder collection document claimed_by"),
  ofPerson("passage", "person collection document edition heading hash text grams", ROWS),
  ofPerson("passage_vector", "person edition embedder collection document vector"),
  ofPerson("kept_file", "id person path content hash", ROWS),
  ofPerson("kept_file_part", "content person bytes", ROWS),
  ofPerson("file_disk", "id person path disk", ROWS),
  // Includes the bytes of its parts, or of its file in a folder.
  ofPerson("message_file", "id person hash name type", { sized: "size", ...ROWS }),
  ofPerson("message_file_use", "file conversation message person"),
  ofPerson("message_file_text", "file person text problem", ROWS),
  ofPerson("connection", "id person name engine key_id sealed", ROWS),
  ofPerson("provider_key", "id person provider key_id sealed"),
  ofPerson("mcp_server", "id person name agents key_id sealed", ROWS),
  ofPerson("mcp_tool", "server tool person agreed_hash agreed seen_hash seen rule"),
  ofPerson("mcp_sign_in", "id person server state version key_id sealed"),
  ofPerson("device", "id person name lineage request asker asker_credential conversation"),
  ofPerson("token", "id hash scopes name minted_by", { names: "person key" }),
  ofPerson("session", "id hash scopes browser page_hash issuer", { names: "person key" }),
  ofPerson("shared_run", "id hash run", { names: "person key", ...ROWS }),
  ofPerson("program_grant", "token client resource hash previous_hash", { names: "person key" }),
]

const EXPIRES = "expires within minutes"
const WITH_EVENTS = "a short row, paid for by the events that come with it"
const FEW = "at most one short row for a person, a day or a conversation"

/** Tables with personal data that do not count, and why they cannot fill a disk. */
export const uncountedTables: Readonly<Record<string, string>> = {
  storage_use: "the sums themselves",
  run: WITH_EVENTS,
  proposal: WITH_EVENTS,
  usage: WITH_EVENTS,
  message_key: WITH_EVENTS,
  delivery: WITH_EVENTS,
  earmark: FEW,
  budget: FEW,
  reservation: FEW,
  news: FEW,
  usage_day: FEW,
  usage_summed: FEW,
  workspace: FEW,
  issuer_identity: FEW,
  connected_device: "one short row for each open socket",
  sign_in_link: EXPIRES,
  ticket: EXPIRES,
  authorization_code: EXPIRES,
  mcp_sign_in_attempt: EXPIRES,
  message_file_part: "counted by the size of its file",
}

/** Counted tables whose writes are never refused, and why. */
export const neverRefused: Readonly<Record<string, string>> = {
  event: "a run records its end whatever it takes; the input that starts one is refused before",
  inbox: "holds decisions and results too; messages are refused before",
  kept_fold: "is made from events",
  audit_entry: "records an effect",
  applied_call: "records an effect",
  statement_attempt: "records an effect",
  note_vector: "is made from notes",
  passage_vector: "is made from passages",
  embedding: "is made with documents",
  edition: "is made with documents",
  tainted_row: "marks a row, in the transaction that adds it",
  message_file_use: "is written with a message",
  provider_key: "one short row for each provider, and without it nothing works",
  mcp_tool: "pins the tools of a server that was added before",
  mcp_sign_in: "renews what was signed in before",
  device: "signing in must work: only who is signed in can delete something",
  token: "signing in must work; with a full storage a person creates none",
  session: "signing in must work",
  program_grant: "signing in must work",
}

const kinds: readonly (readonly [StorageKind, string])[] = [
  ["conversations", "event inbox kept_fold audit_entry applied_call statement_attempt"],
  ["queryResults", "query_result"],
  ["workspace", "client project checkpoint note note_vector task task_comment tainted_row"],
  ["documents", "collection document document_text edition embedding passage passage_vector"],
  ["files", "kept_file kept_file_part file_disk message_file message_file_use message_file_text"],
  [
    "connections",
    "connection provider_key mcp_server mcp_tool mcp_sign_in device token session shared_run program_grant",
  ],
]

const kindOf = new Map(kinds.flatMap(([kind, tables]) => tables.split(" ").map((table) => [table, kind] as const)))

/** The category of a table in the storage report. */
export const storageKindOf = (table: string): StorageKind => kindOf.get(table) ?? "packs"
