import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { fromDetail } from "../../client/index.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, fails, finishes, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { PacedModel } from "../support/loop/paced-model.ts"
import { openAcpWorld } from "./world.ts"

const README = { "README.md": "The colour of the site\n" }
const EDIT = { path: "README.md", old_text: "colour", new_text: "color" }

describe.each(anyDatabase)("an editor on $name", ({ create }) => {
  test("receives thoughts and text as they arrive, once, and the stop reason at the end", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openAcpWorld(database.url, model)
    const editor = await world.edit()
    const { sessionId, modes } = await editor.begin(world.dir)
    expect(modes?.currentModeId).toBe("confirm")
    const answered = editor.say(sessionId, "think, then speak")
    model.think("").think("Let me ").think("see.")
    await editor.until(() => editor.words("agent_thought_chunk") === "Let me see.")
    model.thought("Let me see.").write("One, ")
    await editor.until(() => editor.words("agent_message_chunk") === "One, ")
    model.write("two.").end()
    expect(await answered).toEqual({ stopReason: "end_turn" })
    expect(editor.words("agent_message_chunk")).toBe("One, two.")
    expect(editor.words("agent_thought_chunk")).toBe("Let me see.")
    expect(editor.told(sessionId)).toContainEqual(
      expect.objectContaining({ sessionUpdate: "usage_update", size: model.contextTokens }),
    )
    expect(editor.words("user_message_chunk")).toBe("") // it shows its own words itself
  })

  test("stops a running prompt: the text shown so far stays, and the next prompt is answered", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openAcpWorld(database.url, model)
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    const answered = editor.say(sessionId, "tell me")
    model.write("It begins")
    await editor.until(() => editor.words("agent_message_chunk") === "It begins")
    await editor.agent.notify("session/cancel", { sessionId })
    expect(await answered).toEqual({ stopReason: "cancelled" })
    const next = editor.say(sessionId, "again")
    model.write("Anew.").end()
    expect(await next).toEqual({ stopReason: "end_turn" })
    const { messages } = await world.client.readConversation({ params: { id: sessionId } })
    expect(messages.map(({ content }) => content)).toEqual(["tell me", "It begins", "again", "Anew."])
  })

  test("cancels a prompt right after it is sent, and one that is queued behind another client's run", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openAcpWorld(database.url, model)
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    const early = editor.say(sessionId, "too early")
    await editor.agent.notify("session/cancel", { sessionId })
    expect(await early).toEqual({ stopReason: "cancelled" })

    const first = world.client.run(sessionId, "from the page")
    await first.next()
    const waits = editor.say(sessionId, "and then this")
    await editor.until(() => editor.words("user_message_chunk").includes("from the page"))
    await expect.poll(async () => (await world.client.listQueue({ params: { id: sessionId } })).items).toHaveLength(1)
    const leave = new AbortController()
    const behind = world.client.run(sessionId, "from the page, too", { when: "queue", signal: leave.signal })
    const heard = behind.next().catch(() => {})
    await expect.poll(async () => (await world.client.listQueue({ params: { id: sessionId } })).items).toHaveLength(2)
    await editor.agent.notify("session/cancel", { sessionId })
    expect(await waits).toEqual({ stopReason: "cancelled" })
    const { items } = await world.client.listQueue({ params: { id: sessionId } })
    expect(items.map(({ text }) => text)).toEqual(["from the page, too"])
    leave.abort()
    await Promise.all([first.return(), heard])
  })

  test.each(["session/close", "session/load", "session/delete"] as const)(
    "gets its prompt answered if a %s arrives during it",
    async (method) => {
      await using database = await create()
      const model = new PacedModel()
      await using world = await openAcpWorld(database.url, model)
      const editor = await world.edit()
      const { sessionId } = await editor.begin(world.dir)
      const answered = editor.say(sessionId, "tell me")
      model.write("It begins")
      await editor.until(() => editor.words("agent_message_chunk") === "It begins")
      await editor.agent.request(method, { sessionId, cwd: world.dir, mcpServers: [] })
      expect(await answered).toEqual({ stopReason: "cancelled" })
    },
  )

  test.each([
    ["its limit", replies(says("One,"), finishes("limit")), "max_tokens"],
    ["its provider's refusal", replies(says("One,"), finishes("refused")), "refusal"],
  ])("learns that a reply ended by %s", async (_, reply, stopReason) => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(reply))
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    expect(await editor.say(sessionId, "count")).toEqual({ stopReason })
  })

  test("gets an error with our message and code if a run fails, and the next prompt is answered", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(fails("auth"), says("Here.")))
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    const failed = await editor.say(sessionId, "go").catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: -32603, data: { code: "auth" } })
    expect(await editor.say(sessionId, "go")).toEqual({ stopReason: "end_turn" })
  })

  test("receives the same transcript as our own client, for the same script", async () => {
    await using database = await create()
    const script = () => [
      replies(thinks("I look first."), calls("read_file", { path: "README.md" })),
      replies(says("I change it."), calls(["edit_file", EDIT], ["read_file", { path: "none.md" }])),
      says("Done."),
    ]
    await using world = await openAcpWorld(database.url, scripted(...script(), ...script()), README)
    const editor = await world.edit({ always: "yes" })
    const { sessionId } = await editor.begin(world.dir)
    await editor.say(sessionId, "mend it")
    expect(readFileSync(join(world.dir, "README.md"), "utf8")).toBe("The color of the site\n")

    // The same through our own client, on an unchanged file.
    const { client } = world
    writeFileSync(join(world.dir, "README.md"), README["README.md"])
    const { id } = await client.createConversation({ body: { agent: "files" } })
    for await (const frame of client.run(id, "mend it")) void frame
    const { proposals } = await client.readConversation({ params: { id } })
    await client.commitProposal({ params: { id: proposals[0]!.id } })
    await client.resumeRun({ params: { id } })

    const rowsOf = async (of: string) => {
      const { items } = fromDetail(await client.readConversation({ params: { id: of } }))
      return items.flatMap((item): unknown[][] => {
        if (item.type === "message") return [[item.message.role, item.message.content, item.message.reasoning?.text]]
        return item.type === "call" ? [[item.name, item.input, item.state, item.text]] : []
      })
    }
    const rows = await rowsOf(id)
    expect(await rowsOf(sessionId)).toEqual(rows)
    // The editor received the same text.
    expect(editor.words("agent_thought_chunk")).toBe("I look first.")
    expect(editor.words("agent_message_chunk")).toBe("I change it.Done.")
    const ends = editor.told(sessionId).flatMap((update) => {
      if (update.sessionUpdate !== "tool_call_update" || update.rawOutput === undefined) return []
      return [(update.rawOutput as { text: string }).text]
    })
    const ofCalls = rows.filter(([name]) => name === "read_file" || name === "edit_file")
    expect(ends.sort()).toEqual(ofCalls.map(([, , , text]) => text).sort())
  })
})
