import { describe, expect, test } from "vitest"
import { calls, fails, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { EventType } from "../../../core/protocol/events.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"
import { readFrames } from "../../support/server/stream.ts"
import { write } from "../../support/loop/tools.ts"
import { TurnedClock } from "../../support/loop/world.ts"

const stream = { accept: "text/event-stream" }
const save = calls("save", { q: "a" })

/** Delays the answer to the commit of a row: it is on disk, and its writer does not know yet. */
function holdCommitOf(face: Face, row: EventType) {
  const { journal } = face.pawl.ports
  const [committed, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const append = journal.append.bind(journal)
  Object.assign(journal, {
    append: async (...given: Parameters<typeof append>) => {
      const appended = await append(...given)
      if (!given[1].some(({ type }) => type === row)) return appended
      committed.resolve()
      await go.promise
      return appended
    },
  })
  return { committed: committed.promise, go: () => go.resolve() }
}

describe.each(anyDatabase)("resuming on $name", ({ create }) => {
  test("a run that pauses at this moment is refused, and no stream hangs", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted(save), tools: [write("save")] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const held = holdCommitOf(face, "awaiting_confirmation")
    const first = ada.say(id, "save")
    await held.committed
    const resumed = [stream, {}].map((headers) => ada.post(`/api/conversations/${id}/resume`, {}, headers))
    await new Promise((resolve) => setTimeout(resolve, 50))
    held.go()
    await first
    for (const { status, body } of await Promise.all(resumed)) {
      expect([status, body.code]).toEqual([409, "still_pending"])
    }
  })

  test("a run that fails at this moment is resumed", async () => {
    const model = scripted(fails("refused"), always(says("Better.")))
    await using face = await Face.open({ url: (await create()).url, model })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const held = holdCommitOf(face, "run_ended")
    const first = ada.say(id, "hello")
    await held.committed
    const resumed = ada.send("POST", `/api/conversations/${id}/resume`, { headers: stream })
    await new Promise((resolve) => setTimeout(resolve, 50))
    held.go()
    expect((await first).body.run.status).toBe("failed")
    const frames = await readFrames(await resumed, () => false)
    expect([frames[0]?.type, frames.at(-1)?.data]).toEqual(["run_started", { status: "completed" }])
  })

  test("after one write was done and the time of another ran out, a stream continues to the end as JSON does", async () => {
    const clock = new TurnedClock()
    const model = scripted(calls(["save", { q: "a" }], ["save", { q: "b" }]), says("One of two."))
    await using face = await Face.open({ url: (await create()).url, model, tools: [write("save")], clock })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const { proposals } = (await ada.say(id, "save both")).body
    expect((await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    await face.pawl.runtime.rest(id as never)
    await clock.turn(16 * 60_000)
    const resumed = await ada.send("POST", `/api/conversations/${id}/resume`, { headers: stream })
    const frames = await readFrames(resumed, () => false)
    expect(frames.filter(({ type }) => type === "done").map(({ data }) => data.status)).toEqual(["completed"])
  })

  test("a stream resumes a run that failed before a summary was made, and runs to its end", async () => {
    const model = scripted(says("One."), fails("refused"), says("They spoke."), says("Better."))
    await using face = await Face.open({ url: (await create()).url, model })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "First?")
    expect((await ada.say(id, "Second?")).body.run.status).toBe("failed")
    expect((await ada.post(`/api/conversations/${id}/compact`)).body).toMatchObject({ id })
    await face.pawl.runtime.rest(id as never)
    const resumed = await ada.send("POST", `/api/conversations/${id}/resume`, { headers: stream })
    const frames = await readFrames(resumed, () => false)
    expect(frames.filter(({ type }) => type === "run_started" || type === "compaction")).toHaveLength(1)
    expect(frames.at(-1)?.data).toEqual({ status: "completed" })
    expect(frames.find(({ type }) => type === "message")?.data).toMatchObject({ message: { content: "Better." } })
  })
})
