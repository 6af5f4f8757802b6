import { z } from "zod"
import { Agents, defineAgent, type Router } from "../../core/engine/definition/agent.ts"
import type { Conversation } from "../../core/engine/conversation.ts"
import type { Input } from "../../core/engine/input.ts"
import type { Model, ModelRequest, ReplyPart } from "../../core/engine/model.ts"
import type { Ports } from "../../core/engine/ports.ts"
import { ReadCache } from "../../core/engine/calls/read-cache.ts"
import { Runtime } from "../../core/engine/runtime/runtime.ts"
import { answer, defineTool, type Tool } from "../../core/engine/definition/tool.ts"
import { previousMessageTools } from "../../core/engine/previous-messages.ts"
import { InProcessBus } from "../../core/bus/in-process.ts"
import { checkRequest } from "../../core/models/scripted/check-request.ts"
import type { InverseCall } from "../../core/protocol/proposals/proposal.ts"
import { AppError, codeOf } from "../../core/protocol/errors.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import { type AuditId, type CallId, type ConversationId, newId, type UserId } from "../../core/protocol/ids.ts"
import type { Mode } from "../../core/protocol/schema.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { SqlJournal } from "../../core/store/journal/journal.ts"
import { ThisNode } from "../../core/store/journal/nodes.ts"
import { dyingAt } from "../support/loop/faults.ts"
import { message, TurnedClock } from "../support/loop/world.ts"

/** The model's next reply; `wait` keeps the reply open until the gate opens. */
export interface PlannedReply {
  readonly kind: "words" | "calls" | "empty" | "blank" | "breaks-off" | "fails"
  readonly calls: readonly PlannedCall[]
  readonly wait: boolean
  readonly thinks: "first" | "last" | "both" | "no"
  /** The end of a reply without tool calls. */
  readonly finish: "stop" | "limit" | "refused"
}

export interface PlannedCall {
  readonly tool:
    | "look"
    | "pay"
    | "mail"
    | "notes"
    | "fetch"
    | "more_tools"
    | "find_earlier"
    | "read_earlier"
    | "nonsense"
  readonly input: "good" | "bad" | "not-json"
  readonly key: number
}

export type Action =
  | { readonly do: "say"; readonly when: "queue" | "steer" }
  | { readonly do: "decide"; readonly decision: "commit" | "reject" | "edit"; readonly which: number }
  | { readonly do: "resolve"; readonly choice: "retry" | "done" | "abandon" }
  | { readonly do: "open"; readonly which: number; readonly how: "ok" | "throw" }
  | { readonly do: "turn"; readonly seconds: number }
  | { readonly do: "kill"; readonly in: number; readonly when: "before" | "after" }
  | { readonly do: "switch"; readonly model: "a" | "b" }
  | { readonly do: "mode"; readonly mode: Mode }
  | { readonly do: "grant" | "undo"; readonly which: number }
  | { readonly do: "cancel" | "resume" | "settle" | "revoke" | "compact" }
  /** Cases that chance alone seldom produces: a write stopped half-way by a person, or by a crash between effect and record. */
  | { readonly do: "interrupt-write" | "die-in-write" }

interface Life {
  killed: boolean
  isDead(): boolean
  runtime: Runtime
  journal: SqlJournal
  node: ThisNode
}

interface Gate {
  open(how: "ok" | "throw"): void
}

interface ChaosAudit {
  readonly id: AuditId
  readonly proposal_id: string
  readonly summary: string
  readonly inverse: string | null
  readonly undoes: string | null
}

const profiles = [
  { name: "reads", description: "x", tools: ["look", "notes"] },
  { name: "writes", description: "x", tools: ["pay", "mail", "look"] },
]

/** Routes by the message, sometimes slowly, so that other things happen meanwhile. The model's tool calls do not matter. */
const route: Router = async ({ words }) => {
  const number = Number(words.match(/\d+$/)?.[0] ?? 0)
  for (let i = 0; i < number % 4; i++) await breathe(1)
  const [profile = "", by = "unsure"] = [["reads", "rules"], ["writes", "embedder"], []][number % 3] ?? []
  return { profiles: [profile], reason: words, scores: { [profile]: 1 }, by: by as "rules" }
}

/** Long enough to be replaced by a reference. */
const LONG = "seen all of it ".repeat(45)

const SAYS_WORDS: PlannedReply = { kind: "words", calls: [], wait: false, thinks: "no", finish: "stop" }

/** One case: a conversation, the processes that run and die on it, and all external effects. */
export class Chaos {
  readonly effects = new Map<CallId, number>()
  readonly retries = new Map<CallId, number>()
  readonly acknowledged: string[] = []
  readonly brokenHistories: string[] = []
  readonly problems: unknown[] = []
  readonly #engine: Engine
  readonly #user: UserId
  readonly #replies: readonly PlannedReply[]
  #replied = 0
  #gates: Gate[] = []
  #now = Date.UTC(2026, 0, 1)
  #clock = new TurnedClock(this.#now)
  #life: Life | undefined
  id: ConversationId | undefined
  #said = 0

  constructor(engine: Engine, user: UserId, replies: readonly PlannedReply[]) {
    this.#engine = engine
    this.#user = user
    this.#replies = replies
  }

  /** Starts a process, with the crash that it is to have, if any. */
  #begin(death?: { at: number; when: "before" | "after" }): Life {
    if (this.#life) this.#life.killed = true
    this.#now = this.#clock.now() + 60_000
    this.#clock = new TurnedClock(this.#now)
    // As with an exclusive lock: a process that starts knows that the previous one is dead.
    const locked = { ...this.#engine, exclusive: true }
    const node = new ThisNode(locked, { clock: this.#clock })
    const journal = new SqlJournal(locked, node)
    const between = dyingAt(death ?? { at: Number.POSITIVE_INFINITY, when: "before" }, journal)
    // A process whose journal has failed does nothing more: it logs nothing, and its tools have no effect.
    const life = { killed: false, isDead: () => life.killed || between.dead } as Life
    const note = (event: string, fields: Record<string, unknown>) =>
      void (life.isDead() || this.problems.push({ event, ...fields }))
    const tools = this.#tools(life)
    const agent = defineAgent({ name: "chaos", description: "x", instructions: "x", tools, profiles, route })
    const ports: Ports = {
      room: { demandRoom: async () => {}, demandRoomFor: async () => {} },
      journal: between,
      models: { get: async (name) => this.#model(name ?? "a") },
      agents: new Agents([{ ...agent, tools: agent.tools.with(previousMessageTools(between)) }]),
      clock: this.#clock,
      timeZone: "UTC",
      bus: new InProcessBus(),
      cache: new ReadCache(),
      limits: { runSeconds: 100_000, restarts: 50, replyCharacters: 10_000 },
      policy: { proposalMinutes: 15, forbidAuto: false },
      log: { info() {}, warn: note, error: note },
    }
    life.runtime = new Runtime(ports)
    life.journal = journal
    life.node = node
    this.#life = life
    return life
  }

  async act(action: Action): Promise<void> {
    const { runtime } = this.#life ?? this.#begin()
    if (!this.id) return this.#first(runtime)
    const { id } = this
    switch (action.do) {
      case "say":
        return this.#say(id, action.when)
      case "decide":
        return this.#decide(id, action)
      case "resolve":
        return this.#resolve(id, action.choice)
      case "open":
        this.#gates.splice(action.which % Math.max(1, this.#gates.length), 1)[0]?.open(action.how)
        return breathe()
      case "turn":
        return this.#clock.turn(action.seconds * 1000)
      case "kill":
        this.#begin({ at: action.in, when: action.when })
        await this.#recover()
        return breathe()
      case "switch":
        return void (await this.#submit(id, { type: "settings", model: action.model }))
      case "mode":
        return void (await this.#submit(id, { type: "settings", mode: action.mode }))
      case "grant":
        return this.#decide(id, { do: "decide", decision: "commit", which: action.which }, { uses: 1 })
      case "undo":
        return this.#undo(id, action.which)
      case "cancel":
      case "resume":
      case "revoke":
      case "compact":
        return void (await this.#submit(id, { type: action.do, by: "ada" }))
      case "settle":
        return breathe(8)
      case "interrupt-write":
        await this.#decide(id, { do: "decide", decision: "commit", which: 0 })
        await this.#submit(id, { type: "cancel", by: "ada" })
        return this.#clock.turn(3000)
      case "die-in-write":
        // The first write is the decision, the second the start, the third would be the result.
        this.#begin({ at: 3, when: "before" })
        await this.#recover()
        await breathe()
        return this.#decide(id, { do: "decide", decision: "commit", which: 0 })
    }
  }

  async #recover(): Promise<void> {
    await this.#life?.node.expireDeadNodes()
    await this.#life?.runtime.recover()
  }

  /** Ends the faults: everything that waits continues until the conversation is idle for good. */
  async finish(): Promise<Conversation> {
    const { runtime, journal, node } = this.#begin()
    await node.expireDeadNodes()
    if (!this.id) await this.#first(runtime)
    const id = this.id as ConversationId
    for (let round = 0; round < 60; round++) {
      await runtime.recover()
      await breathe()
      for (const gate of this.#gates.splice(0)) gate.open("ok")
      await breathe(4)
      await this.#clock.turn(3000)
      if (runtime.isWorking(id)) continue
      const conversation = await journal.load(id, true)
      const open = [...conversation.proposals.values()]
      for (const { proposed, status } of open) {
        if (
          status === "pending" &&
          !(await this.#submit(id, { type: "decide", proposalId: proposed.id, decision: "commit", by: "ada" }))
        ) {
          await this.#submit(id, { type: "resume", by: "ada" }) // it has expired: that settles it
        }
        if (status === "in_doubt")
          await this.#submit(id, { type: "resolve", proposalId: proposed.id, choice: "done", by: "ada" })
      }
      if (
        conversation.run?.status === "running" ||
        open.some(({ status }) => status === "pending" || status === "in_doubt")
      )
        continue
      if (conversation.inbox.length === 0 && this.#gates.length === 0) return conversation
      await this.#submit(id, { type: "resume", by: "ada" })
    }
    const { run, calls, inbox } = await journal.load(id, true)
    throw new Error(
      `no end: ${JSON.stringify({ run: run?.status, calls, inbox, gates: this.#gates.length, problems: this.problems })}`,
    )
  }

  async events(): Promise<JournalEvent[]> {
    return (await this.#life?.journal.read(this.id as ConversationId)) as JournalEvent[]
  }

  async #first(runtime: Runtime): Promise<void> {
    const id = newId("conv")
    const words = message(`m${++this.#said}`)
    try {
      await runtime.begin({ user: this.#user, agent: "chaos", id }, words)
      this.id = id
      this.acknowledged.push(words.text)
    } catch {
      // It died at the first write; a read shows whether the conversation exists.
      const [row] = await this.#engine.query("SELECT id FROM conversation WHERE id = ?", [id])
      if (row) this.id = id
      this.#begin()
    }
    await breathe()
  }

  async #say(id: ConversationId, when: "queue" | "steer"): Promise<void> {
    const words = message(`m${++this.#said}`, { when })
    if (await this.#submit(id, words)) this.acknowledged.push(words.text)
  }

  async #decide(
    id: ConversationId,
    { decision, which }: Extract<Action, { do: "decide" }>,
    grant?: { uses: number },
  ): Promise<void> {
    const conversation = await this.#life?.journal.load(id, true)
    const pending = [...(conversation?.proposals.values() ?? [])].filter(({ status }) => status === "pending")
    const proposalId = pending[which % Math.max(1, pending.length)]?.proposed.id
    if (!proposalId) return
    if (decision === "edit") await this.#submit(id, { type: "edit", proposalId, arguments: { key: 99 }, by: "ada" })
    else await this.#submit(id, { type: "decide", proposalId, decision, by: "ada", ...(grant ? { grant } : {}) })
  }

  /** Undoes one of the audited writes, as the server does. */
  async #undo(id: ConversationId, which: number): Promise<void> {
    const rows = (await this.audit()).filter(({ inverse }) => inverse !== null)
    const row = rows[which % Math.max(1, Math.min(2, rows.length))]
    if (!row) return
    const inverse = JSON.parse(row.inverse as string) as InverseCall
    const common = { auditId: row.id, summary: row.summary, callId: newId("call"), by: "ada" }
    await this.#submit(id, { type: "undo", ...common, inverse })
    // Approved at once every other time: by chance alone another step nearly always comes in between.
    if (which % 2 === 0) await this.#decide(id, { do: "decide", decision: "commit", which: 0 })
  }

  /** The audit of this conversation. */
  audit() {
    const sql = "SELECT id, proposal_id, summary, inverse, undoes FROM audit WHERE conversation_id = ? ORDER BY id"
    return this.#engine.query<ChaosAudit>(sql, [this.id])
  }

  /** The proposals whose rows are marked as applied. */
  async applied(): Promise<string[]> {
    const sql = "SELECT id FROM proposals WHERE conversation_id = ? AND status = 'applied' ORDER BY id"
    return (await this.#engine.query<{ id: string }>(sql, [this.id])).map((row) => row.id)
  }

  async #resolve(id: ConversationId, choice: "retry" | "done" | "abandon"): Promise<void> {
    const conversation = await this.#life?.journal.load(id, true)
    const doubtful = [...(conversation?.proposals.values() ?? [])].find(({ status }) => status === "in_doubt")
    if (!doubtful) return
    const { id: proposalId, callId } = doubtful.proposed
    // Counted before the attempt, because a lost answer may hide a retry that was recorded.
    if (choice === "retry") this.retries.set(callId, (this.retries.get(callId) ?? 0) + 1)
    await this.#submit(id, { type: "resolve", proposalId, choice, by: "ada" })
  }

  /** True if it was acknowledged. A refusal is fine, a defect is not. */
  async #submit(id: ConversationId, input: Input): Promise<boolean> {
    try {
      await this.#life?.runtime.submit(id, input)
      return true
    } catch (error) {
      if (codeOf(error) === undefined || codeOf(error) === "internal") throw error
      return false
    } finally {
      await breathe()
    }
  }

  #gate(): Promise<"ok" | "throw"> {
    return new Promise((resolve) => this.#gates.push({ open: resolve }))
  }

  #tools(life: Life): Tool[] {
    const input = z.object({ key: z.number() })
    const ledger = this.effects
    const effect = async (callId: CallId, once: boolean) => {
      const how = callId.charCodeAt(callId.length - 1) % 2 === 0 ? await this.#gate() : "ok"
      if (life.isDead()) throw new Error("this process is dead")
      if (how === "throw") throw new Error("the target refused")
      if (!once || !ledger.has(callId)) ledger.set(callId, (ledger.get(callId) ?? 0) + 1)
      return answer("done")
    }
    return [
      defineTool({
        name: "look",
        description: "x",
        input,
        effect: "read",
        afterCrash: "run-again",
        run: async ({ key }, { callId }) => {
          if (callId.charCodeAt(callId.length - 1) % 2 === 0 && (await this.#gate()) === "throw")
            throw new Error("nothing to see")
          return answer(key === 0 ? LONG : `seen ${key}`)
        },
      }),
      defineTool({
        name: "notes",
        description: "x",
        input,
        effect: "read",
        afterCrash: "run-again",
        taint: "private",
        run: () => answer("mine"),
      }),
      defineTool({
        name: "fetch",
        description: "x",
        input,
        effect: "read",
        afterCrash: "run-again",
        cacheSeconds: 100,
        taint: "untrusted",
        egress: true,
        run: ({ key }) => answer(`page ${key}`),
      }),
      defineTool({
        name: "pay",
        description: "x",
        input,
        effect: "write",
        afterCrash: "ask-target",
        inverse: (given) => ({ tool: "pay", input: given }),
        outcome: (callId) => (ledger.has(callId) ? answer("done") : "not-applied"),
        run: (_, { callId }) => effect(callId, true),
      }),
      defineTool({
        name: "mail",
        description: "x",
        input,
        effect: "write",
        afterCrash: "in-doubt",
        inverse: false,
        run: (_, { callId }) => effect(callId, false),
      }),
    ]
  }

  #model(name: string): Model {
    const stream = (request: ModelRequest) => this.#reply(name, request)
    return { name, provider: "chaos", contextTokens: 400, stream }
  }

  async *#reply(name: string, request: ModelRequest): AsyncGenerator<ReplyPart> {
    try {
      checkRequest(request, name)
    } catch (error) {
      this.brokenHistories.push(String(error))
      throw error
    }
    const plan = this.#replies[this.#replied++] ?? SAYS_WORDS
    const thought = { type: "reasoning", text: "hm", metadata: { sealed: 1 } } as const
    if (plan.thinks === "first" || plan.thinks === "both") yield thought
    if (plan.kind !== "empty") yield { type: "text", text: plan.kind === "blank" ? " \n" : "word ".repeat(40) }
    if (plan.wait) await this.#gate()
    if (plan.kind === "breaks-off") return
    if (plan.kind === "fails") throw new AppError("overloaded", "the provider is on fire", { retriable: true })
    const usage = { inputTokens: 1, outputTokens: 1 }
    const called = plan.kind === "calls" ? plan.calls : []
    for (const { tool, input, key } of called) {
      const good = { key, words: "seen", position: key + 4 }
      const json = input === "good" ? JSON.stringify(good) : input === "bad" ? '{"key":"x"}' : "{oops"
      yield { type: "call", name: tool, input: json }
    }
    if (plan.thinks === "last" || plan.thinks === "both") yield thought
    yield { type: "finish", finish: called.length > 0 ? "calls" : plan.finish, usage }
  }
}

/** Yields to the event loop, so that pending work continues. */
export async function breathe(times = 3): Promise<void> {
  for (let i = 0; i < times; i++) await new Promise((resolve) => setImmediate(resolve))
}
