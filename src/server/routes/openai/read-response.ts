import type { Context } from "hono"
import { isKnown } from "../../../agent/replay/replay.ts"
import { toModelName } from "../../../dialects/openai/model-names.ts"
import { ResponseAnswer } from "../../../dialects/openai/responses.ts"
import type { EventOf } from "../../../protocol/events.ts"
import type { ResponseAnswered, ResponseQuery } from "../../../protocol/dialects/openai-responses.ts"
import { waitForEvent } from "../../conversation/wait-for-event.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { type FrameSource, STREAM_HEADERS } from "../../stream/event-stream.ts"
import type { AnyFrame } from "../../stream/frame-maker.ts"
import { pulseOf } from "../../stream/keep-alive.ts"
import { FollowedPauses } from "../../stream/followed-pauses.ts"
import { openFor, subscribe } from "../../stream/open-stream.ts"
import { RunFrames } from "../../stream/run-frames.ts"
import { isEnd } from "../../stream/subscription.ts"
import { toTextStream } from "../../stream/text-stream.ts"
import { toldRows, toldSource, withFirst } from "../../stream/told-rows.ts"
import { findResponse, type FoundResponse } from "./find-response.ts"
import type { OpenAiPorts } from "./ports.ts"

/** A response as it stands, or its events from its beginning or from behind one of them: of a run at work as they come. */
export async function tellResponse(
  c: Context<Env>,
  ports: OpenAiPorts,
  { stream, starting_after: after }: ResponseQuery,
): Promise<ResponseAnswered | Response> {
  if (stream !== "true") return asItStands(await findResponse(c, ports))
  ports.streams.admit(c.get("caller"))
  const found = await findResponse(c, ports)
  const answer = answerOf(found, after)
  const source = openFor(c.get("caller"), ports, withFirst(framesBefore(found), await watch(ports, found)))
  return c.body(toTextStream(source, answer, pulseOf(ports.clock)), 200, STREAM_HEADERS)
}

/** Stops the run that makes it, also one that waits. Whoever comes too late finds it as it is. */
export async function cancelResponse(c: Context<Env>, ports: OpenAiPorts): Promise<ResponseAnswered> {
  const found = await findResponse(c, ports)
  const { conversation, run } = found
  if (run.status !== "running" && run.status !== "paused") return asItStands(found)
  using watching = waitForEvent(ports, conversation, (event) => event.type === "run_ended")
  // It may have ended since, and another one have begun, which is not meant.
  await ports.runtime.submit(conversation.id, { type: "cancel", by: userOf(c), run: run.id })
  await watching.over()
  return asItStands(await findResponse(c, ports))
}

function asItStands(found: FoundResponse): ResponseAnswered {
  const answer = answerOf(found)
  for (const frame of [...framesBefore(found), ...framesSoFar(found)]) answer.translate(frame)
  const response = answer.toResponse()
  return answer.failed?.code === "cancelled" ? { ...response, status: "cancelled", error: null } : response
}

/** What the request asked for is known as far as its words tell it. */
function answerOf({ run, conversation, part, rows }: FoundResponse, after?: number): ResponseAnswer {
  const words = rows.find((row): row is EventOf<"message"> => isKnown(row) && row.type === "message")
  const { temperature, parallelCalls } = words?.settings ?? {}
  const head = {
    ...{ model: toModelName(conversation), conversation: conversation.id, hasToFit: words?.schema !== undefined },
    created: Math.floor(Date.parse(run.startedAt) / 1000),
    ...(part > 0 ? { part } : {}),
  }
  const repeated = { temperature: temperature ?? null, parallel_tool_calls: parallelCalls ?? null }
  return new ResponseAnswer(head, repeated, after === undefined ? {} : { after })
}

/** Of a run that goes on with results: that it has begun, and which calls of its program's are open. */
function framesBefore({ conversation: { id }, rows, from, part }: FoundResponse): AnyFrame[] {
  if (part === 0) return []
  const before = rows.filter(({ position }) => position < from)
  const frames = toldRows(id, before, 0)
  return frames.filter(({ type }) => type === "run_started" || type === "handed_over" || type === "tool_end")
}

/** Of what is on record, to its end, without pauses that it has gone on from. */
function framesSoFar(found: FoundResponse): AnyFrame[] {
  const left = pausesGone(found)
  const isLeft = ({ id, type, data }: AnyFrame) =>
    type === "done" && (data as { status: string }).status === "paused" && Number(id) <= left
  const frames = toldRows(found.conversation.id, found.rows, found.from).filter((frame) => !isLeft(frame))
  const end = frames.findIndex(isEnd)
  return end < 0 ? frames : frames.slice(0, end + 1)
}

async function watch(ports: OpenAiPorts, found: FoundResponse): Promise<FrameSource> {
  const known = framesSoFar(found)
  if (known.some(isEnd)) return toldSource(known)
  const source = await subscribe(ports, { id: found.conversation.id, after: { position: found.from - 1, offset: 0 } })
  return new RunFrames(source, { position: pausesGone(found) })
}

function pausesGone({ pause, rows }: FoundResponse): number {
  if (pause !== undefined) return pause - 1
  const pauses = new FollowedPauses()
  for (const row of rows) pauses.see(row)
  return pauses.leftUpTo(rows.at(-1)?.position ?? 0)
}
