import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { describe, expect, test } from "vitest"
import { anyDatabase } from "../support/databases.ts"
import { lifeNamed } from "../support/processes/package.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { seedOf, sizes } from "../support/sizes.ts"

const script = lifeNamed("sub-agents-life")
const env = { PATH: process.env.PATH }
/** The usual duration of a process that is not killed. */
const LIFE_MS = 1500

/** Random numbers from 0 to 1, the same for the same seed. */
function* dice(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

describe.each(anyDatabase)("sub-agents on $name", { timeout: 30 * 60_000 }, ({ create }) => {
  test("killed at random moments pay each invoice once, and leave no orphan and no open question", async () => {
    const random = dice(seedOf("PAWL_KILL_ROUNDS_SEED"))
    for (let kills = 0; kills < sizes.killRounds;) {
      await using database = await create()
      const payments = join(dataFolder(), "payments")
      writeFileSync(payments, "")
      for (let ended = false, lives = 1; !ended; lives++) {
        const life = spawn(process.execPath, [script, database.url, payments], {
          env,
          stdio: ["ignore", "pipe", "inherit"],
        })
        const output = text(life.stdout)
        // Later processes get more time, so that the conversation ends although most of the time is startup.
        const kill = setTimeout(() => life.kill("SIGKILL"), random.next().value * LIFE_MS * lives)
        const [code, signal] = (await once(life, "exit")) as [number | null, string | null]
        clearTimeout(kill)
        if (signal === "SIGKILL") kills++
        else expect(code).toBe(0)
        const last = (await output).trim().split("\n").at(-1) ?? ""
        ended = last.startsWith("{")
        if (ended) expect(JSON.parse(last)).toMatchObject({ status: "answered", conversations: 3, open: 0 })
      }
      const paid = readFileSync(payments, "utf8").trim().split("\n")
      expect(paid.map((line) => line.split(" ")[0]).sort()).toEqual(["7", "8"])
    }
  })
})
