import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { text as readAll } from "node:stream/consumers"
import { build } from "rolldown"
import { beforeAll, expect, test } from "vitest"
import { REPLY_CHARACTERS } from "../../src/agent/ask/stream-reply.ts"
import { MAX_READING_COST, readingCost } from "../../src/client/reading-cost.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { slowMarkdown } from "../support/slow-texts.ts"

/** Some of these took for ever, in the browser as here; the slowest takes a few seconds on a machine with other work. */
const DEADLINE = 60_000

let program: string

beforeAll(async () => {
  program = join(dataFolder(), "draw-markdown.mjs")
  await build({
    input: join(import.meta.dirname, "../support/processes/draw-markdown.ts"),
    platform: "node",
    logLevel: "silent",
    output: { file: program, format: "esm", codeSplitting: false },
  })
})

test.each(slowMarkdown(REPLY_CHARACTERS))("a reply is drawn, however long, that is nothing but %s", async (_, text) => {
  expect(await draw([text, longestRead(text)])).toMatch(/^drawn \d/)
})

/** The longest beginning of a text that is still read as markdown, found by halves. */
function longestRead(text: string): string {
  let [low, high] = [0, text.length + 1]
  while (high - low > 1 + low / 50) {
    const middle = (low + high) >> 1
    if (readingCost(text.slice(0, middle)) <= MAX_READING_COST) low = middle
    else high = middle
  }
  return text.slice(0, low)
}

/** What it said, or that it did not end. The deadline is the judge of what would go on for hours, not a bound on time. */
async function draw(texts: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] })
  const late = setTimeout(() => child.kill("SIGKILL"), DEADLINE)
  const said = readAll(child.stdout)
  child.stdin.on("error", () => {}) // it was ended while it was given its text
  child.stdin.end(JSON.stringify(texts))
  await once(child, "exit")
  clearTimeout(late)
  return child.signalCode ? `ended by ${child.signalCode}` : await said
}
