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
/** `psg_<edition>_<place>`: a passage is a place in one edition of a document. */
export type PassageId = Id<"psg">

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
  psg: PassageId
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz"
/** How many digits after its prefix say when an id was made. */
export const TIME_DIGITS = 8
const RANDOM_DIGITS = 10

/** A new id: eight digits of time, so that ids sort by age, and ten of chance (57 bits), so that nobody guesses one. */
export function newId<Prefix extends keyof Kinds>(prefix: Prefix, now: number = Date.now()): Kinds[Prefix] {
  return `${prefix}_${timeDigits(now)}${randomDigits()}` as Kinds[Prefix]
}

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

function randomDigits(): string {
  let digits = ""
  while (digits.length < RANDOM_DIGITS) {
    if (used === pool.length) {
      globalThis.crypto.getRandomValues(pool)
      used = 0
    }
    const value = (pool[used++] as number) & 63
    if (value < ALPHABET.length) digits += ALPHABET[value]
  }
  return digits
}
