import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { expect, onTestFinished, test } from "vitest"
import { always, says } from "../../core/testing.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { goOn, openHalfOpen, stop } from "../support/lives/half-open.ts"

const STEP_MS = 100
const STEPS_TO_A_LOOK = 5

/**
 * A process that answers each line. If the clock advances only after its answer, other processes have had their turn too,
 * however busy the machine is, so no process is late only because it was not scheduled.
 */
function openEcho() {
  const child = spawn(process.execPath, ["-e", "process.stdin.pipe(process.stdout)"], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const lines = createInterface(child.stdout)
  onTestFinished(() => void child.kill())
  return async () => {
    const answered = once(lines, "line")
    child.stdin.write("\n")
    await answered
  }
}

test(
  "while time passes in small steps, responding peers stay and stopped ones are disconnected within 40 s",
  {
    timeout: 180_000,
  },
  async () => {
    const clock = new TurnedClock()
    const othersRun = openEcho()
    await using world = await openHalfOpen(clock, always(says("Hello.")))
    const device = await world.device()
    const id = await world.ada.begin({ agent: "test" })
    const watcher = await world.watcher(id)
    const there = async () => [(await world.ada.get("/api/devices")).body.items.length, await world.openStreams()]
    /** Lets this much time pass, and checks now and then. */
    async function pass(ms: number, look: (seen: number[]) => void): Promise<void> {
      for (let step = 1; step <= ms / STEP_MS; step++) {
        await clock.turn(STEP_MS)
        await othersRun()
        if (step % STEPS_TO_A_LOOK === 0) look(await there())
      }
    }
    await pass(75_000, (seen) => expect(seen).toEqual([1, 2])) // two rounds of pings
    await stop(device)
    await stop(watcher)
    // A ping every 30 s and 10 s for the answer; a peer that does not close its end is cut off 2 s later.
    await pass(42_000, () => {})
    await expect.poll(there).toEqual([0, 0])
    goOn(device)
    goOn(watcher)
    await expect.poll(there, { timeout: 60_000 }).toEqual([1, 2])
  },
)
