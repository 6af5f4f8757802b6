import { expect, test } from "vitest"
import { Semaphore } from "./semaphore.ts"

test("so many run at a time, the others in order of asking, and one that fails makes room too", async () => {
  const semaphore = new Semaphore(2)
  const begun: number[] = []
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<number>())
  const done = ends.map(({ promise }, i) =>
    semaphore.run(() => {
      begun.push(i)
      return promise
    }),
  )
  const failing = expect(done[0]).rejects.toThrow("first")
  await Promise.resolve()
  expect(begun).toEqual([0, 1])
  ends[0]?.reject(new Error("first"))
  await failing
  expect(begun).toEqual([0, 1, 2])
  ends[1]?.resolve(1)
  expect(await done[1]).toBe(1)
  expect(begun).toEqual([0, 1, 2, 3])
  for (const end of ends) end.resolve(2)
  expect(await Promise.all(done.slice(2))).toEqual([2, 2])
})
