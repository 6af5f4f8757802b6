import { describe, expect, test } from "vitest"
import { answer, failed } from "../../core/engine/definition/tool.ts"
import { calls, replies, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { openChecked } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { read, write } from "../support/loop/tools.ts"

const KEY = "sk-operator-0123456789"

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("a secret that occurs in JSON by chance, or is cut out of it, breaks nothing: each call has its result", async () => {
    await using database = await create()
    // Without its punctuation JSON would contain these across values, and behind an escape.
    const secrets = ['{"kind":"table"', "nabcdefghijkl", '":"nothing to see"}']
    const data = { kind: "table", text: "\nabcdefghijkl", [KEY]: [{ says: "nothing to see" }], deep: { key: KEY } }
    const tools = [
      read("finds", () => answer("Found.", { data, state: { found: { key: KEY } } })),
      write("changes", () => answer("Changed.", { data, change: { before: null, after: data } })),
    ]
    const model = scripted(replies(...tools.map(({ name }) => calls(name))), says("Done."))
    await using world = await openChecked({ url: database.url, model, tools, secrets: [KEY, ...secrets] })
    const id = await world.begin("Look.", { mode: "auto" })
    expect((await world.load(id)).run?.status).toBe("completed")
    const ends = (await world.events(id)).filter((event) => event.type === "tool_end")
    const told = {
      kind: "table",
      text: "\nabcdefghijkl",
      "[hidden]": [{ says: "nothing to see" }],
      deep: { key: "[hidden]" },
    }
    expect(ends.map((end) => end.data)).toEqual([told, told])
    expect(JSON.stringify(await world.events(id))).not.toContain(KEY)
  })

  test("a server secret in a tool result is neither sent to the model nor stored", async () => {
    await using database = await create()
    const found = { text: `x\nOPENAI_API_KEY=${KEY}\ny`, data: { environment: [{ value: KEY }] } }
    const tools = [
      read("finds", () => answer(found.text, { data: found.data })),
      read("fails", () => failed(`401 for ${KEY}`)),
      read("throws", () => Promise.reject(new Error(`no such key: ${KEY}`))),
      // Truncation would leave a half of the key.
      read("long", () => answer("a".repeat(50_000 - 8) + KEY)),
      write("changes", () => answer(`wrote ${KEY}`, { change: { before: null, after: { text: KEY } } })),
    ]
    const model = scripted(replies(...tools.map(({ name }) => calls(name))), says("Done."))
    await using world = await openChecked({ url: database.url, model, tools, secrets: [KEY, "short"] })
    const id = await world.begin("Look.", { mode: "auto" })
    const kept = JSON.stringify(await world.events(id))
    expect(kept).toContain("OPENAI_API_KEY=[hidden]")
    expect(kept.match(/\[hidden\]/g)?.length).toBeGreaterThanOrEqual(6)
    expect(model.received).toHaveLength(2)
    for (const all of [kept, JSON.stringify(model.received)]) {
      expect(all).not.toContain(KEY)
      expect(all).not.toContain("sk-opera")
    }
  })
})
