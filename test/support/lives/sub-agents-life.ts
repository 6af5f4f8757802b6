import { appendFileSync, readFileSync } from "node:fs"
import { z } from "zod"
import { agentTool, defineTool, type Model, openPawl } from "../../../core/index.ts"
import "./keep-compiled.ts"

/**
 * A program whose agent asks two sub-agents at once; each pays an invoice. The program approves both
 * payments. A test can kill it at any time and start it again:
 * `node sub-agents-life.ts <database url> <file of payments>`.
 */
const [url = "", payments = ""] = process.argv.slice(2)

const pay = defineTool({
  ...{ name: "pay", description: "Pays.", effect: "write" as const, input: z.object({ invoice: z.string() }) },
  run({ invoice }, { callId }) {
    appendFileSync(payments, `${invoice} ${callId}\n`)
    return `Paid ${invoice}.`
  },
})

/** The boss asks about two invoices, a clerk pays the one of its task, and both report their results. */
async function* stream({ history, tools }: Parameters<Model["stream"]>[0]): ReturnType<Model["stream"]> {
  const last = history.at(-1)
  const isClerk = tools.some(({ name }) => name === "pay")
  const calls: [name: string, input: object][] =
    last?.role !== "user"
      ? []
      : isClerk
        ? [["pay", { invoice: last.text }]]
        : ["7", "8"].map((task) => ["ask_clerk", { task }])
  for (const [name, input] of calls) yield { type: "call", name, input: JSON.stringify(input) }
  if (last?.role === "tool")
    yield { type: "text", text: last.results.map(({ status, text }) => `${status}: ${text}`).join(" ") }
  const usage = { inputTokens: null, outputTokens: null }
  yield { type: "finish", finish: calls.length > 0 ? "calls" : "stop", usage }
}

const models: Model = { name: "m", provider: "test", contextTokens: 10_000, stream }
const clerk = { name: "clerk", description: "Pays an invoice.", tools: [pay] }
const pawl = await openPawl({ store: url, models, agents: [{ name: "boss", tools: [agentTool(clerk)] }] })
process.stdout.write("open\n")

for (;;) {
  const answer = await pawl.ask("Pay.", { key: "pay" })
  if (answer.status !== "waiting") {
    const { items: conversations } = await pawl.conversations.list()
    const { items: proposals } = await pawl.proposals.list()
    const open = proposals.filter(({ status }) => !["applied", "failed"].includes(status)).length
    process.stdout.write(`${JSON.stringify({ ...answer, conversations: conversations.length, open })}\n`)
    break
  }
  const { items } = await pawl.proposals.list()
  for (const { id, callId, status } of items) {
    const isPaid = () => readFileSync(payments, "utf8").includes(callId)
    if (status === "pending") await pawl.proposals.approve(id)
    if (status === "in_doubt") await pawl.proposals.resolve(id, isPaid() ? "done" : "retry")
  }
}
await pawl.close()
