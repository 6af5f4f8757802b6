import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PassThrough, Readable, Writable } from "node:stream"
import { tmpdir } from "node:os"
import { expect, test } from "vitest"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { EditorSide, type EditorSideOptions } from "./editor.ts"
import { atEndOfFile } from "../support/end-of-file.ts"
import { launcher } from "../support/processes/package.ts"
import { beginsOnly, KilledServer } from "../support/processes/killed-server.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { calls, provided } from "../terminal/terminal-world.ts"

const living = new Set<AcpProcess>()
atEndOfFile(async () => void (await Promise.all([...living].map((each) => each.kill()))))

/** `pawl acp` as an editor starts it, with the official client on its pipes. */
class AcpProcess {
  readonly editor: EditorSide
  readonly ended: Promise<number | null>
  stdout = ""
  stderr = ""
  readonly #child

  constructor(words: readonly string[], settings: Record<string, string>, options?: EditorSideOptions) {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const env = { PATH, NODE_COMPILE_CACHE, HOME: tmpdir(), ...settings }
    this.#child = spawn(process.execPath, [launcher, "acp", ...words], { env, stdio: "pipe" })
    living.add(this)
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text))
    this.ended = once(this.#child, "close").then(([code]) => {
      living.delete(this)
      return code as number | null
    })
    this.#child.stdout.on("data", (bytes: Buffer) => (this.stdout += bytes.toString("latin1")))
    const read = this.#child.stdout.pipe(new PassThrough())
    const [input, output] = [Readable.toWeb(read), Writable.toWeb(this.#child.stdin)]
    this.editor = new EditorSide(output as WritableStream<Uint8Array>, input as ReadableStream<Uint8Array>, options)
  }

  /** Closes the pipes, as an editor does when it exits. */
  hangUp(): Promise<number | null> {
    this.#child.stdin.end()
    return this.ended
  }

  kill(): Promise<number | null> {
    this.#child.kill("SIGKILL")
    return this.ended
  }
}

const EDIT = calls("edit_file", { path: "README.md", old_text: "colour", new_text: "color" })

test("pawl acp writes only protocol messages to stdout; killed during a run, it continues after a restart and sends the whole run", async () => {
  const begins = beginsOnly()
  await using world = await provided(begins.reply, chatReply("Begun anew."), EDIT, chatReply("Mended."))
  const file = join(world.cwd, "README.md")
  writeFileSync(file, "The colour of the site\n")
  const first = new AcpProcess([], world.settings)
  const { agentInfo } = await first.editor.initialize()
  expect(agentInfo).toMatchObject({ name: "pawl", title: "Pawl" })
  const { sessionId } = await first.editor.begin(world.cwd)
  const lost = first.editor.say(sessionId, "work").catch((error: unknown) => error)
  await first.editor.until(() => first.editor.words("agent_message_chunk") === "It begins")
  await begins.asked
  await first.kill()
  expect(await lost).toBeInstanceOf(Error)

  const second = new AcpProcess([], world.settings)
  await second.editor.initialize()
  const { sessions } = await second.editor.agent.request("session/list", { cwd: world.cwd })
  expect(sessions).toMatchObject([{ sessionId, cwd: world.cwd, title: "work" }])
  await second.editor.load(sessionId, world.cwd)
  expect(second.editor.words("user_message_chunk")).toBe("work")
  await second.editor.until(() => second.editor.words("agent_message_chunk").endsWith("Begun anew."))
  // The editor exits while a change is pending: the next one is asked.
  void second.editor.say(sessionId, "mend it").catch(() => {})
  await second.editor.question(0)
  expect(await second.hangUp()).toBe(0)

  // With a pack that prints to stdout, where an editor expects only the protocol.
  const pack = join(world.cwd, "noisy.mjs")
  const noise = `console.log("noise of a pack"); process.stdout.write("more of it\\n")`
  writeFileSync(pack, `${noise}\nexport default { name: "noisy", open: () => ({ agents: [] }) }`)
  const third = new AcpProcess([], { ...world.settings, PAWL_PACKS: pack }, { always: "yes" })
  await third.editor.initialize()
  await third.editor.load(sessionId, world.cwd)
  await third.editor.until(() => third.editor.words("agent_message_chunk").endsWith("Mended."))
  expect(readFileSync(file, "utf8")).toBe("The color of the site\n")
  expect(await third.hangUp()).toBe(0)
  expect([second.stderr, third.stderr]).toEqual(["", "noise of a pack\nmore of it\n"])
  const lines = `${first.stdout}${second.stdout}${third.stdout}`.trim().split("\n")
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" })
})

test("when the server is killed during a run, the turn continues once it is back, with the files of this machine", async () => {
  const begins = beginsOnly()
  await using world = await provided(begins.reply, EDIT, chatReply("Mended."))
  const file = join(world.cwd, "README.md")
  writeFileSync(file, "The colour of the site\n")
  await using server = await KilledServer.open(world.settings)
  const settings = { PAWL_TOKEN: server.token, PAWL_DATA: dataFolder() }
  const acp = new AcpProcess(["--server", server.url], settings, { always: "yes" })
  const { editor } = acp
  const { agentCapabilities } = await editor.initialize()
  expect(agentCapabilities?.mcpCapabilities).toEqual({ http: false, sse: false })
  const { sessionId } = await editor.agent.request("session/new", {
    cwd: world.cwd,
    mcpServers: [{ name: "weather", command: "weather", args: [], env: [] }],
  })
  const unused = "The MCP server weather of this editor is not used, because this conversation runs on a server"
  await editor.until(() => editor.words("agent_message_chunk").includes(unused))
  const answered = editor.say(sessionId, "mend it")
  await editor.until(() => editor.words("agent_message_chunk").endsWith("It begins"))
  await begins.asked
  await server.kill()
  await server.comeBack()
  expect(await answered).toEqual({ stopReason: "end_turn" })
  expect(editor.words("agent_message_chunk")).toMatch(/Mended\.$/)
  const { sessions } = await editor.agent.request("session/list", { cwd: world.cwd })
  expect(sessions).toMatchObject([{ sessionId, cwd: world.cwd, title: "mend it" }])
  expect(readFileSync(file, "utf8")).toBe("The color of the site\n")
  expect(await acp.hangUp()).toBe(0)
})
