import { expect, describe, test } from "vitest"
import type { Tool } from "../../../core/engine/definition/tool.ts"
import { changeDatabase } from "../../../packs/analyst/tools/change-database.ts"
import type { DatabaseChange } from "../../../packs/analyst/database/kind.ts"
import { newId } from "../../../core/protocol/ids.ts"
import { openStore } from "../../../core/store/store.ts"
import { databases } from "../../support/databases.ts"

describe.each(databases)("attempts to change a database, on $name", ({ create }) => {
  test("have one holder at a time, and are retried only if they were not applied", async () => {
    await using store = await openStore({ url: (await create()).url, durability: "normal" })
    const { attempts } = store
    const call = newId("call")
    const user = newId("user")
    const whose = { user, connectionId: newId("conn") }
    const done = { mark: "m", answer: "a" }
    const unknown = { code: "outcome_unknown" }

    const first = await attempts.begin(call, whose)
    await expect(attempts.begin(call, whose)).rejects.toMatchObject(unknown)
    expect(await attempts.find(call, user)).toEqual({ connectionId: whose.connectionId, recorded: undefined })
    expect(await attempts.find(call, newId("user"))).toBeUndefined()

    // Considered failed, and released: when the process resumes it can record nothing, so it commits nothing.
    const ticket = await attempts.free(call, whose, undefined)
    await expect(attempts.record(call, first, done)).rejects.toMatchObject(unknown)
    await expect(attempts.begin(call, whose)).rejects.toMatchObject(unknown)
    const second = await attempts.begin(call, whose, ticket)
    await expect(attempts.begin(call, whose, ticket)).rejects.toMatchObject(unknown)
    await expect(attempts.record(call, first, done)).rejects.toMatchObject(unknown)
    await attempts.record(call, second, done)
    await expect(attempts.record(call, second, { mark: "n", answer: "b" })).rejects.toMatchObject(unknown)

    // An attempt with a mark may be applied: only a process that has checked that mark may release it.
    expect(await attempts.free(call, whose, undefined)).toBeUndefined()
    expect(await attempts.free(call, whose, "another")).toBeUndefined()
    await expect(attempts.begin(call, whose)).rejects.toMatchObject(unknown)
    expect(await attempts.find(call, user)).toEqual({ connectionId: whose.connectionId, recorded: done })
    expect(await attempts.free(call, whose, "m")).toEqual(expect.any(String))
    expect((await attempts.find(call, user))?.recorded).toBeUndefined()

    // An attempt that never started is released as well: a process that has not released it cannot start it.
    const late = newId("call")
    const earlier = await attempts.free(late, whose, undefined)
    const latest = await attempts.free(late, whose, undefined)
    const beginners = await Promise.allSettled(
      [undefined, earlier, latest].map((one) => attempts.begin(late, whose, one)),
    )
    expect(beginners.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"])
  })

  test("are not started by a process that was considered failed once another one has released them", async () => {
    await using store = await openStore({ url: (await create()).url, durability: "normal" })
    const change: DatabaseChange = {
      verb: "DELETE",
      table: "t",
      affected: 1,
      added: 0,
      overwritten: 1,
      nothing: false,
      all: false,
      kept: [],
      columns: [],
      before: [],
      after: null,
      paired: false,
      made: [],
      notes: [],
      revision: "r",
    }
    const done: string[] = []
    const open = async () => ({
      kind: { apply: async (_: unknown, sql: string) => (done.push(sql), change) },
      place: { target: { writable: true } },
      name: "Shop",
    })
    const process = () => changeDatabase({ databases: { open } as never, attempts: store.attempts })
    const connectionId = newId("conn")
    const context = {
      user: newId("user"),
      connectionId,
      callId: newId("call"),
      approved: { target: connectionId, revision: "r" },
    }
    const run = async (tool: Tool, sql: string) => tool.run({ sql, why: "w" }, context as never)
    const [asleep, next] = [process(), process()]
    if (next.effect !== "write" || next.afterCrash !== "ask-target") throw new Error("it cannot be asked")
    expect(await next.outcome(context.callId, {}, context as never)).toBe("not-applied")
    await expect(run(asleep, "late")).rejects.toMatchObject({ code: "outcome_unknown" })
    await run(next, "again")
    await expect(run(next, "twice")).rejects.toMatchObject({ code: "outcome_unknown" })
    expect(done).toEqual(["again"])
  })
})
