import { createHash, type Hash } from "node:crypto"
import { z } from "zod"
import { settleOpenCalls } from "../../engine/accept/settle-calls.ts"
import type { Conversation } from "../../engine/conversation.ts"
import type { OpenProposal } from "../../engine/conversation-writes.ts"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { narrowest } from "../../engine/gate/policy.ts"
import { dropSettled, isKnown, stage, stageCopy } from "../../engine/replay/replay.ts"
import { JournalEvent } from "../../protocol/events.ts"
import { type ConversationId, isId, type ProposalId, type UserId } from "../../protocol/ids.ts"
import { isSettled } from "../../protocol/proposals/proposal.ts"
import { JsonLimitError, type JsonLimits, readJson } from "../../shared/text/read-json.ts"
import { isStorable, mendValue } from "../../shared/text/text.ts"
import type { AuditRow, ProposalRow } from "../engine/operations.ts"
import { toAuditRows, toProposalRows } from "../journal/mirror-rows.ts"
import { FORMAT } from "./export-lines.ts"
import { type MovedColumn, FILE_PART, type MovedTable } from "./moved-tables.ts"

/** The longest line: an event holds at most a message or a result, a part of a file a megabyte. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024
/** A conversation is replayed as a whole. */
const MAX_CONVERSATION_BYTES = 512 * 1024 * 1024
const LIMITS: JsonLimits = { characters: MAX_LINE_BYTES, values: 1_000_000, names: 50_000, depth: 1000 }

/** A line of the file is not one that an export writes. Nothing of it was imported. */
export class TransferError extends Error {
  override readonly name = "TransferError"

  constructor(line: number, problem: string) {
    super(`Line ${line}: ${problem}`)
  }
}

/** One step of an import, in the order of the file. Every item has been checked. */
export type TransferItem = { readonly line: number } & (
  | { readonly type: "person"; readonly person: PersonLine }
  | ({ readonly type: "conversation" } & ImportedConversation)
  | { readonly type: "row"; readonly user: UserId; readonly table: MovedTable; readonly row: ImportedRow }
  | { readonly type: "file part"; readonly user: UserId; readonly row: ImportedRow }
  | { readonly type: "upload"; readonly user: UserId; readonly upload: UploadPart }
)

export interface ImportedConversation {
  readonly user: UserId
  readonly createdAt: number
  readonly updatedAt: number
  /** Its state after `events`. */
  readonly conversation: Conversation
  readonly events: readonly JournalEvent[]
  /** The rows of its proposals and of its applied writes. */
  readonly proposals: readonly ProposalRow[]
  readonly audits: readonly AuditRow[]
}

export type ImportedRow = ReadonlyMap<string, string | number | Uint8Array | null>

export interface UploadPart {
  readonly connection: string
  readonly number: number
  /** Undefined in the last one. */
  readonly bytes: Uint8Array | undefined
}

export interface TransferTables {
  readonly tables: ReadonlyMap<string, { readonly table: MovedTable; readonly columns: readonly MovedColumn[] }>
  /** Tables of packs that this server does not have: their rows are left out. */
  isOfPack(table: string): boolean
}

/** The schemas of the lines of an export. Created on first use, because most processes read none. */
function lineSchemas() {
  const text = z.string().refine(isStorable, "has a character that cannot be stored")
  const time = z.int().nonnegative()
  const base64 = z.strictObject({ base64: z.base64() })

  const Header = z.strictObject({ pawl: z.literal("export"), format: z.int(), people: z.int() })
  const PersonLine = z.strictObject({
    id: z.string().refine((id) => isId("user", id), "is not the id of a person"),
    // A space at the start marks the name of a person of an issuer. One at the end marks an erased person.
    name: text
      .max(600)
      .refine((name) => /^ ?\S/.test(name) && /\S$/.test(name) && !/\p{Cc}/u.test(name), "is not a name"),
    called: text.max(500).nullable(),
    created_at: time,
    chosen_model: text.max(500).nullable(),
    page_model: text.max(500).nullable(),
    terminal_model: text.max(500).nullable(),
  })
  const ConversationLine = z.strictObject({
    id: z.string().refine((id) => isId("conv", id), "is not the id of a conversation"),
    created_at: time,
    updated_at: time,
  })
  const RowLine = z.strictObject({
    table: z.string(),
    row: z.custom<Readonly<Record<string, unknown>>>(isObject, "is not an object"),
  })
  const UploadLine = z.strictObject({
    connection: z.string().refine((id) => isId("conn", id), "is not the id of a connection"),
    number: time,
    bytes: base64.optional(),
    end: z.literal(true).optional(),
  })
  const Line = z.union([
    z.strictObject({ person: z.unknown() }),
    z.strictObject({ conversation: z.unknown() }),
    z.strictObject({ event: z.unknown() }),
    z.strictObject({ upload: z.unknown() }),
    z.strictObject({ end: z.int() }),
    RowLine,
  ])
  return { Header, PersonLine, ConversationLine, UploadLine, Line }
}

type Schemas = ReturnType<typeof lineSchemas>
export type PersonLine = z.infer<Schemas["PersonLine"]>
type ConversationLine = z.infer<Schemas["ConversationLine"]>

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Splits bytes into lines, none longer than `MAX_LINE_BYTES`, and refuses what is not UTF-8. */
export async function* splitLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let [number, length] = [1, 0]
  let pieces: Uint8Array[] = []
  const take = (): string => {
    try {
      return decoder.decode(Buffer.concat(pieces, length))
    } catch {
      throw new TransferError(number, "it is not UTF-8.")
    }
  }
  for await (const chunk of bytes) {
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(0x0a, start)
      const end = newline < 0 ? chunk.length : newline
      length += end - start
      if (length > MAX_LINE_BYTES) throw new TransferError(number, `it is longer than ${MAX_LINE_BYTES} bytes.`)
      pieces.push(chunk.subarray(start, end))
      start = end + 1
      if (newline < 0) continue
      yield take()
      ;[pieces, length] = [[], 0]
      number++
    }
  }
  if (length > 0) yield take()
}

/**
 * Checks the lines of an export and returns what to import, in order. The file may be hostile: every line has to be one
 * that an export writes, rows have known columns of the right types and belong to the person before them, and journals are
 * replayed. Throws a `TransferError` for the first line that does not fit, and at the end if the file is incomplete.
 */
export async function* checkLines(
  lines: AsyncIterable<string>,
  { tables, now }: { readonly tables: TransferTables; readonly now: number },
): AsyncGenerator<TransferItem> {
  const { Header, PersonLine, ConversationLine, UploadLine, Line } = lineSchemas()
  let [number, user] = [0, undefined as UserId | undefined]
  let [journal, file, isEnded] = [undefined as Journal | undefined, undefined as FileCheck | undefined, false]
  const seen = new Set<string>()
  let conversations = new Set<string>()
  const refuse = (problem: string): never => {
    throw new TransferError(number, problem)
  }
  const read = <T>(schema: z.ZodType<T>, value: unknown, what: string): T => {
    const result = schema.safeParse(value)
    if (result.success) return result.data
    const [issue] = result.error.issues
    return refuse(`it is not ${what}: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trimEnd() + ".")
  }
  for await (const line of lines) {
    number++
    if (isEnded) refuse("the export has ended before it.")
    const value = parse(line, refuse)
    if (number === 1) {
      const header = Header.safeParse(value)
      if (!header.success) refuse(NOT_AN_EXPORT)
      if (header.data?.format !== FORMAT) refuse(`it has format ${header.data?.format}, and this Pawl reads ${FORMAT}.`)
      continue
    }
    const entry = read(Line, value, "a line of an export")
    if (!("event" in entry) && journal) {
      yield { line: journal.line, type: "conversation", ...journal.end(now, refuse) }
      journal = undefined
    }
    if (!("table" in entry && entry.table === FILE_PART)) {
      file?.end(refuse)
      file = undefined
    }
    if ("end" in entry) {
      if (entry.end !== number - 1) refuse(`it counts ${entry.end} lines, and there are ${number - 1}.`)
      isEnded = true
    } else if ("person" in entry) {
      const person = read(PersonLine, entry.person, "a person")
      if (seen.has(person.id)) refuse(`the person ${person.id} comes twice.`)
      seen.add(person.id)
      conversations = new Set()
      user = person.id as UserId
      yield { line: number, type: "person", person }
    } else if (user === undefined) {
      refuse("no person comes before it.")
    } else if ("conversation" in entry) {
      const head = read(ConversationLine, entry.conversation, "a conversation")
      if (seen.has(head.id)) refuse(`the conversation ${head.id} comes twice.`)
      seen.add(head.id)
      conversations.add(head.id)
      journal = new Journal(number, user, head)
    } else if ("event" in entry) {
      if (!journal) refuse("no conversation comes before it.")
      const event = line.includes("\\u") ? mendValue(entry.event) : entry.event
      journal?.add(read(JournalEvent, event, "an event of this version"), { length: line.length, refuse })
    } else if ("upload" in entry) {
      const { connection, number: part, bytes } = read(UploadLine, entry.upload, "an uploaded database")
      const upload = { connection, number: part, bytes: bytes && Buffer.from(bytes.base64, "base64") }
      yield { line: number, type: "upload", user, upload }
    } else if (entry.table === FILE_PART) {
      const row = toRow(entry.row, FILE_PART_COLUMNS, refuse)
      if (!file) refuse("no file comes before it.")
      file?.add(row, refuse)
      yield { line: number, type: "file part", user, row }
    } else {
      const known = tables.tables.get(entry.table)
      if (!known) {
        if (!tables.isOfPack(entry.table)) refuse(`there is no table ${entry.table.slice(0, 100)} to import.`)
        continue
      }
      const { table, columns } = known
      const row = toRow(entry.row, columns, refuse)
      if (table.names === "person id" && row.get(table.owner) !== user) refuse(`it does not belong to ${user}.`)
      if (table.names === "conversation key" && !conversations.has(String(row.get(table.owner))))
        refuse("it names no conversation of the person before it.")
      if (table.table === "message_file") file = new FileCheck(row)
      yield { line: number, type: "row", user, table, row }
    }
  }
  if (!isEnded) throw new TransferError(number + 1, "the file ends before the export does. Copy or export it again.")
}

const NOT_AN_EXPORT =
  "it is not the first line of an export. Use a file that `pawl export` wrote; the file of GET /api/export is for reading."

function parse(line: string, refuse: (problem: string) => never): unknown {
  try {
    return readJson(line, LIMITS)
  } catch (error) {
    return refuse(error instanceof JsonLimitError ? `${error.message}.` : "it is not JSON.")
  }
}

const FILE_PART_COLUMNS: readonly MovedColumn[] = [
  { name: "file", type: "text", isOptional: false },
  { name: "number", type: "integer", isOptional: false },
  { name: "bytes", type: "bytes", isOptional: false },
]

function toRow(
  row: Readonly<Record<string, unknown>>,
  columns: readonly MovedColumn[],
  refuse: (problem: string) => never,
): ImportedRow {
  const known = new Map(columns.map((column) => [column.name, column]))
  const values = new Map<string, string | number | Uint8Array | null>()
  for (const [name, value] of Object.entries(row)) {
    const column = known.get(name)
    if (!column) return refuse(`it has an unknown column ${JSON.stringify(name.slice(0, 100))}.`)
    values.set(name, toValue(value, column, refuse))
  }
  const missing = columns.find(({ name, isOptional }) => !isOptional && (values.get(name) ?? null) === null)
  return missing ? refuse(`it has no ${missing.name}.`) : values
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function toValue(value: unknown, { name, type }: MovedColumn, refuse: (problem: string) => never) {
  if (value === null) return null
  if (type === "text" && typeof value === "string" && isStorable(value)) return value
  if (type === "integer" && Number.isSafeInteger(value)) return value as number
  if (type === "number" && Number.isFinite(value)) return value as number
  if (type === "bytes") {
    const encoded = isObject(value) && Object.keys(value).length === 1 ? value.base64 : undefined
    if (typeof encoded === "string" && BASE64.test(encoded)) return Buffer.from(encoded, "base64")
  }
  return refuse(`its ${name} is not ${type === "text" ? "a text that can be stored" : `of the type ${type}`}.`)
}

/** The bytes of an attachment, as its row describes them. */
class FileCheck {
  readonly #row: ImportedRow
  readonly #hash: Hash = createHash("sha256")
  #number = 0
  #size = 0

  constructor(row: ImportedRow) {
    this.#row = row
  }

  add(part: ImportedRow, refuse: (problem: string) => never): void {
    const bytes = part.get("bytes") as Uint8Array
    if (part.get("file") !== this.#row.get("id") || part.get("number") !== this.#number++)
      refuse("it is not the next part of the file before it.")
    this.#size += bytes.length
    this.#hash.update(bytes)
  }

  end(refuse: (problem: string) => never): void {
    if (this.#size !== this.#row.get("size") || this.#hash.digest("hex") !== this.#row.get("hash"))
      refuse(`the bytes of the file ${String(this.#row.get("id"))} before it are not those that its row describes.`)
  }
}

/** A journal, replayed while it is read. */
class Journal {
  readonly line: number
  readonly #user: UserId
  readonly #head: ConversationLine
  readonly #conversation: Conversation
  readonly #events: JournalEvent[] = []
  readonly #proposals: ProposalRow[] = []
  readonly #audits: AuditRow[] = []
  readonly #decidedAt = new Map<ProposalId, number>()
  #length = 0

  constructor(line: number, user: UserId, head: ConversationLine) {
    this.line = line
    this.#user = user
    this.#head = head
    this.#conversation = emptyConversation(head.id as ConversationId, user)
  }

  add(event: JournalEvent, { length, refuse }: { length: number; refuse: (problem: string) => never }): void {
    if (!isKnown(event)) refuse("a newer Pawl has written it.")
    if (event.position !== this.#events.length + 1)
      refuse(`it has position ${event.position}, and ${this.#events.length + 1} comes next.`)
    if ((event.position === 1) !== (event.type === "conversation_started"))
      refuse("a conversation begins with one conversation_started.")
    this.#length += length
    if (this.#length > MAX_CONVERSATION_BYTES) refuse("its conversation is too long to be imported.")
    if (event.at < this.#conversation.at) refuse("it is older than the event before it.")
    try {
      this.#events.push(stageCopy(this.#conversation, event, event.at))
    } catch {
      refuse("it does not follow from the events before it.")
    }
    this.#settle(event.at)
  }

  /** Takes the rows of settled proposals, with the time of their decisions. */
  #settle(at: number): void {
    if (this.#conversation.proposals.size === 0) return
    const settled: OpenProposal[] = []
    for (const [id, proposal] of this.#conversation.proposals) {
      if (proposal.status !== "pending" && !this.#decidedAt.has(id)) this.#decidedAt.set(id, at)
      if (isSettled(proposal.status)) settled.push(proposal)
    }
    if (settled.length === 0) return
    for (const each of settled)
      this.#proposals.push(...toProposalRows([each], this.#decidedAt.get(each.proposed.id) ?? at, null))
    this.#audits.push(...toAuditRows(this.#conversation, settled))
    dropSettled(this.#conversation)
  }

  /**
   * Approvals do not move to another server: an open run is cancelled with its proposals, grants are revoked, and a
   * conversation in automatic mode changes to ask first.
   */
  end(now: number, refuse: (problem: string) => never): ImportedConversation {
    const conversation = this.#conversation
    if (this.#events.length === 0) refuse(`the conversation ${conversation.id} before it has no events.`)
    const add = (events: Parameters<typeof stage>[1]) => {
      this.#events.push(...stage(conversation, events, now))
      this.#settle(conversation.at)
    }
    if (conversation.run?.status === "running") {
      const ended = { type: "run_ended", status: "cancelled", reason: "imported", heldUpTo: 0 } as const
      add([...settleOpenCalls(conversation, "cancelled", now), ended])
    }
    if (conversation.grants.size > 0) add([{ type: "grant_revoked", by: "import" }])
    const mode = narrowest(conversation.mode, "confirm")
    if (mode !== conversation.mode) add([{ type: "settings", mode }])
    const open = [...conversation.proposals.values()]
    if (open.some(({ status }) => status !== "in_doubt"))
      refuse(`the conversation ${conversation.id} before it has an open proposal, but no open run.`)
    for (const each of open)
      this.#proposals.push(...toProposalRows([each], this.#decidedAt.get(each.proposed.id) ?? now, null))
    return {
      ...{ user: this.#user, createdAt: this.#head.created_at, updatedAt: this.#head.updated_at, conversation },
      ...{ events: this.#events, proposals: this.#proposals, audits: this.#audits },
    }
  }
}
