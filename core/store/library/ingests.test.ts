import { expect, test } from "vitest"
import { systemClock } from "../../shared/time/clock.ts"
import { newId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { SqlIngests } from "./ingests.ts"

test("listeners are notified, also after another one has unsubscribed twice", () => {
  const ingests = new SqlIngests({} as Engine, "words", systemClock) // nothing is read here
  const user = newId("user")
  const told: string[] = []
  const leave = ingests.watch(user, () => told.push("first"))
  leave()
  const leaveLater = ingests.watch(user, () => told.push("second"))
  leave() // a stream is closed when it is revoked, and again when its connection ends
  ingests.tell(user)
  leaveLater()
  ingests.tell(user)
  expect(told).toEqual(["second"])
})
