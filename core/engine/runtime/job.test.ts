import { expect, test } from "vitest"
import { newId } from "../../protocol/ids.ts"
import { TurnedClock } from "../turned-clock.fixture.ts"
import { Job } from "./job.ts"

const limits = { runSeconds: 60, restarts: 3, replyCharacters: 1000 }

function openJob() {
  const clock = new TurnedClock()
  return { clock, job: new Job(newId("conv"), clock, limits) }
}

test("the time of a run does not count while one of its calls waits for another party", () => {
  const { clock, job } = openJob()
  const signal = job.signalFor(newId("run"), 0)
  const goOn = job.pause()
  clock.turn(600_000)
  expect(signal.aborted).toBe(false)
  goOn()
  clock.turn(59_999)
  expect(signal.aborted).toBe(false)
  clock.turn(1)
  expect(signal.reason).toBe("run_timeout")
})

test("a call of the previous run that still waits does not pause the next run", () => {
  const { clock, job } = openJob()
  job.signalFor(newId("run"), 0)
  const goOn = job.pause()
  const signal = job.signalFor(newId("run"), 0)
  clock.turn(30_000)
  goOn()
  clock.turn(30_000)
  expect(signal.reason).toBe("run_timeout")
})
