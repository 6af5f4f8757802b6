import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { FairQueue, FairTurns } from "./fair-queue.ts"

const { signal } = new AbortController()
const tooMany = (most: number) => new Error(`at most ${most} may wait`)

/** Tasks that end when `end` is called, and the order in which they started. */
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

test("users have turns, so one user with many tasks does not delay the others", async () => {
  const { began, start, end } = bench(new FairQueue({ atOnce: 1, perPerson: 1, waiting: 5, tooMany }))
  const jobs = [start("ada", "a1"), start("ada", "a2"), start("ada", "a3"), start("bo", "b1"), start("cy", "c1")]
  for (const job of ["a1", "a2", "b1", "c1", "a3"]) await end(job)
  expect(began).toEqual(["a1", "a2", "b1", "c1", "a3"])
  await Promise.all(jobs)
})

test("one user does not take every slot, and the limit holds", async () => {
  const { began, start, end } = bench(new FairQueue({ atOnce: 2, perPerson: 1, waiting: 5, tooMany }))
  const jobs = [start("ada", "a1"), start("ada", "a2"), start("bo", "b1"), start("cy", "c1")]
  expect(began).toEqual(["a1", "b1"])
  // A task that arrives while the slot is passed on does not get it as well.
  const ending = end("b1")
  jobs.push(start("dee", "d1"))
  await ending
  expect(began).toEqual(["a1", "b1", "c1"])
  for (const job of ["a1", "a2", "c1", "d1"]) await end(job)
  await Promise.all(jobs)
})

test("a user with too many waiting tasks is refused, and an aborted task leaves the queue", async () => {
  const { began, start, end } = bench(new FairQueue({ atOnce: 1, perPerson: 1, waiting: 1, tooMany }))
  const first = start("ada", "a1")
  const leaving = new AbortController()
  const second = start("ada", "a2", leaving.signal)
  await expect(start("ada", "a3")).rejects.toThrow("at most 1 may wait")
  leaving.abort(new Error("gone"))
  await expect(second).rejects.toThrow("gone")
  const third = start("ada", "a4")
  await end("a1")
  await end("a4")
  await Promise.all([first, third])
  expect(began).toEqual(["a1", "a4"])
})

test("a failed task frees its slot", async () => {
  const queue = new FairQueue({ atOnce: 1, perPerson: 1, waiting: 1, tooMany })
  await expect(queue.run("ada", signal, () => Promise.reject(new Error("no")))).rejects.toThrow("no")
  expect(await queue.run("ada", signal, async () => "next")).toBe("next")
})

test("a task that continues after its answer occupies its user's slot, and no other user's", async () => {
  const queue = new FairQueue({ atOnce: 1, perPerson: 1, waiting: 5, tooMany })
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

const [ada, bob] = ["user_ada", "user_bob"]
const workFor = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test("many short tasks start in one turn, so that their writes are grouped", async () => {
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

test("long tasks start one per turn, taking users in turn, including tasks that arrive meanwhile", async () => {
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
