import { expect, test } from "vitest"
import { TurnedClock } from "../../../test/support/loop/world.ts"
import { pulseOf } from "./keep-alive.ts"

test("each beats every seven seconds from when it joined, by one alarm, which stops with the last", async () => {
  const clock = new TurnedClock()
  let alarms = 0
  const { alarm } = clock
  clock.alarm = (ms, ring) => {
    alarms++
    return alarm.call(clock, ms, ring)
  }
  const began = clock.now()
  const beats: Record<string, number[]> = { early: [], late: [] }
  const join = (name: string) => pulseOf(clock).join(() => beats[name]?.push(clock.now() - began))
  const leaveEarly = join("early")
  await clock.turn(3000)
  const leaveLate = join("late")
  await clock.turn(18_000)
  expect(beats).toEqual({ early: [7000, 14_000, 21_000], late: [10_000, 17_000] })
  leaveEarly()
  leaveEarly() // once is enough, twice no harm
  await clock.turn(7000)
  expect(beats.early).toHaveLength(3)
  expect(beats.late).toHaveLength(3)
  leaveLate()
  alarms = 0
  await clock.turn(60_000)
  expect(alarms).toBe(0)
})
