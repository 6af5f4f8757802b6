import { type Cursor, parseCursor, toCursor } from "../protocol/cursor.ts"
import type { Frame, FrameType, UnknownFrame } from "../protocol/frames.ts"
import { type NOTICED, toNotice } from "../protocol/notices.ts"
import { withSettings } from "../protocol/conversation/with-settings.ts"
import { toKnownFrame } from "./is-frame.ts"
import { applyCallFrames, callItems, supersede, tellProgress } from "./transcript/reduce-calls.ts"
import { meterBeside, meterMessage } from "./transcript/context-meter.ts"
import { transcriptStatus } from "./transcript/shown-calls.ts"
import type { Item, Transcript } from "./transcript/transcript.ts"

/**
 * The transcript after one more frame. Pure; a frame at or before its cursor gives it back as it is, so frames may come
 * again, from several streams, or from before a snapshot.
 */
export function reduce(transcript: Transcript, frame: UnknownFrame): Transcript {
  const at = parseCursor(transcript.cursor) as Cursor
  const next = parseCursor(frame.id)
  if (!next) return transcript // not of a conversation: nothing to say when it comes again
  const known = toKnownFrame(frame)
  if (known?.type === "text_delta") return write(transcript, known.data.text, { at, next })
  if (known?.type === "reasoning_delta") return think(transcript, known.data, { at, next })
  if (known?.type === "tool_progress")
    return next.position === at.position ? tellProgress(transcript, known.data) : transcript
  if (known?.type === "usage" && next.position === at.position) return total(transcript, known)
  if (next.position <= at.position) return transcript
  // A row ends the reply that was open, by holding it whole or by saying that it died, unless its id says otherwise.
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

/** Adds to the open reply. Costs the same however long the reply and the conversation are. */
function write(transcript: Transcript, text: string, { at, next }: { at: Cursor; next: Cursor }): Transcript {
  if (next.position !== at.position || next.offset <= at.offset) return transcript
  const start = next.offset - text.length
  if (start > at.offset) return transcript // text is missing before it; the message will bring all of it
  const fresh = start === at.offset ? text : text.slice(at.offset - start)
  return { ...transcript, writing: (transcript.writing ?? "") + fresh, cursor: toCursor(next) }
}

/** Adds to what is thought for the open reply; it may come again, and what is missing before it comes with the message. */
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

/** One line per type of frame; the compiler refuses a type without one. */
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
    // What another model can read, the next look at the conversation tells.
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
    return add(meterMessage(transcript, message), { type: "message", key: message.id, message }, ...calls)
  },
  step: (transcript, { id, data: { step, detail, asked, at } }) =>
    add(meterBeside(transcript, { asked }), { type: "step", key: id, step, detail, at, ...(asked ? { asked } : {}) }),
  ...applyCallFrames,
  restarted: tell,
  fallback: tell,
  history_cut: (transcript, frame) => tell(meterBeside(transcript, frame.data), frame),
  compaction(transcript, frame) {
    const { what } = frame.data
    const isSummingUp = what === "references" ? transcript.isSummingUp : what === "due"
    return tell({ ...meterBeside(transcript, frame.data), isSummingUp }, frame)
  },
  run_ended(transcript, frame) {
    const { status, reason = null, error = null, at } = frame.data
    const run = transcript.run && { ...transcript.run, status, reason, error, endedAt: at }
    return tell({ ...transcript, run, isSummingUp: false, status: status === "failed" ? "failed" : "active" }, frame)
  },
  // These repeat the cursor of rows that say the same, so they never get here with something new.
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

/** What there is to be said of it in small print. */
function tell(transcript: Transcript, { id, type, data }: Frame<(typeof NOTICED)[number]>): Transcript {
  const notice = toNotice(type, data)
  return notice ? add(transcript, { type: "notice", key: id, ...notice }) : transcript
}

export function add(transcript: Transcript, ...items: readonly Item[]): Transcript {
  return { ...transcript, items: [...transcript.items, ...items] }
}
