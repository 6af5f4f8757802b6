import { describe, expect, test } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import { calls, fails, says } from "../../core/models/scripted/script.ts"
import { scripted, type ScriptedModel } from "../../core/models/scripted/model.ts"
import { filesIn } from "../../core/protocol/conversation/tool-calls.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { sweepMessageFiles } from "../../core/store/files/sweep-message-files.ts"
import { anyDatabase, databasesInTurn } from "../support/databases.ts"
import { of } from "../support/loop/checked-world.ts"
import { dyingAt } from "../support/loop/faults.ts"
import type { World } from "../support/loop/world.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"
import { PlayedServer } from "./played-server.ts"
import { bytesOf } from "../support/message-files/files-world.ts"
import { png } from "../support/message-files/images.ts"

const DRAW = { name: "draw", description: "Draws.", inputSchema: { type: "object", properties: {} } }
const PICTURE = png(3, 2)
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64")
const image = (bytes: Uint8Array | string, mimeType = "image/png") => ({ type: "image", data: base64(bytes), mimeType })
const blob = (uri: string, bytes: Uint8Array | string) => ({ type: "resource", resource: { uri, blob: base64(bytes) } })
const WAV = Buffer.concat([Buffer.from("RIFF\x24\0\0\0WAVEfmt "), Buffer.alloc(28)])

const seeing = (model: ScriptedModel): ScriptedModel => Object.assign(model, { sees: { images: true, files: true } })
const drawing = () => seeing(scripted(calls("notes__draw", {}), says("Drawn.")))
const named = (url: string, more: object = {}) =>
  servers({ notes: { url, data: "public", tools: { "*": "read" }, ...more } })
const drawn = async (world: World, id: ConversationId) => of(await world.events(id), "tool_end").at(-1)!
const later = () => Date.now() + 49 * 60 * 60_000

/** The files that a run has stored for a tool result with this content, and what its model received. */
async function oneResult(url: string, content: readonly object[]) {
  await using server = await PlayedServer.open([DRAW], () => ({ content }))
  const model = drawing()
  await using world = await openMcpWorld(named(server.url), { url, model })
  const id = await world.begin("Draw.")
  const end = await drawn(world, id)
  const files = filesIn(end.data)
  const bytes = await Promise.all(files.map((file) => bytesOf(world.store.messageFiles, world.user, file.id)))
  const turn = model.received.at(-1)!.request.history.at(-1)!
  expect(world.problems).toEqual([])
  return { end, files, bytes, shown: turn.role === "tool" ? turn.shown : undefined }
}

describe.each(anyDatabase)("files in the results of an MCP server, on $name", ({ create }) => {
  test("are stored in the conversation, with the type of their bytes and not the declared one", async () => {
    await using place = await create()
    const content = [
      { type: "text", text: "Here." },
      image(PICTURE, "text/html"),
      { type: "audio", data: base64(WAV), mimeType: "audio/mpeg" },
      blob("file:///home/ada/../%2e%2e/run-me.exe?x=1", "MZ\0\u0001"),
      blob("notes://plan.html", "<script>alert(1)</script>"),
      image("%PNG no image", "image/png"),
      { type: "resource_link", uri: "http://127.0.0.1:1/secret", name: "more" },
    ]
    const { end, files, bytes } = await oneResult(place.url, content)
    expect(files.map(({ name, type }) => [name, type])).toEqual([
      ["draw-2.png", "image/png"],
      ["draw-3.wav", "audio/wav"],
      ["run-me.exe.bin", "application/octet-stream"],
      ["plan.html.txt", "text/html"],
      ["draw-6.txt", "text/plain"],
    ])
    expect(files[0]).toMatchObject({ size: PICTURE.length, width: 3, height: 2 })
    expect(bytes[0]).toEqual(PICTURE)
    expect(end.text).toContain('Here.\n\n[An image kept as "draw-2.png" (image/png')
    expect(end.text).toContain("[A link to more: http://127.0.0.1:1/secret. It was not followed.]")
  })

  test("go to a model with vision after the results, and are described if they cannot be sent", async () => {
    await using place = await create()
    const long = `Chapter one.\n${"It was a dark night. ".repeat(500)}`
    const text = { type: "resource", resource: { uri: "book://one.txt", text: long } }
    const { end, shown } = await oneResult(place.url, [image(PICTURE), blob("a.bin", "\0"), text])
    expect(shown?.map(({ type }) => type)).toEqual(["bytes", "words", "words"])
    expect(shown?.[0]).toMatchObject({ mediaType: "image/png", text: expect.stringContaining(end.callId) as string })
    expect(shown?.[1]?.text).toContain("is not shown: it holds no words and no image")
    expect(shown?.[2]?.text).toMatch(/^\[Words from outside, call_\w+: [^]*Chapter one/)
    expect(end.text).not.toContain("Chapter one")
  })

  test("are limited in number and to the user's storage, and contain none of the server's secrets", async () => {
    await using place = await create()
    const pictures = Array.from({ length: 12 }, (_, at) => image(png(at + 1, 1)))
    const { files, end } = await oneResult(place.url, pictures)
    expect(files.length).toBe(10)
    expect(end.text).toContain("not kept: a result may bring 10 files")

    await using server = await PlayedServer.open([DRAW], () => ({
      content: [image(Buffer.concat([PICTURE, Buffer.from("very-secret-indeed")])), image(png(9, 9))],
    }))
    const [told] = named(server.url)
    await using world = await openMcpWorld([{ ...told!, secrets: ["very-secret-indeed"] }], {
      ...{ url: place.url, model: drawing(), bytesOfFiles: 2 * PICTURE.length },
    })
    const { data, text } = await drawn(world, await world.begin("Draw."))
    expect(filesIn(data)).toEqual([])
    expect(text).toContain("not kept: it contains secrets that were sent to the server")
    expect(text).toContain("not kept: there is no more room for files of tools")
  })

  test("are not sent again if a provider refused them, and the conversation continues", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([DRAW], () => ({ content: [image(PICTURE)] }))
    const refused = fails("provider_error", { retriable: false, refusesRequest: true })
    const model = seeing(scripted(calls("notes__draw", {}), refused, says("Without it.")))
    await using world = await openMcpWorld(named(server.url), { url: place.url, model })
    const id = await world.begin("Draw.")
    expect((await world.load(id)).run?.status).toBe("failed")
    await world.send(id, "Go on.")
    const shown = model.received.map(({ request: { history } }) =>
      history.flatMap((turn) => (turn.role === "tool" ? (turn.shown ?? []) : [])),
    )
    expect(shown.map((files) => files.map(({ type }) => type))).toEqual([[], ["bytes"], ["words"]])
    expect(shown.at(-1)?.[0]?.text).toContain(
      "was returned by notes__draw and is not shown: a provider did not take it",
    )
    expect((await world.load(id)).run?.status).toBe("completed")
  })

  test("does not rename a file that its user has uploaded", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([DRAW], () => ({ content: [image(PICTURE)] }))
    await using world = await openMcpWorld(named(server.url), { url: place.url, model: drawing() })
    const { toNewFile } = await import("../../core/server/files/uploads.ts")
    const own = await world.store.messageFiles.keep(
      world.user,
      await toNewFile(PICTURE, { name: "mine.png", type: "" }),
      1e6,
    )
    const [file] = filesIn((await drawn(world, await world.begin("Draw."))).data)
    expect(file).toMatchObject({ id: own.id, name: "draw-1.png" })
    expect(await world.store.messageFiles.find(world.user, own.id)).toMatchObject({ name: "mine.png" })
  })
})

describe.each(databasesInTurn(import.meta.filename))("a file of a result, on $name", ({ create }) => {
  test("stays as long as its conversation, also past the sweep, and is deleted with it", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([DRAW], () => ({ content: [image(PICTURE)] }))
    await using world = await openMcpWorld(named(server.url), { url: place.url, model: drawing() })
    const id = await world.begin("Draw.")
    const [file] = filesIn((await drawn(world, id)).data)
    await sweepMessageFiles(world.store.engine, later())
    expect(await world.store.messageFiles.find(world.user, file!.id)).toMatchObject({ name: "draw-1.png" })
    await world.store.retention.eraseConversation(world.user, id)
    expect(await world.store.messageFiles.find(world.user, file!.id)).toBeUndefined()
  })

  test.each(["before", "after"] as const)(
    "is there %s a process is killed during its result, or is swept up",
    async (when) => {
      await using place = await create()
      await using server = await PlayedServer.open([DRAW], () => ({ content: [image(PICTURE)] }))
      const asked = named(server.url, { tools: {} })
      let id: ConversationId
      {
        const between = (real: Journal) => dyingAt({ at: 7, when }, real)
        await using world = await openMcpWorld(asked, { url: place.url, model: drawing(), between })
        id = await world.begin("Draw.")
        for (const { proposed } of await world.proposals(id))
          await world.decide(id, proposed.id, "commit").catch(() => {})
        expect(server.calls.length).toBe(1)
      }
      await using world = await openMcpWorld(asked, { url: place.url, model: seeing(scripted(says("Drawn."))) })
      const kept = "SELECT id FROM message_file"
      expect(await world.store.engine.query(kept, [])).toHaveLength(1)
      await sweepMessageFiles(world.store.engine, later())
      const ends = of(await world.events(id), "tool_end")
      expect(ends).toHaveLength(when === "after" ? 1 : 0)
      const rows = await world.store.engine.query<{ id: string }>(kept, [])
      expect(rows.map((row) => row.id)).toEqual(ends.flatMap(({ data }) => filesIn(data).map((file) => file.id)))
    },
  )
})
