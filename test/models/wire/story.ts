import { Agents, defineAgent } from "../../../core/engine/definition/agent.ts"
import type { Conversation } from "../../../core/engine/conversation.ts"
import { previousMessageTools } from "../../../core/engine/previous-messages.ts"
import { fork } from "../../../core/engine/fork.ts"
import type { Input, MessageInput } from "../../../core/engine/input.ts"
import type { ModelSource, Ports } from "../../../core/engine/ports.ts"
import { ReadCache } from "../../../core/engine/calls/read-cache.ts"
import { Runtime } from "../../../core/engine/runtime/runtime.ts"
import { InProcessBus } from "../../../core/bus/in-process.ts"
import { answerSchema } from "../../../core/tools/json-schema/answer-schema.ts"
import { codeOf } from "../../../core/protocol/errors.ts"
import type { JournalEvent } from "../../../core/protocol/events.ts"
import { type ConversationId, newId, type UserId } from "../../../core/protocol/ids.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import type { Engine } from "../../../core/store/engine/engine.ts"
import { SqlJournal } from "../../../core/store/journal/journal.ts"
import { ThisNode } from "../../../core/store/journal/nodes.ts"
import { dyingAt } from "../../support/loop/faults.ts"
import { message, TurnedClock } from "../../support/loop/world.ts"
import { fileContents, storyFiles } from "./files.ts"
import { type Judged, type WireAnswer, wireModels, wireProviders } from "./providers.ts"
import { storyTools } from "./tools.ts"

export interface PlannedReply {
  readonly kind: "words" | "calls" | "empty" | "blank" | "breaks-off" | "overloaded" | "refuses" | "too-long"
  readonly calls: readonly (readonly [tool: string, input: string])[]
  readonly thinks: boolean
  /** Whether only half of the reply comes until the story releases the rest. */
  readonly holds: boolean
  readonly finish: "stop" | "limit"
  readonly length: number
}

export type Act =
  | {
      readonly do: "say"
      readonly when: "queue" | "steer"
      readonly length: number
      /** The attached files, by their indexes. */
      readonly files: readonly number[]
      readonly wantsJson: boolean
      /** How often it may call before it has to answer in text. */
      readonly maxIterations: number
    }
  | { readonly do: "switch"; readonly model: number }
  | { readonly do: "fallback"; readonly models: readonly number[] }
  | { readonly do: "decide"; readonly decision: "commit" | "reject" | "edit"; readonly which: number }
  | { readonly do: "mode"; readonly mode: Mode }
  | { readonly do: "think"; readonly effort: "low" | "high" | null }
  | { readonly do: "wait"; readonly seconds: number }
  /** Forks the conversation at this position and leaves the rest behind, like an edited message. */
  | { readonly do: "fork"; readonly at: number }
  | { readonly do: "die"; readonly in: number; readonly when: "before" | "after" }
  | { readonly do: "let-go" | "cancel" | "resume" | "compact" }

export interface Plan {
  readonly replies: readonly PlannedReply[]
  readonly acts: readonly Act[]
  /** Which model is asked first. */
  readonly model: number
  readonly summaryModel: number | undefined
}

const PLAIN: PlannedReply = { kind: "words", calls: [], thinks: false, holds: false, finish: "stop", length: 20 }
const WANTED = { type: "object", properties: { n: { type: "number" } }, required: ["n"] }

interface Life {
  readonly ports: Ports
  readonly runtime: Runtime
  readonly journal: SqlJournal
  readonly node: ThisNode
  readonly isDead: () => boolean
}

/** A user, their conversation with its forks, the processes that work on it, and every request that was sent. */
export class Story {
  readonly requests: Judged[] = []
  /** For each call, the results that models received. */
  readonly told = new Map<string, Set<string>>()
  readonly troubles: unknown[] = []
  readonly ids: ConversationId[] = []
  /** A log of all steps, to diagnose a failure. */
  readonly lines: string[] = []
  readonly #engine: Engine
  readonly #user: UserId
  readonly #plan: Plan
  readonly #models: ModelSource
  #clock = new TurnedClock()
  #life: Life
  #gates: (() => void)[] = []
  #replied = 0
  #said = 0

  constructor(engine: Engine, user: UserId, plan: Plan) {
    this.#engine = engine
    this.#user = user
    this.#plan = plan
    this.#models = wireProviders({
      answer: (judged) => this.#answer(judged),
      asked: ({ history }) => {
        for (const turn of history)
          if (turn.role === "tool") for (const { callId, text } of turn.results) this.#noteResult(callId, text)
      },
    })
    this.#life = this.#begin()
  }

  /** Runs all planned steps, and then continues without faults until nothing is left to do. */
  async run(): Promise<Conversation[]> {
    await this.#first()
    for (const act of this.#plan.acts) {
      this.lines.push(`- ${JSON.stringify(act)}`)
      await this.#act(act)
      await this.#quiet()
    }
    return this.#finish()
  }

  async events(id: ConversationId): Promise<JournalEvent[]> {
    return (await this.#life.journal.read(id)) as JournalEvent[]
  }

  get #id(): ConversationId {
    return this.ids.at(-1) as ConversationId
  }

  #begin(death?: { readonly at: number; readonly when: "before" | "after" }): Life {
    this.#clock = new TurnedClock(this.#clock.now() + 60_000)
    const locked = { ...this.#engine, exclusive: true }
    const node = new ThisNode(locked, { clock: this.#clock })
    const journal = new SqlJournal(locked, node)
    const between = dyingAt(death ?? { at: Number.POSITIVE_INFINITY, when: "before" }, journal)
    const isDead = () => between.dead || this.#life.journal !== journal
    const note = (event: string, fields: object) => void (isDead() || this.troubles.push({ event, ...fields }))
    const agent = defineAgent({ name: "story", description: "x", instructions: "Be exact.", tools: storyTools(isDead) })
    const { summaryModel } = this.#plan
    const ports: Ports = {
      room: { demandRoom: async () => {}, demandRoomFor: async () => {} },
      journal: between,
      models: this.#models,
      agents: new Agents([{ ...agent, tools: agent.tools.with(previousMessageTools(between)) }]),
      files: fileContents,
      answerSchema,
      clock: this.#clock,
      timeZone: "UTC",
      bus: new InProcessBus(),
      cache: new ReadCache(),
      limits: { runSeconds: 100_000, restarts: 4, replyCharacters: 10_000 },
      policy: { proposalMinutes: 15, forbidAuto: false },
      log: { info() {}, warn: note, error: note },
      ...(summaryModel === undefined ? {} : { summaryModel: nameOf(summaryModel) }),
    }
    return { ports, runtime: new Runtime(ports), journal, node, isDead }
  }

  async #first(): Promise<void> {
    const id = newId("conv")
    await this.#life.runtime.begin(
      { user: this.#user, agent: "story", id, model: nameOf(this.#plan.model) },
      message("Question 0"),
    )
    this.ids.push(id)
    await this.#quiet()
  }

  async #act(act: Act): Promise<void> {
    switch (act.do) {
      case "say":
        return this.#submit(this.#words(act))
      case "switch":
        return this.#submit({ type: "settings", model: nameOf(act.model) })
      case "fallback":
        return this.#submit({ type: "settings", fallback: act.models.map(nameOf) })
      case "decide":
        return this.#decide(act.decision, act.which)
      case "mode":
        return this.#submit({ type: "settings", mode: act.mode })
      case "think":
        return this.#submit({ type: "settings", settings: { effort: act.effort } })
      case "wait":
        return this.#clock.turn(act.seconds * 1000)
      case "fork":
        return this.#fork(act.at)
      case "die":
        this.#letGo()
        this.#life = this.#begin({ at: act.in, when: act.when })
        return this.#recover()
      case "let-go":
        return this.#letGo()
      case "cancel":
      case "resume":
      case "compact":
        return this.#submit({ type: act.do, by: "ada" })
    }
  }

  #words({ when, length, files, wantsJson, maxIterations }: Extract<Act, { do: "say" }>): MessageInput {
    const text = `Question ${++this.#said} ${"why ".repeat(length)}`
    const along = files.flatMap((which) => storyFiles[which] ?? [])
    const more = { ...(along.length > 0 ? { files: along } : {}), ...(wantsJson ? { schema: WANTED } : {}) }
    return message(text, { when, maxIterations, ...more })
  }

  async #decide(decision: "commit" | "reject" | "edit", which: number): Promise<void> {
    const { proposals } = await this.#life.journal.load(this.#id, true)
    const open = [...proposals.values()].filter(({ status }) => status === "pending" || status === "in_doubt")
    const proposal = open[which % Math.max(1, open.length)]
    if (!proposal) return
    const { status, proposed } = proposal
    const proposalId = proposed.id
    if (status === "in_doubt") return this.#submit({ type: "resolve", proposalId, choice: "done", by: "ada" })
    if (decision === "edit") return this.#submit({ type: "edit", proposalId, arguments: { key: 99 }, by: "ada" })
    return this.#submit({ type: "decide", proposalId, decision, by: "ada" })
  }

  async #fork(at: number): Promise<void> {
    if (this.ids.length > 3) return
    const { position } = await this.#life.journal.load(this.#id, true)
    try {
      this.ids.push((await fork(this.#life.ports, this.#id, 1 + (at % position))).id)
    } catch (error) {
      if (codeOf(error) === undefined) throw error
    }
  }

  /** Refusals are answers; any other error is a defect. */
  async #submit(input: Input): Promise<void> {
    try {
      await this.#life.runtime.submit(this.#id, input)
    } catch (error) {
      const code = codeOf(error)
      if (code === undefined || code === "internal") throw error
      this.lines.push(`  refused: ${code}`)
    }
  }

  async #recover(): Promise<void> {
    await this.#life.node.expireDeadNodes()
    await this.#life.runtime.recover()
  }

  #letGo(): void {
    for (const open of this.#gates.splice(0)) open()
  }

  async #finish(): Promise<Conversation[]> {
    this.lines.push("- and on, without faults")
    this.#letGo()
    this.#life = this.#begin()
    const all: Conversation[] = []
    for (const id of [...this.ids].reverse()) {
      while (this.#id !== id) this.ids.unshift(this.ids.pop() as ConversationId)
      all.push(await this.#settle(id))
    }
    return all
  }

  async #settle(id: ConversationId): Promise<Conversation> {
    for (let round = 0; round < 60; round++) {
      await this.#recover()
      this.#letGo()
      await this.#quiet()
      await this.#clock.turn(3000)
      if (this.#life.runtime.isWorking(id)) continue
      const conversation = await this.#life.journal.load(id, true)
      const { proposals, run, inbox } = conversation
      const isOpen = [...proposals.values()].some(({ status }) => status === "pending" || status === "in_doubt")
      if (run?.status !== "running" && !isOpen && inbox.length === 0) return conversation
      if (isOpen) await this.#decide("commit", 0)
      await this.#submit({ type: "resume", by: "ada" })
    }
    throw new Error(`${id} comes to no end`)
  }

  /** Resolves once no conversation works, or only held replies are pending. */
  async #quiet(): Promise<void> {
    for (let turn = 0, held = 0; turn < 300 && held < 5; turn++) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!this.ids.some((id) => this.#life.runtime.isWorking(id))) return
      held = this.#gates.length > 0 ? held + 1 : 0
    }
  }

  #answer(judged: Judged): WireAnswer {
    this.requests.push(judged)
    this.lines.push(`  asked ${judged.model}${judged.problem ? `: REFUSED, ${judged.problem}` : ""}`)
    const plan = this.#plan.replies[this.#replied++] ?? PLAIN
    const { kind, calls, thinks, holds, finish, length } = plan
    this.lines.push(`    ${kind}${thinks ? ", thinks" : ""}${holds ? ", holds" : ""}`)
    if (kind === "overloaded") return { type: "fails", status: 529, message: "Overloaded" }
    if (kind === "refuses") return { type: "fails", status: 400, message: "That is not how it is done." }
    if (kind === "too-long") return { type: "fails", status: 400, message: "maximum context length exceeded" }
    const json = plan === PLAIN ? '{"n":1} ' : ""
    const spoken = kind === "empty" || (kind === "calls" && length % 2 === 0) ? "" : json || "word ".repeat(length)
    const said = {
      ...{ number: this.#replied, thinks, words: kind === "blank" ? " \n" : spoken },
      ...{ calls: kind === "calls" ? calls : [], finish },
    }
    const held = holds ? { held: new Promise<void>((resolve) => this.#gates.push(resolve)) } : {}
    return { type: "says", said, breaksOff: kind === "breaks-off", ...held }
  }

  #noteResult(callId: string, text: string): void {
    const known = this.told.get(callId) ?? new Set()
    this.told.set(callId, known.add(text))
  }
}

const nameOf = (model: number): string => wireModels[model % wireModels.length] as string
