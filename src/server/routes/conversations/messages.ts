import type { Hono } from "hono"
import type { MessageInput } from "../../../agent/input.ts"
import { isWorkingAnywhere, restAnywhere } from "../../../agent/runtime/rest-anywhere.ts"
import { unfinishedRun } from "../../../agent/accept/unfinished-run.ts"
import { failure } from "../../../protocol/errors.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { spokenBy, userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { streamFrames, wantsStream } from "../../stream/open-stream.ts"
import { findConversation } from "../../conversation/find.ts"
import { hasKey, messageIdFor } from "../../conversation/message-key.ts"
import { namedFiles } from "../../conversation/named-files.ts"
import { followRun } from "./follow-run.ts"
import type { ConversationRoutePorts } from "./ports.ts"
import { answerOfRun } from "./run-answer.ts"
import { answerRepeated, toQueued } from "./repeated-message.ts"
import { RunFrames } from "../../stream/run-frames.ts"
import { sayAndWatch, watchWhile } from "../../stream/say-and-watch.ts"
import { waitForEvent } from "../../conversation/wait-for-event.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Speaking to a conversation, and waiting for what it answers. */
export function messageRoutes(app: Hono<Env>, ports: ConversationRoutePorts): void {
  const { runtime, conversations } = ports

  serveRoute(app, routes.sendMessage, async (c, { body }) => {
    const { id, position } = await findConversation(c, ports)
    const { text, when, maxIterations, timeZone, settings, attended, schema } = body
    if (schema) await ports.answerSchema?.(schema) // refused now, not with the answer
    if (wantsStream(c)) ports.streams.admit(c.get("caller")) // before anything is done that a refusal would deny
    const { messageId, repeated } = await messageIdFor(c, ports, { id, body })
    // What is there already has its files, or had them: a repetition is answered also when they are removed.
    const isThere = repeated && (await conversations.placeOf(id, messageId)) !== undefined
    // Before it is said: a crash in between leaves a use without a message, which is swept up.
    const named = isThere ? [] : body.files
    const files = await namedFiles(ports, userOf(c), { conversation: id, message: messageId }, named)
    const message: MessageInput = {
      type: "message",
      id: messageId,
      text,
      when: when ?? "queue",
      ...spokenBy(c.get("caller")),
      ...(maxIterations ? { maxIterations } : {}),
      ...(timeZone ? { timeZone } : {}),
      ...(settings ? { settings } : {}),
      ...(attended ? { attended: true as const } : {}),
      ...files,
      ...(schema ? { schema } : {}),
    }
    if (repeated) return await answerRepeated(c, ports, { id, message, position })
    if (wantsStream(c)) return streamFrames(c, ports, await sayAndWatch(ports, { id, position }, message))
    const run = followRun(message.id)
    using watching = waitForEvent(ports, { id, position }, run.isOver)
    if ((await runtime.submit(id, message)) === "taken") {
      await watching.over()
      const answer = run.started && (await answerOfRun(ports, { user: userOf(c), id, ...run.started }))
      // Still running: this server is going down and another life will finish it. The message is safe, no more can be said.
      if (answer && answer.run.status !== "running") return answer
      return c.json(toQueued(message), 202)
    }
    // With a key it may have been sent twice at once, and the other one was taken: then its run is this one's too.
    if (hasKey(c) && message.when !== "steer") return await answerRepeated(c, ports, { id, message, position })
    return c.json(toQueued(message), 202)
  })

  serveRoute(app, routes.resumeRun, async (c) => {
    const conversation = await findConversation(c, ports)
    const { id } = conversation
    if (wantsStream(c)) ports.streams.admit(c.get("caller"))
    const run = followRun()
    using watching = waitForEvent(ports, conversation, run.isOver)
    const position = await conversations.lastPause(id)
    const [newest] = (await conversations.runs(id, { limit: 1 })).items
    if (position === undefined || !newest) throw failure("nothing_to_resume", { id })
    const goOn = async () => {
      // The store shows that it has come to rest before its writer here has heard of its own commit: not at work any more.
      if (newest.status !== "running") await restAnywhere(ports, id)
      // One that is at work goes on by itself; all there is to do is wait.
      return (
        (await isWorkingAnywhere(ports, id)) ||
        (await runtime.submit(id, { type: "resume", by: userOf(c), ...spokenBy(c.get("caller")) }))
      )
    }
    if (wantsStream(c)) {
      // A failed or cancelled run is behind us, and so is a summary that was made since: what follows is a run of its own.
      const over = unfinishedRun(await ports.journal.load(id, true)) !== undefined
      const from = { id, position: over ? conversation.position : position }
      const { source } = await watchWhile(ports, from, goOn)
      return streamFrames(c, ports, new RunFrames(source, conversation))
    }
    await goOn()
    await watching.over()
    const started = run.started ?? { runId: newest.id, position }
    return await answerOfRun(ports, { user: userOf(c), id, ...started })
  })

  serveRoute(app, routes.cancelRun, async (c) => {
    const conversation = await findConversation(c, ports)
    const { id } = conversation
    const run = followRun()
    using watching = waitForEvent(ports, conversation, run.isOver)
    await runtime.submit(id, { type: "cancel", by: userOf(c) })
    await watching.over()
    return { cancelled: run.ended?.status === "cancelled" }
  })
}
