import { expect, test } from "vitest"
import { FairQueue } from "./fair-queue.ts"

const { signal } = new AbortController()

/** Work that ends when it is told to, and notes that it began. */
function bench(queue: FairQueue) {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const start = (person: string, job: string, until: AbortSignal = signal) =>
    queue.run(person, until, () => {
      began.push(job)
      return new Promise<void>((resolve) => ends.set(job, resolve))
    })
  const end = async (job: string) => {
    ends.get(job)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { began, start, end }
}

test("people have turns: nobody waits behind all that somebody else wants", async () => {
  const { began, start, end } = bench(new FairQueue({ atOnce: 1, perPerson: 1, waiting: 5 }))
  const jobs = [start("ada", "a1"), start("ada", "a2"), start("ada", "a3"), start("bo", "b1"), start("cy", "c1")]
  for (const job of ["a1", "a2", "b1", "c1", "a3"]) await end(job)
  expect(began).toEqual(["a1", "a2", "b1", "c1", "a3"])
  await Promise.all(jobs)
})

test("one person does not take every place, and no more run than may", async () => {
  const { began, start, end } = bench(new FairQueue({ atOnce: 2, perPerson: 1, waiting: 5 }))
  const jobs = [start("ada", "a1"), start("ada", "a2"), start("bo", "b1"), start("cy", "c1")]
  expect(began).toEqual(["a1", "b1"])
  // Somebody who comes in the very moment in which a place is given to another does not get it as well.
  const ending = end("b1")
  jobs.push(start("dee", "d1"))
  await ending
  expect(began).toEqual(["a1", "b1", "c1"])
  for (const job of ["a1", "a2", "c1", "d1"]) await end(job)
  await Promise.all(jobs)
})

test("whoever has enough waiting is told, and whoever leaves is forgotten", async () => {
  const { began, start, end } = bench(new FairQueue({ atOnce: 1, perPerson: 1, waiting: 1 }))
  const first = start("ada", "a1")
  const leaving = new AbortController()
  const second = start("ada", "a2", leaving.signal)
  await expect(start("ada", "a3")).rejects.toMatchObject({ code: "too_many" })
  leaving.abort(new Error("gone"))
  await expect(second).rejects.toThrow("gone")
  const third = start("ada", "a4")
  await end("a1")
  await end("a4")
  await Promise.all([first, third])
  expect(began).toEqual(["a1", "a4"])
})

test("work that fails gives its place up", async () => {
  const queue = new FairQueue({ atOnce: 1, perPerson: 1, waiting: 1 })
  await expect(queue.run("ada", signal, () => Promise.reject(new Error("no")))).rejects.toThrow("no")
  expect(await queue.run("ada", signal, async () => "next")).toBe("next")
})

test("what goes on after its answer keeps the place of its person, and of nobody else", async () => {
  const queue = new FairQueue({ atOnce: 1, perPerson: 1, waiting: 5 })
  let end = () => {}
  const gone = new Promise<void>((resolve) => (end = resolve))
  expect(await queue.run("ada", signal, async (keep) => (keep(gone), "answered"))).toBe("answered")
  const began: string[] = []
  const next = queue.run("ada", signal, async () => void began.push("ada"))
  await queue.run("bo", signal, async () => void began.push("bo"))
  expect(began).toEqual(["bo"])
  end()
  await next
  expect(began).toEqual(["bo", "ada"])
})
