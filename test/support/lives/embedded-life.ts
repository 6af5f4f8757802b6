import { appendFileSync } from "node:fs"
import { z } from "zod"
import { defineTool, type Model, openPawl } from "../../../core/index.ts"

/** A program that embeds Pawl. `node embedded-life.ts <database url> <file of what was done> [begin]` */
const [url = "", done = "", begin] = process.argv.slice(2)

const mark = defineTool({
  name: "mark",
  description: "Marks.",
  input: z.object({}),
  effect: "read",
  async run() {
    appendFileSync(done, "mark\n")
    if (!begin) return "Marked."
    process.stdout.write("in the tool\n")
    return new Promise<string>(() => setInterval(() => {}, 1000)) // until the test kills this process
  },
})

async function* stream({ history }: Parameters<Model["stream"]>[0]): ReturnType<Model["stream"]> {
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

const models: Model = { name: "m", provider: "test", contextTokens: 10_000, stream }
const pawl = await openPawl({ store: url, agents: [{ name: "marker", instructions: "Mark.", tools: [mark] }], models })
if (begin) void pawl.ask("Go.", { key: "go" })
else if (process.env.PAWL_TEST_WAITS) {
  // A caller that cannot know what the crash left asks the same again with its key.
  const { status, text } = await pawl.ask("Go.", { key: "go" })
  appendFileSync(done, `${status}: ${text}\n`)
  process.stdin.resume().on("end", () => void pawl.close().then(() => process.stdout.write("closed\n")))
}
process.stdout.write("open\n")
