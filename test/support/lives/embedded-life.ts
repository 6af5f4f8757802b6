import { appendFileSync } from "node:fs"
import { z } from "zod"
import { answer, defineAgent, defineTool, type Model, newId, openPawl, type ReplyPart } from "../../../src/index.ts"

/** A program that embeds Pawl. `node embedded-life.ts <database url> <file of what was done> [begin]` */
const [url = "", done = "", begin] = process.argv.slice(2)

const mark = defineTool({
  name: "mark",
  description: "Marks.",
  input: z.object({}),
  effect: "read",
  afterCrash: "run-again",
  async run() {
    appendFileSync(done, "mark\n")
    if (!begin) return answer("Marked.")
    process.stdout.write("in the tool\n")
    return new Promise(() => setInterval(() => {}, 1000)) // until somebody kills us
  },
})

async function* stream({ history }: Parameters<Model["stream"]>[0]): AsyncGenerator<ReplyPart> {
  const isAnswered = history.at(-1)?.role === "tool"
  if (isAnswered) appendFileSync(done, "answered\n")
  if (isAnswered) yield { type: "text", text: "Done." }
  else yield { type: "call", name: "mark", input: "{}" }
  yield {
    type: "finish",
    finish: isAnswered ? "stop" : "calls",
    usage: { inputTokens: null, outputTokens: null },
  }
}

const agents = [defineAgent({ name: "marker", description: "Marks.", instructions: "Mark.", tools: [mark] })]
const models: Model = { name: "m", provider: "test", contextTokens: 10_000, stream }
const pawl = await openPawl({ store: { url }, agents, models })
if (begin) {
  const { id: user } = await pawl.store.people.ensure("ada", Date.now())
  await pawl.runtime.begin({ user, agent: "marker" }, { type: "message", id: newId("msg"), text: "Go.", when: "queue" })
} else if (process.env.PAWL_TEST_WAITS) {
  process.stdin.resume().on("end", () => void pawl[Symbol.asyncDispose]().then(() => process.stdout.write("closed\n")))
}
process.stdout.write("open\n")
