import { describe, expect, test } from "vitest"
import type { Model, ReplyPart } from "../../core/engine/model.ts"
import { calls, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { of, openChecked, repliesOf } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { read } from "../support/loop/tools.ts"

const limits = { replyCharacters: 1000 }

describe.each(anyDatabase)("on $name, a reply over the length limit", ({ create }) => {
  test("is stored up to the limit, exactly as it was shown, and says so", async () => {
    await using database = await create()
    const model = scripted(says("\u{1f44b}".repeat(5000), { chunks: 77 }), says("Yes."))
    await using world = await openChecked({ url: database.url, model, limits })
    let shown = ""
    const { id } = await world.start("Talk.")
    world.pawl.ports.bus.subscribe(id, (live) => void (live.type === "text_delta" && (shown += live.text)))
    await world.pawl.runtime.rest(id)
    const [kept = ""] = await repliesOf(world, id)
    expect(kept).toBe("\u{1f44b}".repeat(500))
    expect(shown).toBe(kept)
    const events = await world.events(id)
    expect(of(events, "message").at(-1)).toMatchObject({ finish: "limit" })
    expect(of(events, "run_ended")).toMatchObject([{ status: "completed", reason: "reply_limit" }])
    await world.send(id, "Are you there?")
    expect((await repliesOf(world, id)).at(-1)).toBe("Yes.")
  })

  test("that never ends is aborted", async () => {
    await using database = await create()
    let stopped = false
    async function* endless(): AsyncGenerator<ReplyPart> {
      try {
        for (;;) yield { type: "text", text: "and so on " }
      } finally {
        stopped = true
      }
    }
    const model: Model = { name: "endless", provider: "test", contextTokens: 10_000, stream: endless }
    await using world = await openChecked({ url: database.url, model, limits })
    const id = await world.begin("Talk.")
    expect(stopped).toBe(true)
    expect((await repliesOf(world, id))[0]).toHaveLength(1000)
  })

  test("loses the thinking or the call that did not fit, whole; what came before it stays", async () => {
    await using database = await create()
    const model = scripted(
      replies(thinks("x".repeat(2000)), says("never heard")),
      replies(says("I look. "), calls(["look", { q: "near" }], ["look", { q: "x".repeat(2000) }])),
      says("Found."),
    )
    await using world = await openChecked({ url: database.url, model, limits, tools: [read("look")] })
    const id = await world.begin("Think.")
    expect(of(await world.events(id), "run_ended")).toMatchObject([{ reason: "reply_limit" }])
    await world.send(id, "Look.")
    const looked = of(await world.events(id), "message")
      .filter(({ finish }) => finish === "limit")
      .at(-1)
    expect(looked?.parts).toMatchObject([
      { type: "text", text: "I look. " },
      { type: "call", input: { q: "near" } },
    ])
    expect(await world.results(id)).toEqual(["ok"])
    expect((await repliesOf(world, id)).at(-1)).toBe("Found.")
  })
})
