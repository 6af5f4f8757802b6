/**
 * What a program does that embeds Pawl: a question, a tool that reads and one that writes, and in the next process, or what is
 * like one, the yes of a person. `node scripts/first-answers.ts DIST DATABASE`, for `rehearse.ts`.
 */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { z } from "zod"

const [dist = "", database = ""] = process.argv.slice(2)
const built = (name: string) => import(pathToFileURL(join(dist, name)).href)
const { defineTool, openPawl } = (await built("index.js")) as typeof import("../src/index.ts")
const { calls, says, scripted } = (await built("testing.js")) as typeof import("../src/testing.ts")

const part = z.object({ part: z.string() })
const count = defineTool({
  name: "count",
  description: "Counts.",
  input: part,
  effect: "read",
  run: () => ({ pieces: 40 }),
})
const take = defineTool({
  name: "take",
  description: "Takes one.",
  input: part,
  effect: "write",
  preview: () => ({ summary: "Take one", action: "safe_update", target: "bolt", revision: "40" }),
  run: () => "Taken.",
})
const agents = [{ name: "stock", instructions: "Keep the stock.", tools: [count, take] }]
const store = { url: `file:${database}` }

const waiting = await (async () => {
  const models = scripted(calls("count", { part: "bolt" }), says("There are 40."), calls("take", { part: "bolt" }))
  await using pawl = await openPawl({ store, agents, models })
  const { conversationId } = await pawl.ask("How many?")
  return await pawl.ask("Take one.", { conversation: conversationId })
})()
await using pawl = await openPawl({ store, agents, models: scripted(says("Done.")) })
if (waiting.status !== "waiting") throw new Error(`The rehearsal has gone wrong: ${JSON.stringify(waiting)}`)
for (const { id } of waiting.proposals) await pawl.proposals.approve(id)
const answer = await pawl.answer(waiting.conversationId)
if (answer.status !== "answered") throw new Error(`The rehearsal has gone wrong: ${JSON.stringify(answer)}`)
