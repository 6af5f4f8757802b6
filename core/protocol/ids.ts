/** Ids have a prefix that names their kind, so that log lines and mixed-up arguments are easy to recognize. */
declare const brand: unique symbol
type Id<Prefix extends string> = string & { readonly [brand]: Prefix }

/** The id of a conversation: `conv_…`. */
export type ConversationId = Id<"conv">
/** The id of a message: `msg_…`. */
export type MessageId = Id<"msg">
/** The id of a run, which is the processing of one user message: `run_…`. */
export type RunId = Id<"run">
/** The id of a tool call: `call_…`. */
export type CallId = Id<"call">
/** The id of a proposal, which is a change that waits for approval: `prop_…`. */
export type ProposalId = Id<"prop">
/** The id of a user: `user_…`. */
export type UserId = Id<"user">
/** The id of an access token: `tok_…`. It is not the secret. */
export type TokenId = Id<"tok">
/** The id of a browser session: `sess_…`. It is not the secret. */
export type SessionId = Id<"sess">
/** The id of an input that waits for a conversation to process it, such as a message or a decision: `in_…`. */
export type InboxId = Id<"in">
/** The id of a server process that shares a database with others: `node_…`. */
export type NodeId = Id<"node">
/** The id of a task in the workspace: `task_…`. */
export type TaskId = Id<"task">
/** The id of a project in the workspace: `proj_…`. */
export type ProjectId = Id<"proj">
/** The id of a checkpoint (a dated milestone of a project): `chk_…`. */
export type CheckpointId = Id<"chk">
/** The id of a note in the workspace: `note_…`. */
export type NoteId = Id<"note">
/** The id of a comment on a task: `cmt_…`. */
export type CommentId = Id<"cmt">
/** The id of a client, such as a customer, that projects in the workspace belong to: `cli_…`. */
export type WorkspaceClientId = Id<"cli">
/** The id of a device, which is a program that stores a user's workspace or offers tools: `dev_…`. */
export type DeviceId = Id<"dev">
/** The id of a credential's request to register a device that belongs to another credential: `dreq_…`. */
export type DeviceRequestId = Id<"dreq">
/** The id of an entry in the audit log, which lists every applied change: `aud_…`. */
export type AuditId = Id<"aud">
/** An id with the prefix `hold_`. The prefix is reserved; no current object has it. */
export type HoldId = Id<"hold">
/** The id of a connection to an external database: `conn_…`. */
export type ConnectionId = Id<"conn">
/** The id of a stored query result of an external database: `res_…`. */
export type ResultId = Id<"res">
/** The id of a collection of documents in the library: `col_…`. */
export type CollectionId = Id<"col">
/** The id of a document in the library: `doc_…`. */
export type DocumentId = Id<"doc">
/** The id of one version of a document's text in the library: `ed_…`. */
export type EditionId = Id<"ed">
/** The id of a file attached to a message: `file_…`. */
export type FileId = Id<"file">
/** The id of an MCP server that a user added: `mcp_…`. */
export type McpServerId = Id<"mcp">
/** The id of a passage, which is a position in one version of a document: `psg_<edition>_<position>`. */
export type PassageId = Id<"psg">

/** The id of a question that an MCP server asks during a tool call. */
export type QuestionId = Id<"ques">

/** The id of a link with which other users of the server can read one run. */
export type SharedRunId = Id<"shr">

interface Kinds {
  conv: ConversationId
  msg: MessageId
  run: RunId
  call: CallId
  prop: ProposalId
  user: UserId
  tok: TokenId
  sess: SessionId
  in: InboxId
  node: NodeId
  task: TaskId
  proj: ProjectId
  chk: CheckpointId
  note: NoteId
  cmt: CommentId
  cli: WorkspaceClientId
  dev: DeviceId
  dreq: DeviceRequestId
  aud: AuditId
  hold: HoldId
  conn: ConnectionId
  res: ResultId
  col: CollectionId
  doc: DocumentId
  ed: EditionId
  file: FileId
  psg: PassageId
  mcp: McpServerId
  ques: QuestionId
  shr: SharedRunId
}

/** Ids that belong to no user: processes, and the users themselves. */
type Unowned = "user" | "node"
type Owned = Exclude<keyof Kinds, Unowned>
/** The owner of an id: a user, or the user of a conversation. */
type Owner = UserId | ConversationId

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"
/** The number of digits after the prefix that encode the time of creation. */
export const TIME_DIGITS = 8
const CHANCE_DIGITS = 10
const SLOT_DIGITS = 2
const DIGITS = TIME_DIGITS + CHANCE_DIGITS
/** Users are divided into slots, each stored in one database. Every pair of digits is one slot. */
export const SLOTS = ALPHABET.length ** SLOT_DIGITS

/**
 * Creates an id: eight digits of time, so that ids sort by age; ten random digits (57 bits), so that ids cannot be
 * guessed; and two for the owner's slot, so that the id alone tells which database to query. A new user gets a random
 * slot. Pass `null` if the owner is unknown, as on a device; the id then has no slot.
 */
export function newId<Kind extends Unowned>(kind: Kind, now?: number): Kinds[Kind]
export function newId<Kind extends Owned>(kind: Kind, of: Owner | null, now?: number): Kinds[Kind]
/** @deprecated Pass the owner, or `null` if it is unknown. An id created without one has no slot. */
export function newId<Kind extends keyof Kinds>(kind: Kind, now?: number): Kinds[Kind]
export function newId(kind: keyof Kinds, of?: Owner | null | number, at?: number): string {
  const now = (typeof of === "number" ? of : at) ?? Date.now()
  const drawn = kind === "user" ? chanceDigits(SLOT_DIGITS) : ""
  const slot = typeof of === "string" ? slotDigitsOf(of) : drawn
  return `${kind}_${timeDigits(now)}${chanceDigits(CHANCE_DIGITS)}${slot}`
}

/**
 * Returns the slot of an id's owner; undefined if the id has none, so that all databases must be queried. Older ids,
 * and ids created by clients or derived from an idempotency key, have no slot.
 */
export function slotOf(id: string): number | undefined {
  const [, kind, digits = ""] = SHAPE.exec(id) ?? []
  // The ids of users have always ended in random characters, also when other ids did not.
  const tells = digits.length === DIGITS + SLOT_DIGITS || (kind === "user" && digits.length === DIGITS)
  return tells && kind !== "node" ? toSlot(digits) : undefined
}

/**
 * Returns the slot of a secret: a token, session cookie, sign-in link or ticket. It ends with the owner's slot, after
 * 256 random bits (43 characters); older secrets have no slot.
 */
export const slotOfSecret = (secret: string): number | undefined =>
  /^(?:pawl_)?[\w-]{45}$/.test(secret) ? toSlot(secret) : undefined

let lastOwner: Owner | undefined
let lastSlot = ""

/** The digits that end an id or secret of this owner; empty if the owner's slot is unknown. */
export function slotDigitsOf(owner: Owner): string {
  // Most ids are created for the same owner as the one before: a turn creates six.
  if (owner !== lastOwner) {
    lastSlot = slotOf(owner) === undefined ? "" : owner.slice(-SLOT_DIGITS)
    lastOwner = owner
  }
  return lastSlot
}

function toSlot(text: string): number | undefined {
  const [tens, ones] = [...text.slice(-SLOT_DIGITS)].map((digit) => ALPHABET.indexOf(digit)) as [number, number]
  return tens < 0 || ones < 0 ? undefined : tens * ALPHABET.length + ones
}

/** The format of an id. A passage's id also has its position at the end. */
const SHAPE = /^([a-z]+)_([0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]+)(?:_\d+)?$/

/** Returns true if a text has the format of this kind of id. The id need not exist. */
export function isId<Prefix extends keyof Kinds>(prefix: Prefix, text: string): text is Kinds[Prefix] {
  return text.length <= 64 && text.startsWith(`${prefix}_`) && /^[0-9A-Za-z_-]+$/.test(text)
}

let lastTime = -1
let lastDigits = ""

function timeDigits(now: number): string {
  if (now === lastTime) return lastDigits
  let rest = now
  let digits = ""
  for (let i = 0; i < TIME_DIGITS; i++) {
    digits = ALPHABET[rest % ALPHABET.length] + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  lastTime = now
  lastDigits = digits
  return digits
}

// Random bytes are drawn in blocks: one system call for every few hundred ids.
const pool = new Uint8Array(4096)
let used = pool.length

function chanceDigits(count: number): string {
  let digits = ""
  while (digits.length < count) {
    if (used === pool.length) {
      globalThis.crypto.getRandomValues(pool)
      used = 0
    }
    const value = (pool[used++] as number) & 63
    if (value < ALPHABET.length) digits += ALPHABET[value]
  }
  return digits
}
