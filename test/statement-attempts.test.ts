import { expect, describe, test } from "vitest"
import { newId } from "../src/protocol/ids.ts"
import { openStore } from "../src/store/store.ts"
import { databases } from "./databases.ts"

describe.each(databases)("tries to change a database, on $name", ({ create }) => {
  test("have one holder at a time, and only what was not done is tried again", async () => {
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

    // Taken for dead, and set free: when it wakes up it can record nothing, so it commits nothing.
    expect(await attempts.free(call, whose, undefined)).toBe(true)
    await expect(attempts.record(call, first, done)).rejects.toMatchObject(unknown)
    const second = await attempts.begin(call, whose)
    await expect(attempts.record(call, first, done)).rejects.toMatchObject(unknown)
    await attempts.record(call, second, done)
    await expect(attempts.record(call, second, { mark: "n", answer: "b" })).rejects.toMatchObject(unknown)

    // What has recorded its mark may be done: only whoever has asked by that mark sets it free.
    expect(await attempts.free(call, whose, undefined)).toBe(false)
    expect(await attempts.free(call, whose, "another")).toBe(false)
    await expect(attempts.begin(call, whose)).rejects.toMatchObject(unknown)
    expect(await attempts.find(call, user)).toEqual({ connectionId: whose.connectionId, recorded: done })
    expect(await attempts.free(call, whose, "m")).toBe(true)
    expect((await attempts.find(call, user))?.recorded).toBeUndefined()

    // One that never began is set free as well, so that a late beginner is one of two, not the second of two.
    const late = newId("call")
    expect(await attempts.free(late, whose, undefined)).toBe(true)
    const beginners = await Promise.allSettled([attempts.begin(late, whose), attempts.begin(late, whose)])
    expect(beginners.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"])
  })
})
