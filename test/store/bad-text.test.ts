import { describe, expect, test } from "vitest"
import type { Input } from "../../core/engine/input.ts"
import { answer } from "../../core/engine/definition/tool.ts"
import { calls, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import type { ProposalId } from "../../core/protocol/ids.ts"
import { of, openChecked, resultsOf } from "../support/loop/checked-world.ts"
import { databases } from "../support/databases.ts"
import { openWithProposal } from "../gate/note.ts"
import { read, write } from "../support/loop/tools.ts"
import { message } from "../support/loop/world.ts"

const unstorable = ["a\0b", "half \ud83d", "\udc4b half"]

describe.each(databases)("on $name", ({ create }) => {
  test("a message that cannot be stored is refused, and nothing of it is stored", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(says("Hi."), says("Ho.")) })
    const refused = { code: "unstorable_text", status: 400 }
    for (const text of unstorable) await expect(world.start(text)).rejects.toMatchObject(refused)
    expect(await world.store.engine.query("SELECT id FROM conversations", [])).toEqual([])
    const id = await world.begin("Hello?")
    const before = await world.types(id)
    for (const text of unstorable) await expect(world.send(id, text)).rejects.toMatchObject(refused)
    expect(await world.types(id)).toEqual(before)
    await world.send(id, "Hello 👋🏽?")
    expect((await world.load(id)).history.at(-2)).toEqual({ role: "user", text: "Hello 👋🏽?" })
  })

  test("a message without text is refused", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted(says("Hi.")) })
    const id = await world.begin("Hello?")
    for (const text of ["", "  \n\t "]) {
      await expect(world.start(text)).rejects.toMatchObject({ code: "bad_request" })
      await expect(world.send(id, text)).rejects.toMatchObject({ code: "bad_request" })
    }
  })

  const words: [what: string, input: (bad: string, proposalId: ProposalId, by: string) => Input][] = [
    [
      "the reason of a rejection",
      (reason, proposalId, by) => ({ type: "decide", proposalId, decision: "reject", by, reason }),
    ],
    ["an edited argument", (text, proposalId, by) => ({ type: "edit", proposalId, arguments: { text }, by })],
    [
      "a nested argument",
      (x, proposalId, by) => ({ type: "edit", proposalId, arguments: { text: "a", more: [{ x }] }, by }),
    ],
    [
      "the name of an argument",
      (key, proposalId, by) => ({ type: "edit", proposalId, arguments: { text: "a", [key]: 1 }, by }),
    ],
    ["a title", (title) => ({ type: "settings", title })],
  ]

  test.each(words)("%s that cannot be stored is refused, and the conversation is unchanged", async (_what, input) => {
    await using asked = await openWithProposal(create)
    const { world, id, proposal, note } = asked
    const before = await world.types(id)
    for (const bad of unstorable) {
      const refused = asked.submit(input(bad, proposal.id, world.user))
      await expect(refused).rejects.toMatchObject({ code: "unstorable_text", status: 400 })
    }
    expect(await world.types(id)).toEqual(before)
    await world.decide(id, proposal.id, "commit")
    expect(note.written).toEqual(["new"])
  })

  test("a title that cannot be stored creates no conversation", async () => {
    await using database = await create()
    await using world = await openChecked({ url: database.url, model: scripted() })
    for (const title of unstorable) {
      const begun = world.pawl.runtime.begin({ user: world.user, agent: "test", title }, message("Hello?"))
      await expect(begun).rejects.toMatchObject({ code: "unstorable_text" })
    }
    expect(await world.store.engine.query("SELECT id FROM conversations", [])).toEqual([])
  })

  test("text that resembles an escape is stored unchanged", async () => {
    await using database = await create()
    const text = "\\u0000 \\ud83d \u2028 \ufffd \ufeff 👋🏽 é e\u0301 \u0001"
    await using world = await openChecked({ url: database.url, model: scripted(says(text)) })
    const id = await world.begin(text)
    const rows = await world.store.engine.query<{ content: string }>("SELECT content FROM messages ORDER BY seq", [])
    expect(rows.map(({ content }) => content)).toEqual([text, text])
    expect((await world.load(id)).history).toMatchObject([{ text }, { parts: [{ text }] }])
  })

  test("model output that cannot be stored is repaired: thinking, text and tool calls", async () => {
    await using database = await create()
    const bad = "a\0b\ud83d"
    const model = scripted(
      replies(thinks(bad, { sig: bad }), says(bad), calls([`look${bad}`, { [bad]: bad }], ["look", { q: bad }])),
      says("Done."),
    )
    await using world = await openChecked({
      url: database.url,
      model,
      tools: [read("look", ({ q }) => answer(`${q}`))],
    })
    const id = await world.begin("Go.")
    const mended = "a\ufffdb\ufffd"
    const [, reply] = of(await world.events(id), "message")
    expect(reply?.parts).toMatchObject([
      { type: "reasoning", text: mended, metadata: { sig: mended } },
      { type: "text", text: mended },
      { type: "call", name: `look${mended}`, input: { [mended]: mended } },
      { type: "call", name: "look", input: { q: mended } },
    ])
    expect((await resultsOf(world, id)).map(({ status }) => status)).toEqual(["error", "ok"])
    expect((await resultsOf(world, id))[1]?.text).toBe(mended)
  })

  test("a preview that cannot be stored is repaired, and can be committed", async () => {
    await using database = await create()
    const bad = "a\0b\ud83d"
    let ran = 0
    const preview = () => ({
      ...{ summary: bad, action: "safe_update" as const, target: bad, revision: bad },
      diff: { before: bad, after: bad },
    })
    const odd = write("odd", () => answer(`${++ran}`), { preview })
    await using world = await openChecked({
      url: database.url,
      model: scripted(calls("odd"), says("Done.")),
      tools: [odd],
    })
    const id = await world.begin("Go.")
    const [open] = await world.proposals(id)
    expect(open?.proposed).toMatchObject({ summary: "a\ufffdb\ufffd", diff: { before: "a\ufffdb\ufffd" } })
    await world.decide(id, open!.proposed.id, "commit")
    expect(ran).toBe(1)
  })
})
