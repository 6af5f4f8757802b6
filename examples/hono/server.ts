import { readFile } from "node:fs/promises"
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import { streamText } from "hono/streaming"
import { defineTool, openPawl } from "pawl"
import { z } from "zod"

const stock = new Map([["bolt", 40]])

const countStock = defineTool({
  name: "count_stock",
  description: "Returns how many pieces of a part are in stock.",
  effect: "read",
  input: z.object({ part: z.string() }),
  run: ({ part }) => `${stock.get(part) ?? 0} pieces of ${part}.`,
})
const takeFromStock = defineTool({
  name: "take_from_stock",
  description: "Takes pieces of a part from the stock.",
  effect: "write", // waits for approval
  input: z.object({ part: z.string(), pieces: z.number().int().positive() }),
  preview: ({ part, pieces }) => ({ summary: `Take ${pieces} of ${part}`, action: "safe_update" }),
  run({ part, pieces }) {
    stock.set(part, (stock.get(part) ?? 0) - pieces)
    return `${stock.get(part)} pieces of ${part} are left.`
  },
})

const { ANTHROPIC_API_KEY: apiKey, OLLAMA_HOST: baseUrl = "http://127.0.0.1:11434", PORT = "3000" } = process.env
const pawl = await openPawl({
  agents: [{ name: "stock", instructions: "You keep the stock.", tools: [countStock, takeFromStock] }],
  models: apiKey ? { anthropic: { apiKey } } : { ollama: { baseUrl } },
})
const app = new Hono()

/** Your own sign-in goes here. Each user has their own conversations and approvals. */
await pawl.people.create("ada")
const userOf = (_request: Request) => pawl.as("ada")

app.get("/", async (c) => c.html(await readFile(new URL("index.html", import.meta.url), "utf8")))

/** Streams a line of JSON for each piece of the reply, and at the end one with the outcome. */
app.post("/chat", async (c) => {
  const { text, conversation } = await c.req.json<{ text: string; conversation?: string }>()
  const events = userOf(c.req.raw).stream(text, { conversation })
  return streamText(c, async (stream) => {
    for (;;) {
      const { done, value } = await events.next()
      if (done) return void (await stream.writeln(JSON.stringify({ answer: value })))
      if (value.type === "text_delta") await stream.writeln(JSON.stringify({ text: value.data.text }))
    }
  })
})

/** Waits for the latest run of a conversation, for example after a decision. */
app.get("/chat/:id", async (c) => c.json(await userOf(c.req.raw).answer(c.req.param("id"))))

/** Decides about a write and returns its outcome. Of two decisions at the same time, one counts. */
app.post("/proposals/:id", async (c) => {
  const { approve } = await c.req.json<{ approve: boolean }>()
  const { proposals } = userOf(c.req.raw)
  return c.json(await (approve ? proposals.approve(c.req.param("id")) : proposals.reject(c.req.param("id"))))
})

serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => console.log(`listening on http://localhost:${port}`))
