import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { type AcpWorld, openAcpWorld } from "./world.ts"

const ON_DISK = "The colour of the site\n"
const IN_EDITOR = "A draft\nThe colour of the site, unsaved\n"
const EDIT = calls("edit_file", { path: "README.md", old_text: "colour", new_text: "color" })
const READ = calls("read_file", { path: "README.md" })
const DONE = always(says("So be it."))
const BOTH = { fs: { readTextFile: true, writeTextFile: true } }

/** Returns the text of the last result. */
async function lastResult({ client }: AcpWorld, id: string): Promise<string> {
  const { messages } = await client.readConversation({ params: { id } })
  return messages.findLast(({ role }) => role === "tool")?.content ?? ""
}

/** Opens an editor that has unsaved changes in the file, and saves what is written through it. */
async function withDraft(world: AcpWorld, can: object = BOTH, saves = true) {
  const path = join(world.dir, "README.md")
  const buffers = new Map([[path, IN_EDITOR]])
  const editor = await world.edit({ can, buffers, ...(saves ? { saves: true as const } : {}) })
  const { sessionId } = await editor.begin(world.dir)
  return { path, buffers, editor, sessionId }
}

describe.each(anyDatabase)("files that an editor has open, on $name,", ({ create }) => {
  test("are read from the editor, saved or not; other files, or all if the editor offers none, are read from disk", async () => {
    await using database = await create()
    const other = calls("read_file", { path: "other.md" })
    const script = scripted(READ, says("1"), other, says("2"), READ, says("3"))
    await using world = await openAcpWorld(database.url, script, { "README.md": ON_DISK, "other.md": "on disk\n" })
    const { editor, sessionId } = await withDraft(world)
    await editor.say(sessionId, "read it")
    expect(await lastResult(world, sessionId)).toBe(IN_EDITOR.trimEnd())
    await editor.say(sessionId, "read the other")
    expect(await lastResult(world, sessionId)).toBe("on disk")
    const plain = await world.edit()
    const { sessionId: second } = await plain.begin(world.dir)
    await plain.say(second, "read it")
    expect(await lastResult(world, second)).toBe(ON_DISK.trimEnd())
    expect(plain.reads).toEqual([])
  })

  test("are changed through the editor: the diff is against its text, and the write goes to it", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(EDIT, DONE), { "README.md": ON_DISK })
    const { editor, sessionId, path } = await withDraft(world)
    const answered = editor.say(sessionId, "mend it")
    const { request, answer } = await editor.question(0)
    const newText = IN_EDITOR.replace("colour", "color")
    expect(request.toolCall.content).toEqual([{ type: "diff", path, oldText: IN_EDITOR, newText }])
    expect(editor.writes).toEqual([])
    answer("yes")
    await answered
    expect(editor.writes).toEqual([{ path, content: newText }])
    expect(readFileSync(path, "utf8")).toBe(newText)
    expect(await lastResult(world, sessionId)).toBe("README.md is changed.")
  })

  test("are not changed if the person edited them after the proposal", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(EDIT, DONE), { "README.md": ON_DISK })
    const { editor, sessionId, path, buffers } = await withDraft(world)
    const answered = editor.say(sessionId, "mend it")
    const { answer } = await editor.question(0)
    buffers.set(path, `${IN_EDITOR}One more line\n`)
    answer("yes")
    await answered
    expect(editor.writes).toEqual([])
    expect(await lastResult(world, sessionId)).toContain("changed")
    expect(readFileSync(path, "utf8")).toBe(ON_DISK)
  })

  test("are not overwritten on disk when the editor can only read; the model learns that a file has unsaved changes", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(EDIT, says("1"), EDIT, says("2")), {
      "README.md": ON_DISK,
    })
    const telling = await withDraft(world, { fs: { readTextFile: true } })
    await telling.editor.say(telling.sessionId, "mend it")
    expect(telling.editor.questions).toEqual([])
    expect(await lastResult(world, telling.sessionId)).toContain("not saved; ask the person to save it first")
    expect(readFileSync(telling.path, "utf8")).toBe(ON_DISK)

    const lazy = await withDraft(world, BOTH, false)
    const answered = lazy.editor.say(lazy.sessionId, "mend it")
    ;(await lazy.editor.question(0)).answer("yes")
    await answered
    expect(await lastResult(world, lazy.sessionId)).toContain("The editor holds it; on disk it is not the same.")
  })

  test("whose write was interrupted by an editor crash are in doubt: the next editor asks the user for the outcome", async () => {
    await using database = await create()
    await using world = await openAcpWorld(database.url, scripted(EDIT, DONE), { "README.md": ON_DISK })
    const path = join(world.dir, "README.md")
    const options = { can: BOTH, buffers: new Map([[path, ON_DISK]]), fallsSilent: true as const, always: "yes" }
    const first = await world.edit(options)
    const { sessionId } = await first.begin(world.dir)
    void first.say(sessionId, "mend it").catch(() => {})
    await first.until(() => first.writes.length === 1)
    await first.hangUp()

    const second = await world.edit()
    await second.load(sessionId, world.dir)
    const { request, answer } = await second.question(0)
    expect(request.options.map(({ optionId }) => optionId)).toEqual(["retry", "done", "abandon"])
    answer("abandon")
    await second.until(() => second.words("agent_message_chunk").includes("So be it."))
    expect(readFileSync(path, "utf8")).toBe(ON_DISK)
    const { items } = await world.client.listProposals({ query: { conversationId: sessionId as never } })
    expect(items.map(({ status }) => status)).toEqual(["abandoned"])
  })

  test("outside the folder are not requested from the editor", async () => {
    await using database = await create()
    const script = scripted(
      calls(["read_file", { path: "../secret.txt" }], ["read_file", { path: "link.txt" }]),
      calls(
        ["write_file", { path: "link.txt", content: "mine" }],
        ["write_file", { path: "../x.txt", content: "mine" }],
      ),
      DONE,
    )
    await using world = await openAcpWorld(database.url, script)
    const outside = join(world.dir, "..", "secret.txt")
    writeFileSync(outside, "secret")
    symlinkSync(outside, join(world.dir, "link.txt"))
    const buffers = new Map([[outside, "secret, unsaved"]])
    const editor = await world.edit({ can: BOTH, buffers, always: "yes" })
    const { sessionId } = await editor.begin(world.dir)
    await editor.say(sessionId, "look outside")
    expect([...editor.reads, ...editor.writes]).toEqual([])
    const { messages } = await world.client.readConversation({ params: { id: sessionId } })
    expect(JSON.stringify(messages)).not.toContain("unsaved")
  })
})
