import { expect, test } from "vitest"
import { onceMore, Semaphore } from "./locks.ts"

test("a limited number of tasks runs at a time, the others in order, and a failed one frees its slot", async () => {
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

test("requests during the work are answered by one repetition for all of them", async () => {
  const ends: (() => void)[] = []
  const work = onceMore(() => new Promise<void>((resolve) => ends.push(resolve)))
  const first = work()
  await expect.poll(() => ends.length).toBe(1)
  const others = [work(), work()]
  ends[0]?.()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  await Promise.all([first, ...others])
  expect(ends).toHaveLength(2)
})

test("no request is lost, at whatever moment of the end it comes", async () => {
  for (let moments = 0; moments < 12; moments++) {
    let [said, seen] = ["before", ""]
    const read = onceMore(async () => {
      const now = said
      await Promise.resolve()
      seen = now
    })
    void read()
    for (let moment = 0; moment < moments; moment++) await Promise.resolve()
    said = "after"
    await read()
    expect([moments, seen]).toEqual([moments, "after"])
  }
})

test("a failure is thrown, and the next request starts again", async () => {
  let tries = 0
  const work = onceMore(async () => {
    await Promise.resolve()
    if (++tries === 1) throw new Error("away")
  })
  const failed = work()
  await expect(failed).rejects.toThrow("away")
  await work()
  expect(tries).toBe(2)
})

test("a failure is not thrown if a repetition succeeds", async () => {
  let tries = 0
  const work = onceMore(async () => {
    await Promise.resolve()
    if (++tries === 1) throw new Error("away")
  })
  await Promise.all([work(), work()])
  expect(tries).toBe(2)
})
