import { describe, expect, test } from "vitest"
import { fromDetail, describeNotice, type Transcript } from "../../../client/index.ts"
import { fails, says } from "../../../core/models/scripted/script.ts"
import { always } from "../../../core/models/scripted/model.ts"
import { runSlashCommand } from "../../../apps/terminal/session/slash-commands.ts"
import { anyDatabase } from "../../support/databases.ts"
import { named } from "../../support/loop/several-models.ts"
import { Face } from "../../support/server/face.ts"
import { printed, connectSessions } from "../../terminal/session.ts"

const models = () => ({
  model: named("a", always(fails("overloaded"))),
  others: [named("b", always(says("I am b.")))],
})
const TOLD = "b answers instead of a, which was overloaded. Skipped: locked, which is not configured."

const toldIn = ({ items }: Transcript) =>
  items.flatMap((item) => (item.type === "notice" ? [describeNotice(item)] : [])).filter((words) => words !== undefined)

describe.each(anyDatabase)("the fallback of a conversation on $name", ({ create }) => {
  test("is set at the start of a conversation or later, reported with its model, and shown as a notice", async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, ...models(), fallback: ["b"], agent: { fallback: [] } })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test", fallback: ["locked", "b", "b"] })
    const read = async () => (await ada.get(`/api/conversations/${id}/model`)).body.fallback
    expect(await read()).toEqual({ models: ["locked", "b"], from: "conversation" })
    const { body } = await ada.say(id, "Who are you?")
    expect(body.messages.at(-1)).toMatchObject({ content: "I am b.", model: "b" })
    expect(body.conversation).toMatchObject({ model: "a" })
    const detail = (await ada.get(`/api/conversations/${id}`)).body
    expect(toldIn(fromDetail(detail))).toEqual([TOLD])
    const change = (fallback: unknown) => ada.patch(`/api/conversations/${id}`, { fallback })
    expect(await change(["nobody"])).toMatchObject({ status: 400, body: { code: "unknown_model" } })
    expect((await change(Array.from({ length: 9 }, () => "b"))).status).toBe(400)
    expect((await change(null)).status).toBe(200)
    expect(await read()).toEqual({ models: [], from: "agent" })
    const other = await ada.begin({ agent: "workspace" })
    const { body: usual } = await ada.get(`/api/conversations/${other}/model`)
    expect(usual.fallback).toEqual({ models: ["b"], from: "server" })
  })

  test("is set in the terminal, which confirms it and shows it again when the conversation is resumed", async () => {
    await using database = await create()
    const { model, others } = models()
    await using place = await connectSessions(database.url, model, { others })
    const session = place.begin()
    const context = { session, write() {}, async paste() {}, quit() {} }
    await runSlashCommand("/fallback", context)
    expect(printed(session)[0]).toBe("If the model cannot answer, no other model is asked.")
    await runSlashCommand("/fallback locked, b", context)
    await session.send("Who are you?", "queue")
    await expect.poll(() => printed(session).slice(-2)).toEqual([expect.stringContaining(TOLD), "I am b."])
    const later = place.begin()
    await later.enter(session.conversation!.id)
    expect(printed(later).slice(-2)).toEqual([expect.stringContaining(TOLD), "I am b."])
    await runSlashCommand("/fallback none", { ...context, session: later })
    await runSlashCommand("/fallback", { ...context, session: later })
    expect(printed(later).at(-2)).toBe("If the model cannot answer, no other model is asked.")
  })
})
