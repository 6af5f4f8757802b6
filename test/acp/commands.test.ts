import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { calls, finishes, replies, says } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { openAcpWorld } from "./world.ts"

const README = { "README.md": "The colour of the site\n" }
const EDIT = calls("edit_file", { path: "README.md", old_text: "colour", new_text: "color" })

describe.each(anyDatabase)("commands of Pawl in an editor, on $name,", ({ create }) => {
  test("are offered as slash commands and as a choice of models", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(says("Hello.")))
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    const commands = await editor.until(() =>
      editor.told(sessionId).find((update) => update.sessionUpdate === "available_commands_update"),
    )
    expect(commands.availableCommands.map(({ name }) => name)).toEqual([
      ...["undo", "again", "compact", "continue", "model", "grants"],
    ])
    const { configOptions } = await editor.until(() =>
      editor.told(sessionId).find((update) => update.sessionUpdate === "config_option_update"),
    )
    expect(configOptions).toMatchObject([{ id: "model", category: "model", currentValue: "scripted" }])
    const choose = (configId: string, value: string) =>
      editor.agent.request("session/set_config_option", { sessionId, configId, value })
    expect((await choose("model", "scripted")).configOptions).toMatchObject([{ currentValue: "scripted" }])
    await expect(choose("model", "nothing")).rejects.toMatchObject({ code: -32602 })
    await expect(choose("taste", "sweet")).rejects.toThrow("There is one option here")
  })

  test("/undo proposes to undo a change, or reports that there is none", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(EDIT, says("Done.")), README)
    const editor = await world.edit({ always: "yes" })
    const { sessionId } = await editor.begin(world.dir)
    await editor.say(sessionId, "/undo")
    expect(editor.words("agent_message_chunk")).toContain("no change in this conversation that can be undone")
    await editor.say(sessionId, "mend it")
    expect(readFileSync(join(world.dir, "README.md"), "utf8")).toContain("color ")
    expect(await editor.say(sessionId, "/undo")).toEqual({ stopReason: "end_turn" })
    expect(readFileSync(join(world.dir, "README.md"), "utf8")).toBe(README["README.md"])
    expect(editor.questions.map(({ request }) => request.toolCall.kind)).toEqual(["edit", "edit"])
  })

  test("/continue resumes a reply cut by its limit, /compact summarizes, /model and /grants list; any other slash text is a message", async () => {
    await using database = await create()
    const model = scripted(replies(says("One,"), finishes("limit")), says("two."), always(says("Well.")))
    await using world = await openAcpWorld(database.url, model)
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    await editor.say(sessionId, "count")
    expect(await editor.say(sessionId, "/continue")).toEqual({ stopReason: "end_turn" })
    expect(editor.words("agent_message_chunk")).toContain("two.")
    await editor.say(sessionId, "/continue")
    expect(editor.words("agent_message_chunk")).toContain("The last reply was not cut")
    expect(await editor.say(sessionId, "/compact")).toEqual({ stopReason: "end_turn" })
    await editor.say(sessionId, "/grants")
    expect(editor.words("agent_message_chunk")).toContain("You have approved nothing in advance.")
    await editor.say(sessionId, "/model")
    expect(editor.words("agent_message_chunk")).toContain("- scripted")
    await editor.say(sessionId, "/etc/hosts is what?")
    const { messages } = await world.client.readConversation({ params: { id: sessionId } })
    expect(messages.flatMap(({ role, content }) => (role === "user" ? [content] : []))).toEqual([
      ...["count", "continue", "/etc/hosts is what?"],
    ])
  })

  test("files, links and images of a prompt reach tools and models in their format", async () => {
    await using database = await create()
    const model = scripted(says("I see."))
    await using world = await openAcpWorld(database.url, model)
    const editor = await world.edit()
    const { sessionId } = await editor.begin(world.dir)
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    )
    await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "Look at " },
        { type: "resource_link", name: "a.ts", uri: `file://${world.dir}/src/a.ts#L3` },
        { type: "text", text: " and " },
        { type: "resource", resource: { uri: `file://${world.dir}/b%20c.md`, text: "with ```fences```" } },
        { type: "image", data: png.toString("base64"), mimeType: "image/png" },
      ],
    })
    const { messages } = await world.client.readConversation({ params: { id: sessionId } })
    expect(messages[0]).toMatchObject({
      content: "Look at src/a.ts (L3) and b c.md",
      files: [
        { name: "b c.md", type: "text/markdown", path: "b c.md", folder: "trusted" },
        { name: "image.png", type: "image/png" },
      ],
    })
    const audio = { type: "audio" as const, data: "", mimeType: "audio/wav" }
    const refused = editor.agent.request("session/prompt", { sessionId, prompt: [audio] })
    await expect(refused).rejects.toThrow("say it in words")
  })
})
