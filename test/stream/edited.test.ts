import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { readFrames } from "../support/server/stream.ts"
import { write } from "../support/loop/tools.ts"

describe.each(anyDatabase)("a stream on $name", ({ create }) => {
  test("shows the edited arguments of a call, from whichever position it is read", async () => {
    const ran: unknown[] = []
    const save = write("save", (input) => {
      ran.push(input)
      return answer("Saved.")
    })
    const model = scripted(calls("save", { q: "model" }), says("Done."))
    await using face = await Face.open({ url: (await create()).url, model, tools: [save] })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const [proposal] = (await ada.say(id, "save")).body.proposals
    const edited = await ada.post(`/api/agent/proposals/${proposal.id}/edit`, { arguments: { q: "person" } })
    await ada.post(`/api/agent/proposals/${edited.body.id}/commit`)
    await face.pawl.runtime.rest(id as never)
    expect(ran).toEqual([{ q: "person" }])
    const isStart = ({ type }: { type: string }) => type === "tool_start"
    const whole = await readFrames(await ada.watch(id), (seen) => seen.some(isStart))
    const start = whole.find(isStart)
    expect(start?.data.input).toEqual({ q: "person" })
    const before = String(Number(start?.id) - 1)
    const rest = await readFrames(await ada.watch(id, before), (seen) => seen.some(isStart))
    expect(rest[0]).toEqual(start)
  })
})
