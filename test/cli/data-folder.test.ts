import { DatabaseSync } from "node:sqlite"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { isReal } from "../support/files/commands.ts"
import { writeSmallProgram } from "../mcp/small-program.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"

const conversationsIn = (file: string): unknown =>
  new DatabaseSync(file, { readOnly: true }).prepare("SELECT count(*) AS count FROM conversation").get()?.count

test("without PAWL_DATA every command uses the user's data folder, reports it, and leaves the project as it was", async () => {
  const [home, project] = [dataFolder(), dataFolder()]
  const data = join(home, ".local/share/pawl")
  const programs = dataFolder()
  const server = join(programs, writeSmallProgram(programs))
  const run = (...words: string[]) =>
    command(words, { HOME: home, PAWL_LOG: "off", PAWL_MODEL: "offline" }, "", project)

  const writing = [
    await run("exec", "--dir", ".", "list the files"),
    await run("exec", "--agent", "workspace", "list my tasks"),
    await run("migrate"),
    await run("invite", "--user", "ada"),
    await run("token", "create", "--user", "ada"),
    await run("trust", "."),
    ...(isReal ? [await run("mcp", "add", "notes", "--", "node", server)] : []), // a program starts in a sandbox only
    await run("rotate-keys"),
    await run("backup", join(home, "copy.db")),
  ]
  for (const { code, stderr } of writing) {
    expect(stderr).toContain(`Data folder: ${data} `)
    expect(code).toBe(0)
  }
  expect(conversationsIn(join(home, "copy.db"))).toBe(2)
  if (isReal) expect(readFileSync(join(data, "mcp.json"), "utf8")).toContain(server)
  expect((await run("doctor")).stdout).toContain(`database: SQLite in ${data},`)
  expect(readdirSync(project)).toEqual([])
})

test("data that an earlier version stored in the project is named, with how to use it, and not opened", async () => {
  const [home, project] = [dataFolder(), dataFolder()]
  const old = join(project, ".pawl")
  const run = (environment: Record<string, string>, ...words: string[]) =>
    command(words, { HOME: home, PAWL_LOG: "off", ...environment }, "", project)
  mkdirSync(old)
  writeFileSync(join(old, "notes.txt"), "not ours")
  expect((await run({}, "token", "create", "--user", "ada")).stderr).not.toContain("no longer")

  await run({ PAWL_DATA: ".pawl" }, "exec", "list my tasks")
  writeFileSync(join(old, "mcp.json"), '{ "mcpServers": {} }')
  const { stderr } = await run({}, "token", "create", "--user", "ada")
  expect(stderr).toMatch(
    /\.pawl is no longer the default data folder\. It contains a database \(pawl\.db, .*MCP servers/,
  )
  expect(stderr).toContain(`set PAWL_DATA=${old}, or move its contents to ${join(home, ".local/share/pawl")}.`)

  const chosen = await run({ PAWL_DATA: ".pawl" }, "backup", join(home, "copy.db"))
  expect([chosen.code, chosen.stderr.includes("no longer")]).toEqual([0, false])
  expect(conversationsIn(join(home, "copy.db"))).toBe(1)
})

test("a server over the same data leaves the run of a killed terminal to the folder it works in, and continues all others", async () => {
  const [data, project] = [dataFolder(), dataFolder()]
  let asks = 0
  await using provider = await ProviderServer.open((response, { body }) => {
    const isOfFolder = JSON.stringify(body.tools).includes("edit_file")
    asks += 1
    if (asks > 2) return void streamHead(response).end(chatReply(isOfFolder ? "Files." : "Tasks."))
    streamHead(response).write(sse(chatChunk({ role: "assistant", content: "I begin" })))
  })
  const settings = { PAWL_DATA: data, PAWL_PORT: "0", PAWL_MODEL: "qwen", LM_STUDIO_ENDPOINT: provider.url }
  for (const words of [
    ["exec", "--dir", project, "look"],
    ["exec", "--agent", "workspace", "list my tasks"],
  ]) {
    const killed = new PawlProcess(words, settings)
    await killed.says(/I begin/)
    await killed.kill("SIGKILL")
  }
  await using server = new PawlProcess(["serve"], settings)
  const [, url] = await server.says(/listening on (\S+)/)
  const ada = new Visitor(fetch, await tokenFor(settings, userInfo().username), url)
  const statuses = async () => {
    const { items } = (await ada.get("/api/conversations")).body
    return Object.fromEntries(items.map(({ agent, status }: Record<string, string>) => [agent, status]))
  }
  await expect.poll(statuses).toEqual({ workspace: "active", files: "running" })
  expect(provider.received).toHaveLength(3)
  await server.kill("SIGTERM")

  const { stdout } = await command(["exec", "--dir", project, "--continue", "go on"], settings)
  expect(stdout).toContain("Files.")
})
