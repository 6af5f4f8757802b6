import { type AgentDefinition, defineAgent } from "../../../core/engine/definition/agent.ts"
import { TestClock as TurnedClock } from "../../../core/testing/test-clock.ts"
import type { Conversation } from "../../../core/engine/conversation.ts"
import type { OpenProposal } from "../../../core/engine/conversation-writes.ts"
import type { MessageInput } from "../../../core/engine/input.ts"
import type { Journal } from "../../../core/engine/journal.ts"
import type { Model } from "../../../core/engine/model.ts"
import type { Live, ModelSource } from "../../../core/engine/ports.ts"
import type { Tool } from "../../../core/engine/definition/tool.ts"
import { type EngineOptions, openEngine, type OpenedEngine } from "../../../core/compose/open-engine.ts"
import type { JournalEvent } from "../../../core/protocol/events.ts"
import { type ConversationId, newId, type ProposalId } from "../../../core/protocol/ids.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import { openStore, type Store } from "../../../core/store/store.ts"

export { TurnedClock }

export interface WorldOptions extends Partial<Omit<EngineOptions, "store" | "agents" | "models">> {
  readonly url: string
  readonly model: Model | ModelSource
  readonly tools?: readonly Tool[]
  readonly agent?: Partial<AgentDefinition>
  readonly durability?: "full" | "normal"
  readonly leaseSeconds?: number
  /** Wraps the runtime's journal, to inject faults. */
  readonly between?: (journal: Journal) => Journal
}

export const message = (text: string, more: Partial<MessageInput> = {}): MessageInput => ({
  type: "message",
  id: newId("msg"),
  text,
  when: "queue",
  ...more,
})

/** A whole Pawl in this process, for one user, ada, with one agent, and short methods for tests. */
export class World implements AsyncDisposable {
  readonly pawl: OpenedEngine
  readonly store: Store
  readonly user: Conversation["user"]
  /** Errors the loop has logged: a test that expects none checks. */
  readonly problems: unknown[]

  constructor(
    pawl: OpenedEngine,
    store: Store,
    { user, problems }: { user: Conversation["user"]; problems: unknown[] },
  ) {
    this.pawl = pawl
    this.store = store
    this.user = user
    this.problems = problems
  }

  /** Creates a conversation with its first message, and waits until it is idle. */
  async begin(text: string, { mode, ...more }: Partial<MessageInput> & { mode?: Mode } = {}): Promise<ConversationId> {
    const { id } = await this.start(text, { ...(mode ? { mode } : {}), ...more })
    await this.pawl.runtime.rest(id)
    return id
  }

  /** The same without waiting. */
  start(text: string, { mode, ...more }: Partial<MessageInput> & { mode?: Mode } = {}): Promise<Conversation> {
    return this.pawl.runtime.begin({ user: this.user, agent: "test", ...(mode ? { mode } : {}) }, message(text, more))
  }

  async send(id: ConversationId, text: string, more: Partial<MessageInput> = {}): Promise<void> {
    await this.pawl.runtime.submit(id, message(text, more))
    await this.pawl.runtime.rest(id)
  }

  async decide(
    id: ConversationId,
    proposalId: ProposalId,
    decision: "commit" | "reject",
    reason?: string,
  ): Promise<void> {
    await this.pawl.runtime.submit(id, {
      type: "decide",
      proposalId,
      decision,
      by: this.user,
      ...(reason ? { reason } : {}),
    })
    await this.pawl.runtime.rest(id)
  }

  /** The state as it is on disk. */
  load(id: ConversationId): Promise<Conversation> {
    return this.store.journal.load(id, true)
  }

  async proposals(id: ConversationId): Promise<OpenProposal[]> {
    return [...(await this.load(id)).proposals.values()]
  }

  async events(id: ConversationId): Promise<JournalEvent[]> {
    return (await this.store.journal.read(id)) as JournalEvent[]
  }

  async types(id: ConversationId): Promise<string[]> {
    return (await this.events(id)).map((event) => event.type)
  }

  /** `name: status` of every result, in the order of the journal. */
  async results(id: ConversationId): Promise<string[]> {
    return (await this.events(id)).flatMap((event) => (event.type === "tool_end" ? [event.status] : []))
  }

  /** Resolves with the first live signal that matches. */
  seen(id: ConversationId, fits: (live: Live) => boolean): Promise<Live> {
    return new Promise((resolve) => {
      const stop = this.pawl.ports.bus.subscribe(id, (live) => {
        if (!fits(live)) return
        stop()
        resolve(live)
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pawl[Symbol.asyncDispose]()
    await this.store[Symbol.asyncDispose]()
  }
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { url, model, tools = [], agent = {}, durability = "normal", leaseSeconds, between, clock, ...rest } = options
  const store = await openStore({
    url,
    durability,
    ...(leaseSeconds ? { leaseSeconds } : {}),
    ...(clock ? { clock } : {}),
  })
  const problems: unknown[] = []
  const note = (event: string, fields: Record<string, unknown>) => void problems.push({ event, ...fields })
  const pawl = await openEngine({
    recovers: false,
    ...rest,
    // Shorter than usual: tests turn the clock until a proposal expires.
    policy: { proposalMinutes: 15, ...rest.policy },
    ...(clock ? { clock } : {}),
    store: between ? { ...store, journal: between(store.journal) as Store["journal"] } : store,
    agents: [defineAgent({ name: "test", description: "For tests.", instructions: "Be exact.", tools, ...agent })],
    models: model,
    log: { info() {}, warn: note, error: note },
  })
  const { id: user } = await store.people.ensure("ada", Date.now())
  return new World(pawl, store, { user, problems })
}

/**
 * Sweeps as a server does until the failed node's lease has expired. Returns how many conversations the last sweep
 * found.
 */
export async function outlive({ pawl: { runtime } }: World, clock: TurnedClock): Promise<number> {
  for (let look = 0; look < 2; look++) {
    await runtime.recover()
    await clock.turn(4000)
  }
  return runtime.recover()
}
