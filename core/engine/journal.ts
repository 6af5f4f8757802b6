import type { JournalEvent, UnknownEvent } from "../protocol/events.ts"
import type { ConversationId } from "../protocol/ids.ts"
import type { ProposalStatus } from "../protocol/proposals/proposal.ts"
import type { Conversation } from "./conversation.ts"
import type { InboxItem, Input } from "./input.ts"

/**
 * One durable, ordered record per conversation, with one writer at a time. Implemented in store/.
 *
 * What a method reports as done survives `kill -9`. After any error only the database is right: the state in memory is
 * dropped, and the next `load` reads it again.
 */
export interface Journal {
  /**
   * The conversation's state. The writer's is always current; any other may be outdated when it is used, which `claim`
   * detects. `fresh` reads from the database unless this node is the writer.
   */
  load(id: ConversationId, fresh?: boolean): Promise<Conversation>

  /** Creates a conversation with its first events. `hold` makes this node its writer in the same commit. */
  create(conversation: Conversation, events: readonly JournalEvent[], hold: boolean): Promise<void>

  /**
   * Becomes the writer of a conversation that has none (or whose writer failed) and appends, in one commit. `moved`:
   * the state is outdated, load it again. `busy`: a living node is the writer. `decided`: the proposal was decided
   * before.
   */
  claim(conversation: Conversation, events: readonly JournalEvent[], options: ClaimOptions): Promise<Claimed>

  /**
   * Appends as the writer. Throws `lease_lost` if another node has become the writer. False: an input that it would
   * take from the inbox was changed or withdrawn. Then nothing was done, and the next `load` returns the new inbox.
   */
  append(conversation: Conversation, events: readonly JournalEvent[], options: AppendOptions): Promise<boolean>

  /**
   * Stores an input for the writer. A decision is recorded with its proposal in the same commit, and only if the
   * proposal is undecided; otherwise nothing is stored and the proposal's status is returned.
   */
  addToInbox(id: ConversationId, input: Input): Promise<"kept" | ProposalStatus>

  /** Reads new input, so that a cancel takes effect during a step. Undefined if this node is not the writer. */
  readInbox(id: ConversationId): Promise<Conversation | undefined>

  /** Releases a conversation in the middle of its work, for another node to continue. */
  release(id: ConversationId): Promise<void>

  isWriterOf(id: ConversationId): boolean

  /**
   * True if this node is the writer and this is its current state. A state that was dropped must not be used to append.
   */
  mayAppend(conversation: Conversation): boolean

  /** How `load` found a conversation whose writer was not this node. */
  leftBehind(conversation: Conversation): LastWriterState

  /** Drops the state from memory, after an error or to free memory. */
  drop(id: ConversationId): void

  /** Events after a position, oldest first. */
  read(id: ConversationId, range?: ReadRange): Promise<(JournalEvent | UnknownEvent)[]>

  /** The same with bounded memory: as many events as fit into `maxLength` as stored, at least one. */
  readPage(id: ConversationId, range: PageRange): Promise<EventPage>

  /** The recorded state of conversations that other processes may write to, without deleted ones. */
  recorded(ids: readonly ConversationId[]): Promise<Recorded[]>

  /** Conversations with work to do and no living writer, or with this node as their writer. */
  abandoned(limit: number): Promise<ConversationId[]>

  /**
   * True if several processes continue the work of failed writers. `earmark` then prevents two from choosing the same
   * conversation.
   */
  readonly sharesWork: boolean

  /**
   * Tells the other nodes that this one is about to continue some of these, at most `most`, and returns them. Those
   * with a living writer or another node's mark are left out. This does not make the node the writer; `claim` does.
   */
  earmark(ids: readonly ConversationId[], most: number): Promise<ConversationId[]>

  /** Removes the marks, because the conversations were continued or cannot be. Other nodes may try. */
  unmark(ids: readonly ConversationId[]): Promise<void>

  /** True if a living node understands events that this one does not. */
  hasNewerNode(): Promise<boolean>

  /** True if a living node does not understand all events that this one does. */
  hasOlderNode(): Promise<boolean>

  /** How much work each node that shares the database has. */
  loads(): Promise<Loads>

  /**
   * The conversations of failed writers during a step that had failed before, by writer. Empty if there is no such
   * suspicion.
   */
  suspected(): Promise<NodeFailure[]>

  /** Records which runs caused a node failure. The first judgement is final and is returned, whichever node made it. */
  judge(node: string, judged: Judgement): Promise<Judgement>

  doubtful(limit: number): Promise<ConversationId[]>
}

/** How the last writer left a conversation. */
export interface LastWriterState {
  /** It has a writer, living or failed. */
  readonly owned: boolean
  /** The last writer was another node, or is unknown. */
  readonly elsewhere: boolean
  /** The last writer released it in the middle of its work. */
  readonly handedOver: boolean
  /** Input waits that no writer has read. */
  readonly unread: boolean
}

/** The recorded state of a conversation. */
export interface Recorded {
  readonly id: ConversationId
  readonly position: number
  /** It has a writer, living or failed, or unread input. */
  readonly atWork: boolean
  /** Input has arrived since a writer last released it, and may still wait. */
  readonly unread: boolean
  /**
   * This node's relation to it. `lost`: this node took itself for the writer and another one is. `unread`: input has
   * arrived.
   */
  readonly here: "writer" | "unread" | "lost" | undefined
}

/** How many conversations each node works on or is about to continue. */
export interface Loads {
  readonly here: number
  /** One number for each other living node. */
  readonly others: readonly number[]
}

/** A writer that failed, and its conversations that no node has continued. */
export interface NodeFailure {
  readonly node: string
  readonly ids: readonly ConversationId[]
  /** Set if it is recorded. It includes conversations that other nodes have continued. */
  readonly judged?: Judgement
}

/** For each run whose process died, how far it may be the cause, in the order in which the runs are continued. */
export type Judgement = readonly (readonly [ConversationId, Judged])[]

export interface Judged {
  /** The value of the event `restarted`: absent if this run alone can have been the cause. */
  readonly blame?: "shared" | "none"
  /** Continued while no other suspected run is working, so that the next death identifies the cause. */
  readonly alone: boolean
}

export type Claimed = "claimed" | "moved" | "busy" | "decided"

export interface ClaimOptions {
  /** No work is left after these events, so do not stay the writer. */
  readonly release: boolean
  /** The input behind the events if it decides a proposal: it counts only if the proposal is undecided. */
  readonly deciding?: Input
  /** Claim the conversation although its inbox has input, in order to read that first. */
  readonly withInbox?: boolean
}

export interface AppendOptions {
  /** The inbox items that became these events, or had no effect. */
  readonly taken?: readonly InboxItem[]
  /** No work is left: release the conversation in the same commit, unless input has arrived. */
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
  /** How many rows were read, including those that did not fit, and their total length. */
  readonly found: number
  readonly length: number
}
