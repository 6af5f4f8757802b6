import { describe, expect, test } from "vitest"
import type { Run, RunJournal } from "../../../core/protocol/conversation/conversation.ts"
import type { Page } from "../../../core/protocol/answers.ts"
import { says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"

describe.each(databasesInTurn(import.meta.filename))("the journal of a run on $name", ({ create }) => {
  test("has each of its rows once and in order, however long they are, and none of another run", async () => {
    await using database = await create()
    const long = "a long answer ".repeat(60_000)
    await using face = await Face.open({ url: database.url, model: scripted(says(long), says(long), says("Short.")) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    for (const text of ["First.", "Second.", "Third."]) await ada.say(id, text)
    const { items: runs } = (await ada.get(`/api/conversations/${id}/runs`)).body as Page<Run>
    const positions: number[] = []
    for (const { id: run } of runs.toReversed()) {
      const types: string[] = []
      let after: number | null = 0
      for (let pages = 0; after !== null; pages++) {
        const page = (await ada.get(`/api/runs/${run}/journal?after=${after}`)).body as RunJournal
        types.push(...page.items.map(({ type }) => type))
        positions.push(...page.items.map(({ position }) => position))
        after = page.nextAfter
        expect(pages).toBeLessThan(10)
      }
      expect(types[0]).toBe("run_started")
      expect(types.filter((type) => type === "run_started")).toHaveLength(1)
      expect(types).toContain("run_ended")
    }
    expect(positions).toEqual(Array.from(positions, (_, index) => index + 2)) // behind the conversation's own first row
  })

  test("is not found for another user, and is found by each of its messages", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted(says("Hello."), says("Bye.")) })
    const [ada, eve] = [await face.as("ada"), await face.as("eve")]
    const id = await ada.begin()
    for (const text of ["Hi.", "Go."]) await ada.say(id, text)
    const { items } = (await ada.get(`/api/conversations/${id}/runs`)).body as Page<Run>
    expect((await eve.get(`/api/runs/${items[0]!.id}/journal`)).status).toBe(404)
    expect((await ada.get(`/api/runs/${items[0]!.id}/journal`)).status).toBe(200)
    const { messages } = (await ada.get(`/api/conversations/${id}`)).body as { messages: { id: string }[] }
    const asked = messages.map((message) => ada.get(`/api/conversations/${id}/messages/${message.id}/run`))
    const [second, first] = items.map((run) => run.id)
    expect((await Promise.all(asked)).map(({ body }) => body.id)).toEqual([first, first, second, second])
  })
})
