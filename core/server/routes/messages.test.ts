import { expect, test } from "vitest"
import type { JournalEvent } from "../../protocol/events.ts"
import { newId } from "../../protocol/ids.ts"
import { followRun } from "./messages.ts"

let position = 0
const event = (type: JournalEvent["type"], fields: object = {}) =>
  ({ type, version: 1, position: ++position, at: 0, ...fields }) as JournalEvent
const started = () => event("run_started", { runId: newId("run"), maxIterations: 5 })
const ended = (status: string) => event("run_ended", { status })

test("a run is over when the next one starts, not at its last event, because its conversation is still busy then", () => {
  const message = newId("msg")
  const run = followRun(message)
  const start = started()
  const events = [start, event("message", { id: message }), event("message"), ended("completed")]
  expect(events.map(run.isOver)).toEqual([false, false, false, false])
  expect(run.isOver(started())).toBe(true)
  expect([run.started, run.ended?.status]).toEqual([start, "completed"])
})

test("the run that a message replaces is not the one that it starts", () => {
  const message = newId("msg")
  const run = followRun(message)
  const start = started()
  const events = [ended("cancelled"), start, event("message", { id: message })]
  expect(events.map(run.isOver)).toEqual([false, false, false])
  expect([run.started, run.ended]).toEqual([start, undefined])
})

test("without a message it is the current run, or the next one to start", () => {
  const underWay = followRun()
  expect([ended("cancelled"), started()].map(underWay.isOver)).toEqual([false, true])
  expect([underWay.started, underWay.ended?.status]).toEqual([undefined, "cancelled"])
  const next = followRun()
  const start = started()
  expect([start, ended("failed")].map(next.isOver)).toEqual([false, false])
  expect([next.started, next.ended?.status]).toEqual([start, "failed"])
})
