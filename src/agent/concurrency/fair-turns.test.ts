import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { FairTurns } from "./fair-turns.ts"

const [ada, bob] = ["user_ada", "user_bob"]
const workFor = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test("what takes little is begun many in a turn, so that what is written for it is written together", async () => {
  const turns = new FairTurns()
  expect(turns.enter(ada)).toBeUndefined()
  workFor(25)
  let begun = 0
  for (let i = 0; i < 200; i++) void turns.enter(ada)?.then(() => begun++)
  let taken = 0
  for (; begun < 200 && taken < 200; taken++) await nextTurn()
  expect(begun).toBe(200)
  expect(taken).toBeLessThan(50)
})

test("what takes long is begun one in a turn, each person's in turn, also with those that come meanwhile", async () => {
  const turns = new FairTurns()
  void turns.enter(ada)
  workFor(25)
  const begun: string[] = []
  const ask = (user: string, name: string) =>
    turns.enter(user)?.then(() => {
      begun.push(name)
      workFor(25)
    })
  const first = [ask(ada, "a1"), ask(ada, "a2"), ask(ada, "a3"), ask(bob, "b1")]
  await nextTurn()
  const most = begun.length
  const later = ask(bob, "b2")
  await Promise.all([...first, later])
  expect(most).toBeLessThan(3)
  expect(begun).toEqual(["a1", "b1", "a2", "b2", "a3"])
  await nextTurn()
  await nextTurn()
  expect(turns.enter(ada), "who comes later does not wait").toBeUndefined()
})
