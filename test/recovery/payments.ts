import { z } from "zod"
import { answer, defineTool, type Tool } from "../../core/engine/definition/tool.ts"
import type { ModelRequest } from "../../core/engine/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import type { Script } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { CallId, ConversationId } from "../../core/protocol/ids.ts"
import { conversationStatus } from "../../core/engine/conversation.ts"
import { hasCode } from "../../core/protocol/errors.ts"
import { message, type World } from "../support/loop/world.ts"

export type AfterCrash = "run-again" | "ask-target" | "in-doubt"

/** A bank that outlives every process: its records show what really happened. */
export class Bank {
  /** The amounts paid, in order. */
  readonly paid: number[] = []
  readonly #seen = new Map<CallId, string>()

  tools(afterCrash: AfterCrash): Tool[] {
    const input = z.object({ amount: z.number() })
    const common = {
      name: "pay",
      description: "Pays an amount.",
      input,
      effect: "write" as const,
      inverse: false as const,
      preview: ({ amount }: { amount: number }) => ({ summary: `Pay ${amount}`, action: "safe_create" as const }),
    }
    const pay = ({ amount }: { amount: number }, callId: CallId | undefined) => {
      const before = callId && this.#seen.get(callId)
      if (before) return answer(before)
      this.paid.push(amount)
      if (callId) this.#seen.set(callId, `Paid ${amount}.`)
      return answer(`Paid ${amount}.`)
    }
    const balance = defineTool({
      name: "balance",
      description: "Tells the balance of an account.",
      input: z.object({ account: z.string() }),
      effect: "read",
      afterCrash: "run-again",
      run: ({ account }) => answer(`${account}: 100`),
    })
    if (afterCrash === "in-doubt") {
      // This target keeps no ledger: two calls pay twice.
      return [balance, defineTool({ ...common, afterCrash, run: (given) => pay(given, undefined) })]
    }
    if (afterCrash === "run-again")
      return [balance, defineTool({ ...common, afterCrash, run: (given, { callId }) => pay(given, callId) })]
    const outcome = (callId: CallId) => {
      const before = this.#seen.get(callId)
      return before ? answer(before) : ("not-applied" as const)
    }
    // `run` has no ledger: only the question before a retry keeps it from paying twice.
    const run = (given: { amount: number }, { callId }: { callId: CallId }) => {
      this.paid.push(given.amount)
      this.#seen.set(callId, `Paid ${given.amount}.`)
      return answer(`Paid ${given.amount}.`)
    }
    return [balance, defineTool({ ...common, afterCrash, outcome, run })]
  }
}

/** Two reads and two writes in one reply, then text. It answers from the history alone, so a restart changes nothing. */
export const payingModel = () => scripted(always(reply))

function reply({ history }: ModelRequest): Script {
  if (history.at(-1)?.role === "tool") return says("All settled.", { chunks: 3 })
  return calls(
    ["balance", { account: "a" }],
    ["balance", { account: "b" }],
    ["pay", { amount: 1 }],
    ["pay", { amount: 2 }],
  )
}

/** A person who wants 1 paid and 2 not, and repeats: resends what was not acknowledged, decides each question. */
export class Payer {
  readonly #bank: Bank
  /** The payments that this person got acknowledged. */
  readonly acknowledged: string[] = []
  #conversation: ConversationId | undefined

  constructor(bank: Bank) {
    this.#bank = bank
  }

  /** Retries until the run is over, or the world dies. */
  async insist(world: World): Promise<ConversationId> {
    const id = (this.#conversation ??= await this.#ask(world))
    for (let round = 0; round < 20; round++) {
      await world.pawl.runtime.rest(id)
      const conversation = await world.load(id)
      if (conversation.run?.status !== "running") return id
      for (const { proposed, status } of conversation.proposals.values()) {
        if (status === "in_doubt") await this.#resolve(world, id, proposed.id)
        if (status === "pending") await this.#decide(world, id, proposed)
      }
    }
    const conversation = await world.load(id)
    throw new Error(`no end in sight: ${conversationStatus(conversation)} ${JSON.stringify(await world.types(id))}`)
  }

  async #ask(world: World): Promise<ConversationId> {
    const sql = "SELECT conversation_id AS id FROM messages WHERE role = 'user'"
    const [known] = await world.store.engine.query<{ id: ConversationId }>(sql, [])
    if (known) return known.id // the answer was lost, not the message
    const { id } = await world.pawl.runtime.begin({ user: world.user, agent: "test" }, message("Pay 1, not 2."))
    this.acknowledged.push("message")
    return id
  }

  async #decide(
    world: World,
    id: ConversationId,
    proposed: { id: Parameters<World["decide"]>[1]; summary: string },
  ): Promise<void> {
    const decision = proposed.summary === "Pay 1" ? "commit" : "reject"
    try {
      await world.decide(id, proposed.id, decision)
      this.acknowledged.push(decision)
    } catch (error) {
      if (!hasCode(error, "proposal_decided")) throw error // decided before, though the answer was lost
    }
  }

  async #resolve(world: World, id: ConversationId, proposalId: Parameters<World["decide"]>[1]): Promise<void> {
    const choice = this.#bank.paid.includes(1) ? "done" : "retry"
    await world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice, by: world.user })
  }
}
