import type { ConversationView } from "../core/protocol/conversation/conversation.ts"
import { titleOf } from "../core/protocol/conversation/message.ts"
import { withSettings } from "../core/protocol/conversation/reply-settings.ts"
import { type Cursor, parseCursor, toCursor } from "../core/protocol/cursor.ts"
import type { Frame, FrameType, UnknownFrame } from "../core/protocol/frames.ts"
import { type NOTICE_EVENTS, toNotice } from "../core/protocol/notices.ts"
import type { Proposal } from "../core/protocol/proposals/proposal.ts"
import { isFrame, toKnownFrame } from "./is-frame.ts"
import { addToMeter, meterMessage } from "./transcript/context-meter.ts"
import { applyCallFrames, callItems, supersede, setProgress } from "./transcript/reduce-calls.ts"
import { transcriptStatus } from "./transcript/shown-calls.ts"
import type { Item, Transcript } from "./transcript/transcript.ts"

/**
 * Applies one frame of a conversation's stream to its transcript, and returns the new transcript. Pure. A frame at or
 * before the transcript's cursor changes nothing, so frames may be repeated, or come from several streams.
 */
export function reduce(transcript: Transcript, frame: UnknownFrame): Transcript {
  const at = parseCursor(transcript.cursor) as Cursor
  const next = parseCursor(frame.id)
  if (!next) return transcript // not a frame of a conversation
  const known = toKnownFrame(frame)
  if (known?.type === "text_delta") return write(transcript, known.data.text, { at, next })
  if (known?.type === "reasoning_delta") return think(transcript, known.data, { at, next })
  if (known?.type === "tool_progress")
    return next.position === at.position ? setProgress(transcript, known.data) : transcript
  if (known?.type === "usage" && next.position === at.position) return total(transcript, known)
  if (next.position <= at.position) return transcript
  // An event ends the open reply, by containing it or by reporting that it failed, unless its id has the reply's offset.
  const goesOn = next.offset > 0 && next.offset === transcript.writing?.length
  const moved: Transcript = {
    ...transcript,
    ...(goesOn ? {} : { writing: null, thinking: null }),
    cursor: toCursor(next),
  }
  const applied = known
    ? (table[known.type] as Apply<FrameType>)(moved, known)
    : add(moved, { type: "unknown", key: frame.id, frame })
  return settleStatus(applied)
}

function settleStatus(transcript: Transcript): Transcript {
  const status = transcriptStatus(transcript)
  const { run } = transcript
  if (run === null || run.endedAt !== null) return { ...transcript, status }
  return { ...transcript, status, run: { ...run, status: status === "awaiting_confirmation" ? "paused" : "running" } }
}

/** Adds text to the reply in progress, in constant time. */
function write(transcript: Transcript, text: string, { at, next }: { at: Cursor; next: Cursor }): Transcript {
  if (next.position !== at.position || next.offset <= at.offset) return transcript
  const start = next.offset - text.length
  if (start > at.offset) return transcript // text before it is missing; the message will contain all of it
  const fresh = start === at.offset ? text : text.slice(at.offset - start)
  return { ...transcript, writing: (transcript.writing ?? "") + fresh, cursor: toCursor(next) }
}

/** Appends reasoning to the reply in progress. Skips repeated text; the final message fills gaps. */
function think(
  transcript: Transcript,
  { text, offset, ms }: Frame<"reasoning_delta">["data"],
  { at, next }: { at: Cursor; next: Cursor },
): Transcript {
  const known = transcript.thinking?.text ?? ""
  const start = offset - text.length
  if (next.position !== at.position || offset <= known.length || start > known.length) return transcript
  return { ...transcript, thinking: { text: known + text.slice(known.length - start), ms } }
}

type Apply<Type extends FrameType> = (transcript: Transcript, frame: Frame<Type>) => Transcript

/** One entry for each type of frame. A missing entry does not compile. */
const table: { [Type in FrameType]: Apply<Type> } = {
  conversation_started: (transcript, { data: { agent, model, mode, title, settings = {}, connectionId = null } }) => ({
    ...transcript,
    agent,
    model,
    mode,
    title,
    settings,
    connectionId,
  }),
  settings: (transcript, { data: { model, mode, title, settings, connectionId } }) => ({
    ...transcript,
    model: model ?? transcript.model,
    mode: mode ?? transcript.mode,
    title: title ?? transcript.title,
    settings: withSettings(transcript.settings, settings),
    connectionId: connectionId === undefined ? transcript.connectionId : connectionId,
    // The new model's limit comes with the next read of the conversation.
    context:
      model === undefined || !transcript.context ? transcript.context : { ...transcript.context, limitTokens: null },
  }),
  run_started: (transcript, { data: { runId, maxIterations, again, at } }) => ({
    ...(again ? supersede(transcript, again) : transcript),
    run: { id: runId, status: "running", maxIterations, startedAt: at, endedAt: null, reason: null, error: null },
    status: "running",
    usage: null,
  }),
  message: (transcript, { data: { message } }) => {
    const calls = callItems(message.toolCalls ?? [])
    // The server titles a conversation after its first message, in the same commit.
    const title = transcript.title ?? (message.seq === 1 ? titleOf(message.content) || null : null)
    const metered = meterMessage({ ...transcript, title }, message)
    return add(metered, { type: "message", key: message.id, message }, ...calls)
  },
  step: (transcript, { id, data: { step, detail, asked, at } }) =>
    add(addToMeter(transcript, { asked }), { type: "step", key: id, step, detail, at, ...(asked ? { asked } : {}) }),
  ...applyCallFrames,
  restarted: tell,
  fallback: tell,
  history_cut: (transcript, frame) => tell(addToMeter(transcript, frame.data), frame),
  compaction(transcript, frame) {
    const { what } = frame.data
    const isSummingUp = what === "references" ? transcript.isSummingUp : what === "due"
    return tell({ ...addToMeter(transcript, frame.data), isSummingUp }, frame)
  },
  run_ended(transcript, frame) {
    const { status, reason = null, error = null, at } = frame.data
    const run = transcript.run && { ...transcript.run, status, reason, error, endedAt: at }
    return tell({ ...transcript, run, isSummingUp: false, status: status === "failed" ? "failed" : "active" }, frame)
  },
  // These repeat the cursor of events that contain the same, so they never reach this table with something new.
  text_delta: (transcript) => transcript,
  reasoning_delta: (transcript) => transcript,
  tool_progress: (transcript) => transcript,
  usage: total,
  done: (transcript) => transcript,
  error: (transcript) => transcript,
}

function total(transcript: Transcript, { data: { runId, ...usage } }: Frame<"usage">): Transcript {
  return transcript.run && transcript.run.id !== runId ? transcript : { ...transcript, usage }
}

/** Adds the notice of an event, if it has one. */
function tell(transcript: Transcript, { id, type, data }: Frame<(typeof NOTICE_EVENTS)[number]>): Transcript {
  const notice = toNotice(type, data)
  return notice ? add(transcript, { type: "notice", key: id, ...notice }) : transcript
}

export function add(transcript: Transcript, ...items: readonly Item[]): Transcript {
  return { ...transcript, items: [...transcript.items, ...items] }
}

/** A user's list of conversations and proposals, as received from the feed so far. Immutable. */
export interface FeedList {
  /** Newest first: those from the feed, and pages that were added. */
  readonly conversations: readonly ConversationView[]
  /** Proposals that wait for a decision, and expired ones that the user has not seen. */
  readonly proposals: readonly Proposal[]
}

/** The state before the first frame of the feed: no conversations and no proposals. */
export const emptyFeed: FeedList = { conversations: [], proposals: [] }

/**
 * Applies one frame of the feed (the stream with the changes of all conversations of one user) to the list, and
 * returns the new list. Unknown frames change nothing.
 */
export function reduceFeed(list: FeedList, frame: UnknownFrame): FeedList {
  if (isFrame(frame, "snapshot")) {
    const { conversations, proposals } = frame.data
    // A previously added page stays; conversations between the newest that are missing from the snapshot were deleted.
    const last = conversations.at(-1)
    const older = last ? list.conversations.filter(({ id, createdAt }) => isBefore({ id, createdAt }, last)) : []
    return { conversations: [...conversations, ...older], proposals: proposals.filter(isOpen) }
  }
  if (isFrame(frame, "conversation")) {
    const { conversation, proposals } = frame.data
    const others = list.proposals.filter(({ conversationId }) => conversationId !== conversation.id)
    return {
      conversations: merge(list.conversations, [conversation]),
      proposals: [...proposals.filter(isOpen), ...others],
    }
  }
  if (isFrame(frame, "conversation_deleted")) return withoutConversation(list, frame.data.conversationId)
  return list
}

/** Adds a page of older conversations to the list, and returns the new list. */
export const withConversations = (list: FeedList, page: readonly ConversationView[]): FeedList => ({
  ...list,
  conversations: merge(list.conversations, page),
})

/** Removes a conversation from the list, for example after deleting it, and returns the new list. */
export const withoutConversation = ({ conversations, proposals }: FeedList, deleted: string): FeedList => ({
  conversations: conversations.filter(({ id }) => id !== deleted),
  proposals: proposals.filter(({ conversationId }) => conversationId !== deleted),
})

/** Keeps the version with the higher position, because positions only grow. */
function merge(known: readonly ConversationView[], fresh: readonly ConversationView[]): ConversationView[] {
  const byId = new Map(known.map((conversation) => [conversation.id, conversation]))
  for (const conversation of fresh) {
    const before = byId.get(conversation.id)
    if (!before || before.position <= conversation.position) byId.set(conversation.id, conversation)
  }
  return [...byId.values()].sort((a, b) => (isBefore(a, b) ? 1 : -1))
}

type Dated = Pick<ConversationView, "id" | "createdAt">

const isBefore = (a: Dated, b: Dated) => (a.createdAt === b.createdAt ? a.id < b.id : a.createdAt < b.createdAt)

const isOpen = ({ status, seenAt }: Proposal) =>
  status === "pending" || status === "in_doubt" || (status === "expired" && seenAt === undefined)
