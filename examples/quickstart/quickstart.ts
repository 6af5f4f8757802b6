import { createInterface } from "node:readline/promises"
import { defineTool, openPawl } from "pawl"
import { z } from "zod"

const pay = defineTool({
  name: "pay_invoice",
  description: "Pays an invoice.",
  effect: "write", // waits for approval
  input: z.object({ invoice: z.string(), euros: z.number() }),
  preview: ({ invoice, euros }) => ({ summary: `Pay ${invoice}: ${euros} euros`, action: "safe_create" }),
  run: ({ invoice, euros }) => `Paid ${euros} euros for invoice ${invoice}.`,
})
const agents = [{ name: "clerk", instructions: "You pay invoices.", tools: [pay] }]
const { ANTHROPIC_API_KEY: apiKey, OLLAMA_HOST: baseUrl = "http://127.0.0.1:11434" } = process.env
await using pawl = await openPawl({ agents, models: apiKey ? { anthropic: { apiKey } } : { ollama: { baseUrl } } })
const answer = await pawl.ask("Pay invoice 2041: 90 euros.")
using terminal = createInterface(process.stdin, process.stdout)
for (const { id, summary } of answer.status === "waiting" ? answer.proposals : []) {
  const yes = (await terminal.question(`${summary}? [y/N] `)) === "y"
  await (yes ? pawl.proposals.approve(id) : pawl.proposals.reject(id))
}
console.log((await pawl.answer(answer.conversationId)).text)
