import { describe, expect, test } from "vitest"
import { fromDetail, reduce, type Transcript } from "../../../client/index.ts"
import { finishes, replies, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { FrameMaker } from "../../../core/server/stream/frame-maker.ts"
import { anyDatabase } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"

const counted = (text: string, inputTokens: number) =>
  replies(says(text), finishes("stop", { inputTokens, outputTokens: 10 }))

describe.each(anyDatabase)("the meter of a conversation on $name", ({ create }) => {
  test("shows the provider's count, the model's limit, and less after a summary, the same live and when it is read", async () => {
    const model = scripted(counted("One.", 500), counted("Two.", 900), counted("They counted.", 50))
    await using database = await create()
    await using face = await Face.open({ url: database.url, model })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const read = async () => (await ada.get(`/api/conversations/${id}`)).body
    const first = await read()
    expect(first.context).toEqual({ usedTokens: 0, estimated: true, limitTokens: 200_000, costUsd: null })
    await ada.say(id, `First? ${"x".repeat(4000)}`)
    await ada.say(id, "Second?")
    expect((await read()).context).toMatchObject({ usedTokens: 910, estimated: false })
    expect((await ada.post(`/api/conversations/${id}/compact`)).body).toMatchObject({ id, model: "scripted" })
    await face.pawl.runtime.rest(id as ConversationId)

    const maker = new FrameMaker(id as ConversationId)
    const rows = await face.store.journal.read(id as ConversationId)
    const frames = rows.flatMap((row) => maker.rows(row, 0))
    const live = frames.reduce<Transcript>(reduce, fromDetail(first))
    const later = fromDetail(await read())
    for (const { items } of [live, later])
      expect(items.filter((item) => item.type === "notice")).toMatchObject([
        { notice: "compacted", detail: "They counted." },
      ])
    expect(live.context?.usedTokens).toBeLessThan(100)
    // The run that made the summary has no token count. A page that is loaded again shows the same as one that was
    // open all the time.
    expect(later.context).toEqual(live.context)
  })

  test("refuses to compact if there is nothing to sum up, and says what to do", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: scripted() })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const { status, text } = await ada.post(`/api/conversations/${id}/compact`)
    expect(status).toBe(400)
    expect(text).toContain("There is nothing to summarize yet.")
  })
})
