import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { serveEditor } from "../../adapters/acp/serve-editor.ts"
import { silentLog } from "../../core/shared/log.ts"
import { openEditorPlaces, toServers } from "../../apps/cli/open/editor-places.ts"
import { TrustedFolders } from "../../apps/cli/open/trusted-folders.ts"
import { readConfig } from "../../apps/cli/settings/config.ts"
import { RecentSecrets } from "../../core/models/providers/errors/recent-secrets.ts"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { EditorSide, type EditorSideOptions } from "./editor.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { PlayedServer } from "../mcp/played-server.ts"
import { calls, provided } from "../terminal/terminal-world.ts"

test("MCP servers of an editor get names that tools can have, keep their secrets, and count as new if their command changes", () => {
  const program = {
    name: "My Files!",
    command: "npx",
    args: ["-y", "x"],
    env: [{ name: "KEY", value: "a-long-secret" }],
  }
  const sse = { type: "sse" as const, name: "old", url: "http://127.0.0.1:1", headers: [] }
  const http = { type: "http" as const, name: "42", url: "http://127.0.0.1:1", headers: [] }
  const place = { dir: "/work", agent: "files", others: [] }
  const { used, unused } = toServers([program, { ...program, name: "my-files" }, sse, http], place)
  expect(used.map(({ name }) => name)).toEqual(["myfiles", "myfiles2", "mcp42"])
  expect(used[0]).toMatchObject({
    secrets: ["a-long-secret"],
    agents: ["files"],
    target: { kind: "program", command: ["npx", "-y", "x"], folder: "/work", environment: { KEY: "a-long-secret" } },
  })
  expect(unused).toEqual(["The MCP server old of this editor is not used, because it supports only SSE."])
  const [changed] = toServers([{ ...program, args: ["-y", "y"] }], place).used
  expect(changed?.key).not.toBe(used[0]?.key)
  // One of the operator's servers has the same name, so this one gets a number.
  expect(toServers([program], { ...place, others: used }).used[0]?.name).toBe("myfiles3")
})

/** An editor connected to Pawl in this process, as `pawl acp` does it. */
async function editorAt(settings: Record<string, string>, options?: EditorSideOptions) {
  const { PATH } = process.env
  const config = readConfig({ PATH, HOME: settings.PAWL_DATA, PAWL_LOG: "off", ...settings })
  const recent = new RecentSecrets(config.secrets)
  const places = openEditorPlaces(config, { log: silentLog, recent, server: undefined, begins: {} })
  const [there, back] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()]
  const stopping = new AbortController()
  const serving = serveEditor({
    ...{ input: there.readable, output: back.writable, places, folder: "/", signal: stopping.signal },
    ...{ info: { name: "pawl", version: "0" }, failed() {} },
  })
  const editor = new EditorSide(there.writable, back.readable, options)
  const { agentCapabilities } = await editor.initialize()
  return {
    ...{ editor, agentCapabilities },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await serving
      await places[Symbol.asyncDispose]()
    },
  }
}

test("tools of an editor's MCP server need approval, and an unsupported server is reported by name", async () => {
  await using played = await PlayedServer.open([{ name: "tell", description: "Tells the weather." }], () => ({
    content: [{ type: "text", text: "Rain, all day." }],
  }))
  await using world = await provided(calls("weather__tell", {}), chatReply("Take an umbrella."))
  await using place = await editorAt(world.settings)
  const { editor } = place
  expect(place.agentCapabilities?.mcpCapabilities).toEqual({ http: true, sse: false })
  const { sessionId } = await editor.agent.request("session/new", {
    cwd: world.cwd,
    mcpServers: [
      { type: "http", name: "Weather", url: played.url, headers: [{ name: "authorization", value: "Bearer of it" }] },
      { type: "sse", name: "old", url: played.url, headers: [] },
    ],
  })
  await editor.until(() => editor.words("agent_message_chunk").includes("The MCP server old of this editor"))
  const answered = editor.say(sessionId, "what is the weather?")
  const { request, answer } = await editor.question(0)
  expect(request.toolCall.name).toBe("weather__tell")
  expect(played.calls).toEqual([])
  answer("yes")
  expect(await answered).toEqual({ stopReason: "end_turn" })
  expect(played.calls).toMatchObject([{ name: "tell", headers: { authorization: "Bearer of it" } }])
  expect(editor.words("agent_message_chunk")).toContain("Take an umbrella.")
})

test("a folder opened through a link keeps that name, and its unsaved files are found", async () => {
  await using world = await provided(
    calls("edit_file", { path: "a.txt", old_text: "unsaved", new_text: "mended" }),
    chatReply("Done."),
  )
  writeFileSync(join(world.cwd, "a.txt"), "on disk\n")
  const link = `${world.cwd}-link`
  symlinkSync(world.cwd, link)
  const path = join(link, "a.txt")
  const can = { fs: { readTextFile: true, writeTextFile: true } }
  await using place = await editorAt(world.settings, { can, buffers: new Map([[path, "unsaved\n"]]), always: "yes" })
  const { editor } = place
  const { sessionId } = await editor.begin(link)
  await editor.say(sessionId, "mend it")
  expect(editor.writes).toEqual([{ path, content: "mended\n" }])
  expect(editor.questions[0]?.request.toolCall.locations).toEqual([{ path, line: 1 }])
  expect(await editor.agent.request("session/list", { cwd: link })).toMatchObject({
    sessions: [{ sessionId, cwd: link }],
  })
})

test("a file in the folder is as trusted as the folder, and a link that leads out of it is not one of its files", async () => {
  const [data, dir, others] = [dataFolder(), dataFolder(), dataFolder()]
  const config = readConfig({ HOME: data, PAWL_DATA: data, PAWL_MODEL: "offline", PAWL_LOG: "off" })
  const recent = new RecentSecrets(config.secrets)
  await using places = openEditorPlaces(config, { log: silentLog, recent, server: undefined, begins: {} })
  const place = await places.open(dir, { files: undefined, servers: [] })
  writeFileSync(join(dir, "own.md"), "mine")
  writeFileSync(join(others, "theirs.md"), "theirs")
  symlinkSync(join(others, "theirs.md"), join(dir, "link.md"))
  expect(await place.workFile(join(dir, "own.md"))).toEqual({ path: "own.md", trusted: false })
  new TrustedFolders(data).answer(dir, true)
  expect(await place.workFile(join(dir, "own.md"))).toEqual({ path: "own.md", trusted: true })
  for (const outside of [join(dir, "link.md"), join(others, "theirs.md"), join(dir, "missing.md")])
    expect(await place.workFile(outside)).toBeUndefined()
})
