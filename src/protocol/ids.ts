/** Ids are text with a prefix that says what they name, so that a log line or a mixed-up argument explains itself. */
declare const brand: unique symbol
type Id<Prefix extends string> = string & { readonly [brand]: Prefix }

export type ConversationId = Id<"conv">
export type MessageId = Id<"msg">
export type RunId = Id<"run">
export type CallId = Id<"call">
export type ProposalId = Id<"prop">
export type UserId = Id<"user">
export type TokenId = Id<"tok">
export type SessionId = Id<"sess">
export type InboxId = Id<"in">
export type NodeId = Id<"node">
export type TaskId = Id<"task">
export type ProjectId = Id<"proj">
export type CheckpointId = Id<"chk">
export type NoteId = Id<"note">
export type CommentId = Id<"cmt">
export type WorkspaceClientId = Id<"cli">
export type DeviceId = Id<"dev">
/** One credential asks to be a device that is another's. */
export type DeviceRequestId = Id<"dreq">
export type AuditId = Id<"aud">
export type HoldId = Id<"hold">
export type ConnectionId = Id<"conn">
export type ResultId = Id<"res">
export type CollectionId = Id<"col">
export type DocumentId = Id<"doc">
export type EditionId = Id<"ed">
/** A file of a message. */
export type FileId = Id<"file">
/** An MCP server that a person has named. */
export type McpServerId = Id<"mcp">
/** `psg_<edition>_<place>`: a passage is a place in one edition of a document. */
export type PassageId = Id<"psg">

/** What a server asks the person in the middle of a call. */
export type QuestionId = Id<"ques">

/** A link to a run for somebody else. */
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

/** Nobody's: processes, and the people themselves. Every other id belongs to a person. */
type Unowned = "user" | "node"
type Owned = Exclude<keyof Kinds, Unowned>
/** Whose an id is: a person's, or that of whoever has this conversation. */
type Owner = UserId | ConversationId

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"
/** How many digits after its prefix say when an id was made. */
export const TIME_DIGITS = 8
const CHANCE_DIGITS = 10
const SLOT_DIGITS = 2
const DIGITS = TIME_DIGITS + CHANCE_DIGITS
/** People are spread over so many slots, each of which lives in one database: every pair of digits is one. */
export const SLOTS = ALPHABET.length ** SLOT_DIGITS

/**
 * A new id: eight digits of time, so that ids sort by age, ten of chance (57 bits), so that nobody guesses one, and two
 * that tell the slot of the person it belongs to, so that whoever has nothing but the id knows which database to ask.
 * A new person's two are drawn. `null` is for programs that do not know whose it is, such as a device: then it ends
 * before the slot.
 */
export function newId<Kind extends Unowned>(kind: Kind, now?: number): Kinds[Kind]
export function newId<Kind extends Owned>(kind: Kind, of: Owner | null, now?: number): Kinds[Kind]
/** @deprecated Say whose it is, or `null` where that is not known: an id like this tells no slot. */
export function newId<Kind extends keyof Kinds>(kind: Kind, now?: number): Kinds[Kind]
export function newId(kind: keyof Kinds, of?: Owner | null | number, at?: number): string {
  const now = (typeof of === "number" ? of : at) ?? Date.now()
  const drawn = kind === "user" ? chanceDigits(SLOT_DIGITS) : ""
  const slot = typeof of === "string" ? slotDigitsOf(of) : drawn
  return `${kind}_${timeDigits(now)}${chanceDigits(CHANCE_DIGITS)}${slot}`
}

/**
 * The slot of the person an id belongs to; undefined where the id does not tell, and somebody has to be asked: ids from
 * before there were slots, and those made by clients or out of a caller's own key.
 */
export function slotOf(id: string): number | undefined {
  const [, kind, digits = ""] = SHAPE.exec(id) ?? []
  // A person's id has always ended in digits of chance, also when it had no others behind them.
  const tells = digits.length === DIGITS + SLOT_DIGITS || (kind === "user" && digits.length === DIGITS)
  return tells && kind !== "node" ? toSlot(digits) : undefined
}

/**
 * The same for what somebody shows to come in: a token, the cookie of a session, a link that signs in, a ticket. It ends
 * in the slot of its person behind 256 bits of chance, which are 43 characters; one from before ends with those.
 */
export const slotOfSecret = (secret: string): number | undefined =>
  /^(?:pawl_)?[\w-]{45}$/.test(secret) ? toSlot(secret) : undefined

let lastOwner: Owner | undefined
let lastSlot = ""

/** The digits that a new id or secret of this owner ends in; none where the owner's slot is not known. */
export function slotDigitsOf(owner: Owner): string {
  // Most ids are made for whoever the last one was made for: a turn makes half a dozen.
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

/** An id of ours; behind its digits a passage's id has its place. */
const SHAPE = /^([a-z]+)_([0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]+)(?:_\d+)?$/

/** Whether a text could be an id of this kind; says nothing about whether it exists. */
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
