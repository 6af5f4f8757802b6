/**
 * A server as a process of its own, so that a test can kill it. It recovers what previous processes left, then starts
 * conversations one after another until it is killed or asked to finish.
 *
 *   node test/support/lives/bank-life.ts '{"url": …, "bank": …, "afterCrash": …, "finish": false, "seed": 1}'
 *
 * It prints each acknowledgement as a line on stdout: whatever is acknowledged must be done.
 */
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { z } from "zod"
import { type Answer, answer, defineTool, type Tool } from "../../../core/engine/definition/tool.ts"
import type { Conversation } from "../../../core/engine/conversation.ts"
import type { Model, ModelRequest, ReplyPart } from "../../../core/engine/model.ts"
import { workspaceAgent } from "../../../packs/workspace/agent.ts"
import { checkRequest } from "../../../core/models/scripted/check-request.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import type { ConversationId, ProposalId } from "../../../core/protocol/ids.ts"
import { dice } from "../sampling.ts"
import type { AfterCrash } from "../../recovery/payments.ts"
import { openWorld, type World } from "../loop/world.ts"
import "./keep-compiled.ts"

interface Life {
  readonly url: string
  readonly bank: string
  readonly afterCrash: AfterCrash
  /** Finish open work, then exit. */
  readonly finish: boolean
  /** Seeds the length of its pauses. */
  readonly seed: number
  /** How often a step may end the process before its run is set aside. */
  readonly restarts?: number
}

const life = JSON.parse(process.argv[2] ?? "{}") as Life
const say = (line: string) => process.stdout.write(`${line}\n`)
const roll = dice(life.seed)
const breath = () => new Promise((resolve) => setTimeout(resolve, roll() * 3))

/** Real time passes while it answers, so that a kill can fall anywhere. */
const model: Model = {
  name: "breathing",
  provider: "test",
  contextTokens: 100_000,
  async *stream(request: ModelRequest): AsyncGenerator<ReplyPart> {
    try {
      checkRequest(request)
    } catch (error) {
      say(`broken-history ${String(error)}`)
      throw error
    }
    await breath()
    const usage = { inputTokens: 1, outputTokens: 1 }
    if (request.history.at(-1)?.role === "tool") {
      for (const text of ["All ", "is ", "settled."]) {
        yield { type: "text", text }
        await breath()
      }
      return yield { type: "finish", finish: "stop", usage }
    }
    yield { type: "call", name: "balance", input: "{}" }
    yield { type: "call", name: "pay", input: '{"wanted":true}' }
    yield { type: "call", name: "create_task", input: '{"title":"Paid"}' }
    await breath()
    yield { type: "call", name: "pay", input: '{"wanted":false}' }
    yield { type: "finish", finish: "calls", usage }
  },
}

const bank = new DatabaseSync(life.bank, { timeout: 5000 })
bank.exec("PRAGMA journal_mode = WAL")
bank.exec("CREATE TABLE IF NOT EXISTS payment (conversation TEXT, call_id TEXT, wanted INTEGER)")

function tools(): Tool[] {
  const paid = (callId: string) => bank.prepare("SELECT 1 FROM payment WHERE call_id = ?").get(callId) !== undefined
  const pay = async (conversation: string, callId: string, wanted: boolean): Promise<Answer> => {
    await breath()
    bank.prepare("INSERT INTO payment VALUES (?, ?, ?)").run(conversation, callId, wanted ? 1 : 0)
    await breath()
    return answer("Paid.")
  }
  const common = {
    name: "pay",
    description: "Pays.",
    input: z.object({ wanted: z.boolean() }),
    effect: "write" as const,
    inverse: false as const,
    preview: ({ wanted }: { wanted: boolean }) => ({
      summary: wanted ? "wanted" : "unwanted",
      action: "safe_create" as const,
    }),
  }
  const balance = defineTool({
    name: "balance",
    description: "Tells the balance.",
    input: z.object({}),
    effect: "read",
    afterCrash: "run-again",
    run: async () => (await breath(), answer("100")),
  })
  const { afterCrash } = life
  if (afterCrash === "ask-target") {
    const outcome = (callId: string) => (paid(callId) ? answer("Paid.") : ("not-applied" as const))
    return [
      balance,
      defineTool({ ...common, afterCrash, outcome, run: ({ wanted }, c) => pay(c.conversation, c.callId, wanted) }),
    ]
  }
  // `run-again` may run twice and must count once; `in-doubt` cannot be checked and would pay twice.
  const run = ({ wanted }: { wanted: boolean }, { conversation, callId }: { conversation: string; callId: string }) =>
    afterCrash === "run-again" && paid(callId) ? answer("Paid.") : pay(conversation, callId, wanted)
  return [balance, defineTool({ ...common, afterCrash, run })]
}

/** A user who wants one payment of two, decides when asked, and checks the bank if a write is in doubt. */
async function settle(world: World, id: ConversationId): Promise<void> {
  for (;;) {
    await world.pawl.runtime.rest(id)
    const conversation = await world.load(id)
    if (conversation.run?.status !== "running") {
      say(`ended ${id} ${conversation.run?.status}`)
      return
    }
    for (const { proposed, status } of conversation.proposals.values()) {
      if (status === "in_doubt" && !isAnswered(conversation, proposed.id)) {
        const done = bank.prepare("SELECT 1 FROM payment WHERE call_id = ?").get(proposed.callId) !== undefined
        const choice = done ? "done" : "retry"
        try {
          await world.pawl.runtime.submit(id, { type: "resolve", proposalId: proposed.id, choice, by: world.user })
        } catch (error) {
          // The last queries of the previous process may reach PostgreSQL after its end, between our check and our
          // answer.
          if (!hasCode(error, "not_in_doubt") || !isAnswered(await world.load(id), proposed.id)) throw error
        }
      }
      if (status !== "pending") continue
      const decision = proposed.summary === "unwanted" ? "reject" : "commit"
      try {
        await world.pawl.runtime.submit(id, { type: "decide", proposalId: proposed.id, decision, by: world.user })
        say(`${decision} ${proposed.id}`)
      } catch (error) {
        if (!hasCode(error, "proposal_decided")) throw error
      }
    }
    await breath()
  }
}

/**
 * Whether a person has resolved a write in doubt. If the writer has failed and its lease has not expired, the inbox
 * stores the resolution: the row of the proposal says `applying` at once, the journal only when another node takes
 * the lease.
 */
function isAnswered({ proposals, inbox }: Conversation, id: ProposalId): boolean {
  const isResolved = inbox.some(({ input }) => input.type === "resolve" && input.proposalId === id)
  return isResolved || proposals.get(id)?.status !== "in_doubt"
}

async function open(world: World): Promise<ConversationId[]> {
  const sql = "SELECT id FROM conversations WHERE status IN ('running', 'awaiting_confirmation')"
  return (await world.store.engine.query<{ id: ConversationId }>(sql, [])).map((row) => row.id)
}

// The test kills the process, not its work: no run may be set aside for that.
const limits = { restarts: life.restarts ?? 1_000 }
// A table of our own in addition to the external bank: a write to it is never in doubt.
const ownTables = workspaceAgent(({ user }) => world.store.workspaceOf(user)).tools.visibleIn("auto")
const all = [...tools(), ...ownTables.filter(({ name }) => name === "create_task")]
const world: World = await openWorld({
  url: life.url,
  model,
  tools: all,
  durability: "full",
  leaseSeconds: 0.15,
  limits,
})
say("ready")
createInterface({ input: process.stdin }).on("close", () => process.exit(9)) // never outlives its parent
// Sweeps as a server does: on PostgreSQL a node counts as failed only after it has been watched for a while.
const sweeping = setInterval(() => void world.pawl.runtime.recover().catch(() => {}), 25)
for (let left = await open(world); left.length > 0; left = await open(world)) {
  await world.pawl.runtime.recover()
  await Promise.all(left.map((id) => settle(world, id)))
}
while (!life.finish) {
  const { id } = await world.start("Pay what I want.")
  say(`message ${id}`)
  await settle(world, id)
}
clearInterval(sweeping)
for (const problem of world.problems) say(`problem ${JSON.stringify(problem)}`)
await world[Symbol.asyncDispose]()
say("finished")
process.exit(0)
