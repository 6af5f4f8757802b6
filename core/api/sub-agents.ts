import { activeAgent, HANDOFF, handoffText, type Handoff } from "../engine/definition/agent.ts"
import { answer, failed, type Answer, type CallContext } from "../engine/definition/tool.ts"
import type { Conversation } from "../engine/conversation.ts"
import type { MessageInput } from "../engine/input.ts"
import type { Run } from "../protocol/conversation/conversation.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { JsonObject } from "../protocol/schema.ts"
import { idFrom, lookUntil, runAt } from "./follow.ts"
import type { Parts } from "./parts.ts"

/** The data of a sub-agent's result: the conversation and the run that answered. */
export interface SubAgentResult {
  readonly conversationId: ConversationId
  readonly runId: string
}

interface Task {
  readonly agent: string
  readonly task: string
  readonly maxIterations: number | undefined
}

/** Lets one tool call use other agents. */
export interface SubAgents {
  ask(task: Task): Promise<Answer>
  handOff(to: string): Promise<Answer>
}

/** The key of `SubAgents` in the context of a call, which only `agentTool` uses. */
export const SUB_AGENTS = Symbol("sub-agents")

/** The stored state of a call that asks a sub-agent: its conversation, and whether it waits for a person. */
interface Delegated extends JsonObject {
  readonly subAgent: ConversationId
  readonly waits?: true
}

export function openSubAgents(parts: Parts, context: CallContext): SubAgents {
  return {
    ask: (task) => delegate(parts, context, task),
    async handOff(to) {
      const conversation = await parts.ports.journal.load(context.conversation)
      const from = activeAgent(conversation)
      const handoff: Handoff = { to, from, callId: context.callId, runId: conversation.run?.id }
      return answer(handoffText(from, to), {
        state: { [HANDOFF]: handoff },
      })
    },
  }
}

/**
 * Sends the task to a conversation whose id follows from the call's, and waits for the answer. After a crash the call
 * runs again: it finds the conversation, or the message in it, and only waits. A call that is cancelled ends after the
 * cancellation of its sub-agent is stored.
 */
async function delegate(parts: Parts, context: CallContext, { agent, task, maxIterations }: Task): Promise<Answer> {
  const { store, runtime, ports } = parts
  const { user, callId, lasting, signal } = context
  if (!lasting) return failed("A sub-agent can be asked only by a tool call of a run.")
  const id = idFrom("conv", [user, callId])
  const message = idFrom("msg", [id, callId])
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => {})
  const cancel = async () => {
    // A server that shuts down leaves the sub-agent's run to the next one, like the call itself.
    if (signal.reason === "shutdown") return
    await runtime.submit(id, { type: "cancel", by: user }).catch(() => {})
    stopped.reject(signal.reason)
  }
  if (signal.aborted) {
    await cancel()
    throw signal.reason
  }
  if (!(await store.conversations.find(user, id))) await start(parts, { context, id, agent, task })
  const kept = lasting.kept as Partial<Delegated> | undefined
  if (kept?.subAgent !== id) await lasting.keep({ subAgent: id } satisfies Delegated)
  const parent = await ports.journal.load(context.conversation)
  await runtime.submit(id, {
    type: "message",
    id: message,
    text: task,
    when: "queue",
    ...inherited(parent, { maxIterations }),
  })

  let waits = kept?.waits === true
  const look = async () => {
    const run = await runOfTask(parts, { id, user, message })
    if (run?.status === "completed" || run?.status === "failed" || run?.status === "cancelled") return run
    const isPaused = run?.status === "paused"
    // For clients that see only the caller's events.
    if (isPaused !== waits && !signal.aborted)
      await lasting.keep({ subAgent: id, ...(isPaused ? { waits: true } : {}) })
    waits = isPaused
    return undefined
  }
  const onAbort = () => void cancel()
  signal.addEventListener("abort", onAbort, { once: true })
  const stopProgress = ports.bus.subscribe(id, (live) => {
    if (live.type === "text_delta") context.progress?.({ text: live.text.slice(-200) })
  })
  try {
    if (signal.aborted) onAbort()
    const run = await lasting.wait(() => Promise.race([lookUntil(parts, id, look), stopped.promise]))
    return await resultOf(parts, context, { id, agent, run })
  } catch (error) {
    if (signal.aborted && signal.reason !== "shutdown") await stopped.promise
    throw error
  } finally {
    stopProgress()
    signal.removeEventListener("abort", onAbort)
  }
}

interface Started {
  readonly context: CallContext
  readonly id: ConversationId
  readonly agent: string
  readonly task: string
}

/** The conversation of a sub-agent works where its caller works: with the same model, mode, site and database. */
async function start(parts: Parts, { context, id, agent, task }: Started): Promise<void> {
  const { store, runtime, ports } = parts
  const { user, conversation } = context
  const { model, provider, mode, site, deviceId, connectionId } = await ports.journal.load(conversation)
  const title = `${agent}: ${task.replaceAll(/\s+/g, " ").slice(0, 60)}`.toWellFormed()
  try {
    await runtime.begin({ user, id, agent, model, provider, mode, site, deviceId, connectionId, title })
  } catch (error) {
    // Another process has started it in the meantime.
    if (!(await store.conversations.find(user, id))) throw error
  }
}

/**
 * The restrictions that a sub-agent inherits from its caller: the credential, whether its writes need a person, and the
 * taint, because the task may repeat instructions in untrusted text that the caller has read.
 */
function inherited({ run, hasSeen, timeZone }: Conversation, { maxIterations }: Pick<Task, "maxIterations">) {
  const isTainted = hasSeen.outside || hasSeen.brought === true || hasSeen.folder === true
  const origin = [{ name: "origin", text: "Another agent wrote this task after it had read text of third parties." }]
  return {
    ...(run?.credential ? { credential: run.credential } : {}),
    ...(run?.asks ? { asks: true } : {}),
    ...(run?.attended ? { attended: true } : {}),
    ...(timeZone ? { timeZone } : {}),
    ...(maxIterations ? { maxIterations } : {}),
    ...(run ? { rootRun: run.rootRun ?? run.id } : {}),
    ...(isTainted ? { brought: origin } : {}),
  } satisfies Partial<MessageInput>
}

interface Asked {
  readonly id: ConversationId
  readonly user: UserId
  readonly message: MessageInput["id"]
}

/** The run of the task; undefined before it starts. */
async function runOfTask(parts: Parts, { id, user, message }: Asked): Promise<Run | undefined> {
  const { conversations } = parts.store
  const place = await conversations.placeOf(id, message)
  const started = typeof place === "number" ? await runAt(parts, id, place) : undefined
  return started && conversations.run(user, started.runId)
}

interface Ended {
  readonly id: ConversationId
  readonly agent: string
  readonly run: Run
}

async function resultOf(parts: Parts, context: CallContext, { id, agent, run }: Ended): Promise<Answer> {
  const { hasSeen } = await parts.ports.journal.load(id)
  if (hasSeen.outside || hasSeen.brought) context.noteTaint?.("untrusted")
  else if (hasSeen.folder) context.noteTaint?.("folder")
  const data = { conversationId: id, runId: run.id }
  const extra = { data, ...(hasSeen.private || hasSeen.brought ? { taint: "private" as const } : {}) }
  if (run.status === "cancelled")
    return failed(`The person stopped ${agent}. Do not ask it again unless they want it.`, extra)
  if (run.status === "failed")
    return failed(
      `${agent} failed: ${run.error?.message ?? "unknown error"} Do without it, or ask it something else.`,
      extra,
    )
  const { items } = await parts.store.conversations.messages(id, { limit: 20 })
  const text = items.findLast(({ role, content }) => role === "assistant" && content !== "")?.content
  return answer(text ?? `${agent} ended without an answer.`, extra)
}

/** The conversation of the sub-agent that a call waits for, from its stored state. */
export const subAgentOf = (kept: unknown): ConversationId | undefined => ((kept ?? {}) as Partial<Delegated>).subAgent
