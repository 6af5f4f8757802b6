import { z } from "zod"
import { refuseText } from "../../../agent/accept/refuse-input.ts"
import type { MessageInput } from "../../../agent/input.ts"
import { AskInput } from "../../../dialects/mcp/ask-input.ts"
import { type McpResult, toResult } from "../../../dialects/mcp/result.ts"
import { AskAnswer } from "../../../dialects/mcp/ask-answer.ts"
import { AppError, codeOf, failure } from "../../../protocol/errors.ts"
import { newId, type RunId } from "../../../protocol/ids.ts"
import { openFor } from "../../stream/open-stream.ts"
import { openAsked, type OpenedAsk } from "./open-asked.ts"
import { defineMcpTool, type McpToolCall } from "./tool.ts"
import { lazily } from "../../../protocol/lazily.ts"

export const askAgent = defineMcpTool({
  name: "ask_agent",
  title: "Ask an agent",
  description:
    "An agent of the person answers, with its own tools on the person's data. Changes are proposed and wait for the person.",
  needs: "chat",
  reads: false,
  input: AskInput,
  async run(input, call) {
    const id = call.words ?? newId("msg", call.caller.person.id)
    const message: MessageInput = {
      ...{ type: "message", id, text: input.message, when: "reject" },
      ...{ credential: call.caller.credential.id, asks: true },
    }
    refuseText(message)
    call.ports.streams.admit(call.caller)
    return answerOf(await openAsked(call, input, message), input, call)
  },
})

export const listAgents = defineMcpTool({
  name: "list_agents",
  title: "List agents",
  description: "The agents that can be asked, and what each is for.",
  needs: "read",
  reads: true,
  input: lazily(() => z.strictObject({})),
  async run(_input, { ports }) {
    const agents = ports.agents.all.map(({ name, description }) => ({ name, description }))
    return toResult(agents.map(({ name, description }) => `${name}: ${description}`).join("\n"), { agents })
  },
})

/** Follows the run to its end, or to where it waits for a person. */
async function answerOf({ id, frames }: OpenedAsk, { key }: AskInput, call: McpToolCall): Promise<McpResult> {
  const { caller, ports, signal, page } = call
  const source = openFor(caller, ports, frames)
  const answer = new AskAnswer(id)
  const over = AbortSignal.any([signal, call.cancelled])
  // Whoever hangs up and has a key may come again for the answer; without one nobody will.
  const isTakenBack = () => call.cancelled.aborted || (signal.aborted && call.hangingUpCancels && key === undefined)
  // What is taken back before its run is known is followed until it is: what has no name cannot be stopped.
  const hangUp = () => void ((answer.hasBegun || !isTakenBack()) && source.close())
  over.addEventListener("abort", hangUp, { once: true })
  if (over.aborted) hangUp()
  try {
    while (!answer.isOver) {
      const some = await source.next()
      if (!some) break
      for (const frame of some) {
        const progress = answer.read(frame)
        if (progress !== undefined) await call.progress(progress)
      }
      if (over.aborted) hangUp()
    }
  } finally {
    over.removeEventListener("abort", hangUp)
    source.close()
  }
  const { run_id: run, status, proposals } = answer.beside
  if (isTakenBack() && !answer.isOver) await stop(call, id, run)
  if (!answer.isOver) throw failure("draining")
  const { failed } = answer
  if (failed) throw new AppError(codeOf(failed) ?? "internal", `${failed.message} (conversation ${id})`)
  const where = status === "paused" ? ` The person decides at ${page}/c/${id}; then ask again, or read ${id}.` : ""
  return toResult([answer.text, `Conversation ${id}, ${status}.${where}`], {
    ...{ answer: answer.text, conversation: id, run, status, proposals },
    ...(where ? { decide_at: `${page}/c/${id}` } : {}),
  })
}

/** Of this run only: what others have said since goes on. */
async function stop({ caller, ports }: McpToolCall, id: OpenedAsk["id"], run: RunId): Promise<void> {
  await ports.runtime.submit(id, { type: "cancel", by: caller.person.id, run })
}
