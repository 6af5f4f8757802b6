import type { JournalEvent, UnknownEvent } from "../protocol/events.ts"
import type { ConversationId } from "../protocol/ids.ts"
import type { ProposalStatus } from "../protocol/proposals/proposal.ts"
import type { Conversation } from "./conversation.ts"
import type { InboxItem, Input } from "./input.ts"

/**
 * One durable, ordered record per conversation, with one writer at a time. Implemented in store/.
 *
 * Whatever this port says is done survives `kill -9`. After any error the truth is on disk, not in memory: the fold is
 * dropped and the next `load` reads it again.
 */
export interface Journal {
  /**
   * The fold of everything recorded. The writer's own is always right; any other may be out of date by the time it is
   * used, which `claim` finds out. `fresh` reads from disk unless this node is the writer.
   */
  load(id: ConversationId, fresh?: boolean): Promise<Conversation>

  /** Begins a conversation with its first events; `hold` makes this node its writer in the same commit. */
  create(conversation: Conversation, events: readonly JournalEvent[], hold: boolean): Promise<void>

  /**
   * Becomes the writer of a conversation that has none (or whose writer is dead) and appends, in one commit. `moved`: the
   * fold is out of date, load it again. `busy`: a living writer has it. `decided`: the proposal was decided before.
   */
  claim(conversation: Conversation, events: readonly JournalEvent[], options: ClaimOptions): Promise<Claimed>

  /**
   * Appends as the writer. Throws `lease_lost` when another node has taken over since. False: what it would take from the
   * inbox has been changed or withdrawn since it was read; nothing was done, and the next `load` has read it again.
   */
  append(conversation: Conversation, events: readonly JournalEvent[], options: AppendOptions): Promise<boolean>

  /**
   * Keeps an input for whoever is the writer. A decision is recorded against its proposal in the same commit, and only
   * if nobody has decided before; otherwise nothing is kept and the proposal's status comes back.
   */
  addToInbox(id: ConversationId, input: Input): Promise<"kept" | ProposalStatus>

  /** Reads what has arrived since, so that a cancel is seen while a step is still at work. Undefined: not the writer. */
  readInbox(id: ConversationId): Promise<Conversation | undefined>

  /** Lets go of a conversation in the middle of its work, for another node to continue. */
  release(id: ConversationId): Promise<void>

  /** Whether this node is the writer of a conversation. */
  isWriterOf(id: ConversationId): boolean

  /** Whether it is the writer with this fold: one that was dropped may not be written with, also where a newer one may. */
  mayAppend(conversation: Conversation): boolean

  /** How `load` found a conversation that this node was not the writer of. */
  leftBehind(conversation: Conversation): LeftBehind

  /** Forgets the fold, after an error or when the memory is wanted. */
  drop(id: ConversationId): void

  /** Events after a position, oldest first. */
  read(id: ConversationId, range?: ReadRange): Promise<(JournalEvent | UnknownEvent)[]>

  /** The same for whoever must not hold much at once: as many as `maxLength` has room for as stored, at least one. */
  readPage(id: ConversationId, range: PageRange): Promise<EventPage>

  /** What the record says of conversations that other processes may write to. Those that were erased are left out. */
  recorded(ids: readonly ConversationId[]): Promise<Recorded[]>

  /** Conversations with work to do and no living writer, or with this node as their writer: it knows if it is at work. */
  abandoned(limit: number): Promise<ConversationId[]>

  /** Several processes take up what dead writers have left: `earmark` keeps two of them from the same conversation. */
  readonly sharesWork: boolean

  /**
   * Tells the other nodes that this one is about to take up at most so many of these, and which: what has a living writer
   * by now, or another node's mark, is left out. Gives no right to write; `claim` does.
   */
  earmark(ids: readonly ConversationId[], most: number): Promise<ConversationId[]>

  /** They are taken up, or cannot be: whoever looks next may try. */
  unmark(ids: readonly ConversationId[]): Promise<void>

  /** Whether a living node understands events that this one does not. */
  hasNewerNode(): Promise<boolean>

  /** Whether a living node does not understand all that this one does. */
  hasOlderNode(): Promise<boolean>

  /** How much the nodes that share the database have to do. */
  loads(): Promise<Loads>

  /**
   * What those dead writers have left who broke off a step that had broken off before: all that was theirs, by writer.
   * Nothing where there is no such suspicion.
   */
  suspected(): Promise<Death[]>

  /** Puts on record how a death is judged. The first judgement stands, whoever made it, and is what comes back. */
  judge(node: string, judged: Judgement): Promise<Judgement>

  /** Conversations with a write in doubt. */
  doubtful(limit: number): Promise<ConversationId[]>
}

/** What the last writer of a conversation has left of it. */
export interface LeftBehind {
  /** It has a writer, dead or alive. */
  readonly owned: boolean
  /** That one was another node, or nobody any more. */
  readonly elsewhere: boolean
  /** That one let go in good order, in the middle of its work. */
  readonly handedOver: boolean
  /** Input waits that no writer has read. */
  readonly unread: boolean
}

/** How a conversation stands on record, whoever has written it. */
export interface Recorded {
  readonly id: ConversationId
  /** The newest. */
  readonly position: number
  /** It has a writer, dead or alive, or input that nobody has taken in yet. */
  readonly atWork: boolean
  /** Input has arrived since a writer last let go of it, and may still wait. */
  readonly unread: boolean
  /** What this node has to do with it: `lost`, it took itself for the writer and another one is; `unread`, input has arrived. */
  readonly here: "writer" | "unread" | "lost" | undefined
}

/** Conversations that a node has at work or is about to take up. */
export interface Loads {
  readonly here: number
  /** One number for each of the other living nodes. */
  readonly others: readonly number[]
}

/** A writer that died, and what of its conversations nobody has taken up yet. */
export interface Death {
  readonly node: string
  readonly ids: readonly ConversationId[]
  /** Where it is on record: those that others have taken up since are in it too. */
  readonly judged?: Judgement
}

/** What each run is held against whose process died, in the order in which they are to be taken up. */
export type Judgement = readonly (readonly [ConversationId, Judged])[]

export interface Judged {
  /** As the event `restarted` says it: absent where nothing else can have been the cause. */
  readonly blame?: "shared" | "none"
  /** Is taken up while no other suspect is at work, so that the next death tells which of them it was. */
  readonly alone: boolean
}

export type Claimed = "claimed" | "moved" | "busy" | "decided"

export interface ClaimOptions {
  /** Nothing is left to do after these events: do not stay the writer. */
  readonly release: boolean
  /** The input behind the events where it decides a proposal: it counts only if that is still undecided. */
  readonly deciding?: Input
  /** Take the conversation though input waits in its inbox, to read it first. */
  readonly withInbox?: boolean
}

export interface AppendOptions {
  /** The inbox items that have become these events, or have come to nothing. */
  readonly taken?: readonly InboxItem[]
  /** Nothing is left to do: stop being the writer in the same commit, unless input has arrived. */
  readonly release: boolean
}

export interface ReadRange {
  readonly after?: number
  readonly upTo?: number
  readonly limit?: number
}

export interface PageRange extends ReadRange {
  readonly after: number
  readonly limit: number
  readonly maxLength: number
}

export interface EventPage {
  readonly events: readonly (JournalEvent | UnknownEvent)[]
  /** How many rows were read for it, also those that there was no room for, and how long they are together. */
  readonly found: number
  readonly length: number
}
