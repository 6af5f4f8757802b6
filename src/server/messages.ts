import type { Hono } from "hono"
import type { MessageInput } from "../agent/input.ts"
import type { QueuedAnswer } from "../protocol/answers.ts"
import { failure } from "../protocol/errors.ts"
import { newId } from "../protocol/ids.ts"
import { routes } from "../protocol/routes/index.ts"
import { doneBy, type Env, userOf } from "./caller.ts"
import { findConversation } from "./find.ts"
import { followRun } from "./follow-run.ts"
import type { ServerPorts } from "./ports.ts"
import { answerOfRun } from "./run-answer.ts"
import { watch } from "./watch.ts"
import { serveRoute } from "./serve-route.ts"

/** Speaking to a conversation, and waiting for what it answers. */
export function messageRoutes(app: Hono<Env>, ports: ServerPorts): void {
  const { runtime, conversations } = ports

  serveRoute(app, routes.sendMessage, async (c, { body: { text, when, maxIterations } }) => {
    const { id } = await findConversation(c, ports)
    const message: MessageInput = {
      type: "message",
      id: newId("msg"),
      text,
      when: when ?? "queue",
      credential: doneBy(c).credential,
      ...(maxIterations ? { maxIterations } : {}),
    }
    const run = followRun(message.id)
    using watching = watch(runtime, id, run.isOver)
    if ((await runtime.submit(id, message)) === "taken") {
      await watching.over()
      const answer = run.started && (await answerOfRun(ports, { user: userOf(c), id, ...run.started }))
      // Still running: this server is going down and another life will finish it. The message is safe, no more can be said.
      if (answer && answer.run.status !== "running") return answer
    }
    const queued: QueuedAnswer = { queued: { id: message.id, text, when: when === "steer" ? "steer" : "queue" } }
    return c.json(queued, 202)
  })

  serveRoute(app, routes.resumeRun, async (c) => {
    const { id } = await findConversation(c, ports)
    const run = followRun()
    using watching = watch(runtime, id, run.isOver)
    const position = await conversations.lastPause(id)
    const [newest] = (await conversations.runs(id, { limit: 1 })).items
    if (position === undefined || !newest) throw failure("nothing_to_resume", { id })
    // One that is at work goes on by itself; all there is to do is wait.
    if (!runtime.isWorking(id)) await runtime.submit(id, { type: "resume", ...doneBy(c) })
    await watching.over()
    const started = run.started ?? { runId: newest.id, position }
    return await answerOfRun(ports, { user: userOf(c), id, ...started })
  })

  serveRoute(app, routes.cancelRun, async (c) => {
    const { id } = await findConversation(c, ports)
    const run = followRun()
    using watching = watch(runtime, id, run.isOver)
    await runtime.submit(id, { type: "cancel", by: userOf(c) })
    await watching.over()
    return { cancelled: run.ended?.status === "cancelled" }
  })
}
