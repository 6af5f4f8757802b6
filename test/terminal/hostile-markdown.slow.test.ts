import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { build } from "rolldown"
import { afterAll, beforeAll, expect, test } from "vitest"
import { REPLY_CHARACTERS } from "../../core/engine/ask/reply.ts"
import { MAX_READING_COST, readingCost } from "../../client/reading-cost.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { isLong, oneIn, seedOf } from "../support/sizes.ts"
import { slowMarkdown } from "../support/slow-texts.ts"

/** Some of these never ended, in the browser and here; the slowest takes a few seconds on a busy machine. */
const DEADLINE = 60_000

/** Text beyond the limit is drawn as it is, and takes no longer if it is longer; a quarter of the length shows that too. */
const LENGTH = isLong ? REPLY_CHARACTERS : REPLY_CHARACTERS / 4

/** The longest texts below the limit take most of the time, so the usual run draws an eighth of them, chosen by the seed. */
const SEED = seedOf("PAWL_FUZZ_SEED")
const texts = slowMarkdown(LENGTH).map(([name, text], at) => ({ name, text, isRead: isLong || at % 8 === SEED % 8 }))

let program: string
/** Draws texts one after the other, in a process that is killed if it does not end. */
let artist: Artist | undefined

interface Artist {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly ended: Promise<string>
}

beforeAll(async () => {
  program = join(dataFolder(), "draw-markdown.mjs")
  await build({
    input: join(import.meta.dirname, "./draw-markdown.ts"),
    platform: "node",
    logLevel: "silent",
    output: { file: program, format: "esm", codeSplitting: false },
  })
})
afterAll(async () => {
  artist?.child.stdin.end()
  await artist?.ended
})

test.each(oneIn(4, texts))("a reply of any length is drawn that contains only $name", async ({ text, isRead }) => {
  expect(await draw([text, ...(isRead ? [longestRead(text)] : [])])).toMatch(/^drawn \d/)
})

/** The longest prefix of a text that is still read as markdown, found by bisection. */
function longestRead(text: string): string {
  let [low, high] = [0, text.length + 1]
  while (high - low > 1 + low / 50) {
    const middle = (low + high) >> 1
    if (readingCost(text.slice(0, middle)) <= MAX_READING_COST) low = middle
    else high = middle
  }
  return text.slice(0, low)
}

/** Returns the output, or that drawing did not end. The deadline catches drawings that would take hours; it does not bound time. */
async function draw(texts: readonly string[]): Promise<string> {
  const { child, ended } = (artist ??= begin())
  const late = setTimeout(() => child.kill("SIGKILL"), DEADLINE)
  const said = once(child.stdout, "data").then(([line]) => String(line))
  child.stdin.write(`${JSON.stringify(texts)}\n`)
  const received = await Promise.race([said, ended])
  clearTimeout(late)
  return received
}

/** As published: React's development build is slower. */
function begin(): Artist {
  const env = { ...process.env, NODE_ENV: "production" }
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "inherit"] })
  child.stdin.on("error", () => {}) // it was ended while it was given its text
  const ended = once(child, "close").then(() => {
    artist = undefined
    return `ended by ${child.signalCode ?? child.exitCode}`
  })
  return { child, ended }
}
