import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { describe, expect, test } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import { calls, replies, says, thinks } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { PacedModel } from "../support/loop/paced-model.ts"
import { openAcpWorld } from "./world.ts"

const README = { "README.md": "The colour of the site\n" }
const EDIT = calls("edit_file", { path: "README.md", old_text: "colour", new_text: "color" })

/** Updates about the editor session, sent on every open. They are not part of the conversation. */
const BESIDE: readonly string[] = ["available_commands_update", "config_option_update"]
const journal = (updates: readonly SessionUpdate[]) =>
  updates.filter(({ sessionUpdate }) => !BESIDE.includes(sessionUpdate))

describe.each(anyDatabase)("a conversation loaded by an editor, on $name,", ({ create }) => {
  test("replays all updates exactly as they were sent live, and asks again about pending changes", async () => {
    await using database = await create()
    const look = replies(thinks("I look."), calls("read_file", { path: "README.md" }))
    await using world = await openAcpWorld(database.url, scripted(look, EDIT, says("Done.")), README)
    const first = await world.edit()
    const { sessionId } = await first.begin(world.dir)
    void first.say(sessionId, "mend it").catch(() => {})
    await first.question(0)
    const live = journal(first.told(sessionId))
    await first.hangUp()

    const second = await world.edit()
    const loaded = await second.load(sessionId, world.dir)
    expect(loaded?.modes?.currentModeId).toBe("confirm")
    const told = journal(second.told(sessionId))
    const words = { sessionUpdate: "user_message_chunk", content: { type: "text", text: "mend it" } }
    expect(told.filter(({ sessionUpdate }) => sessionUpdate !== "user_message_chunk")).toEqual(live)
    expect(told).toContainEqual(expect.objectContaining(words))
    ;(await second.question(0)).answer("yes")
    await second.until(() => second.words("agent_message_chunk") === "Done.")
    expect(readFileSync(join(world.dir, "README.md"), "utf8")).toBe("The color of the site\n")
    expect(await second.agent.request("session/list", { cwd: world.dir })).toMatchObject({
      sessions: [{ sessionId, cwd: world.dir, title: "mend it" }],
    })
  })

  test("during a reply sends its beginning and its remainder, once", async () => {
    await using database = await create()
    const model = new PacedModel()
    await using world = await openAcpWorld(database.url, model)
    const first = await world.edit()
    const { sessionId } = await first.begin(world.dir)
    void first.say(sessionId, "count").catch(() => {})
    model.write("One, ")
    await first.until(() => first.words("agent_message_chunk") === "One, ")
    await first.hangUp()
    const second = await world.edit()
    await second.load(sessionId, world.dir)
    await second.until(() => second.words("agent_message_chunk") === "One, ")
    model.write("two.").end()
    await second.until(() => second.words("agent_message_chunk") === "One, two.")
    // `session/resume` replays no history; the editor receives the next reply.
    const third = await world.edit()
    await third.agent.request("session/resume", { sessionId, cwd: world.dir, mcpServers: [] })
    const next = third.say(sessionId, "go on")
    model.write("Three.").end()
    expect(await next).toEqual({ stopReason: "end_turn" })
    expect(third.words("agent_message_chunk")).toBe("Three.")
    // The second editor also has it open, and receives the message sent in the third.
    await second.until(() => second.words("agent_message_chunk") === "One, two.Three.")
    expect(second.words("user_message_chunk")).toBe("countgo on")
  })

  test("is refused with a message if it does not exist, and removed if it was deleted or closed", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(says("Hello.")))
    const editor = await world.edit()
    await expect(editor.load("conv_nothing", world.dir)).rejects.toMatchObject({ code: -32002 })
    await expect(editor.begin("relative")).rejects.toThrow("absolute path")
    const { sessionId } = await editor.begin(world.dir)
    await editor.say(sessionId, "hello")
    await editor.agent.request("session/close", { sessionId })
    await expect(editor.say(sessionId, "still there?")).rejects.toMatchObject({ code: -32002 })
    await editor.agent.request("session/delete", { sessionId })
    await expect(editor.load(sessionId, world.dir)).rejects.toMatchObject({ code: -32002 })
    expect(await editor.agent.request("session/list", {})).toEqual({ sessions: [] })
  })
})
