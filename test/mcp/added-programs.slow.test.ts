import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { chatReply } from "../../core/models/providers/server.fixture.ts"
import { isReal } from "../support/files/commands.ts"
import { writeSmallProgram } from "./small-program.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { calls, folder, provided } from "../terminal/terminal-world.ts"

// Without a working bubblewrap a program is started only if mcp.json says that it needs no sandbox.
const inSandbox = test.runIf(isReal)

inSandbox("a program that pawl mcp add names is tried, and the agent of pawl chat has its tools", async () => {
  await using world = await provided(calls("echo__echo", { text: "hi" }), chatReply("Done."))
  const project = folder()
  writeSmallProgram(project)
  const added = await command(["mcp", "add", "echo", "--", "node", "server.mjs"], world.settings, "", project)
  expect([added.code, added.stdout], added.stderr).toEqual([
    0,
    expect.stringMatching(/1 tool for workspace, files\n {2}echo \[ask\] .*\nIt can read \/.*\nSaved to /),
  ])
  const asked = await command(["exec", "--dir", ".", "echo hi"], world.settings, "", world.cwd)
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("(echo__echo)")])
  const again = await command(["mcp", "add", "echo", "--", "node", "server.mjs"], world.settings, "", project)
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already has a server "echo"')])
})

inSandbox("one that does not start is not stored, and the reason names its sandbox and its error output", async () => {
  const PAWL_DATA = dataFolder()
  const project = folder()
  writeFileSync(join(project, "broken.mjs"), 'import "./missing.mjs"\n')
  const { code, stderr } = await command(
    ["mcp", "add", "broken", "--", "node", "broken.mjs"],
    { PAWL_DATA },
    "",
    project,
  )
  expect([code, existsSync(join(PAWL_DATA, "mcp.json"))]).toEqual([1, false])
  expect(stderr).toMatch(
    /broken was not added\. .*ended with exit code 1\. It ran in a sandbox \(bubblewrap\) without network/,
  )
  expect(stderr).toMatch(
    /On stderr: Error.*Cannot find module .*missing\.mjs.*To let it use the network, add --network\. To let it change a folder, add --folder DIR/,
  )
})

inSandbox(
  "one in mcp.json that never answers is left out of a run, with its sandbox and its error output",
  async () => {
    await using world = await provided(chatReply("Done without."))
    const entry = { command: "sh", args: ["-c", "echo downloading >&2; sleep 60"] }
    writeFileSync(join(world.settings.PAWL_DATA, "mcp.json"), JSON.stringify({ mcpServers: { slow: entry } }))
    const { code, stdout, stderr } = await command(["exec", "--agent", "workspace", "hello"], {
      ...world.settings,
      PAWL_LOG: "json",
    })
    expect([code, stdout], stderr).toEqual([0, "Done without.\n"])
    expect(stderr).toMatch(
      /mcp_server_failed.*took too long to answer\. It ran in a sandbox \(bubblewrap\) without network.*On stderr: downloading/,
    )
  },
)

inSandbox("it can change the folder of --folder, and of the others it reads nothing that is secret", async () => {
  const PAWL_DATA = dataFolder()
  const [project, target] = [folder(), folder()]
  const home = join(project, "home")
  mkdirSync(join(home, ".ssh"), { recursive: true })
  writeFileSync(join(home, ".ssh/id"), "secret")
  const name = writeSmallProgram(project)
  writeFileSync(
    join(project, "probe.mjs"),
    `import { readFileSync, writeFileSync } from "node:fs"
const tried = (work) => { try { work(); return "yes" } catch { return "no" } }
const here = ${JSON.stringify(project)}
const said = [tried(() => readFileSync(here + "/home/.ssh/id")), tried(() => writeFileSync(here + "/new", "")), tried(() => readFileSync(here + "/${name}"))]
writeFileSync(${JSON.stringify(join(target, "said"))}, said.join(" "))
await import(here + "/${name}")
`,
  )
  const environment = { PAWL_DATA, HOME: home }
  const words = ["mcp", "add", "probe", "--folder", target, "--", "node", "probe.mjs"]
  const { code, stderr } = await command(words, environment, "", project)
  expect(code, stderr).toBe(0)
  expect(existsSync(join(project, "new"))).toBe(false)
  expect(readFileSync(join(target, "said"), "utf8")).toBe("no no yes")
})

inSandbox("allow, change and remove write to mcp.json what they do to a program that pawl mcp add names", async () => {
  await using world = await provided(calls("echo2__echo", { text: "hi" }), chatReply("Done."))
  const project = folder()
  writeSmallProgram(project)
  const mcp = (...words: string[]) => command(["mcp", ...words], world.settings, "", project)
  const file = join(world.settings.PAWL_DATA, "mcp.json")
  const stored = () => (JSON.parse(readFileSync(file, "utf8")) as { readonly mcpServers: object }).mcpServers
  const program = { command: "node", args: [join(realpathSync(project), "server.mjs")] }

  expect(await mcp("add", "echo", "--", "node", "server.mjs")).toMatchObject({ code: 0 })
  const allowed = await mcp("allow", "echo", "echo", "read")
  expect([allowed.code, allowed.stdout], allowed.stderr).toEqual([
    0,
    expect.stringMatching(
      /^ {2}echo \[read\] Says it again\.\nSaved to .*mcp\.json\. Restart running servers to use it\.\n$/,
    ),
  ])
  expect(stored()).toMatchObject({ echo: { ...program, tools: { echo: "read" } } })
  const again = await mcp("allow", "echo", "echo", "--again")
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining("does not declare that it can safely run twice"),
  ])

  const changed = await mcp("change", "echo", "--name", "echo2", "--agent", "workspace", "--public")
  expect([changed.code, changed.stdout], changed.stderr).toEqual([
    0,
    expect.stringMatching(/^echo2 \(.*1 tool for workspace\n {2}echo \[read\]/),
  ])
  expect(stored()).toEqual({
    echo2: {
      ...program,
      reads: [realpathSync(project)],
      agents: ["workspace"],
      tools: { echo: "read" },
      data: "public",
    },
  })
  const asked = await command(["exec", "echo hi"], world.settings, "", world.cwd)
  expect([asked.code, asked.stdout], asked.stderr).toEqual([0, "Done.\n"])

  const line =
    readFileSync(file, "utf8")
      .split("\n")
      .findIndex((each) => each.includes('"echo2"')) + 1
  const moved = await mcp("change", "echo2", "--url", "https://mcp.example/mcp")
  expect([moved.code, moved.stderr]).toEqual([1, expect.stringContaining(`${file}, line ${line}`)])

  const removed = await mcp("remove", "echo2")
  expect([removed.code, removed.stdout], removed.stderr).toEqual([
    0,
    expect.stringMatching(/^echo2 was removed\. Saved to /),
  ])
  expect(stored()).toEqual({})
  expect(await mcp("add", "echo2", "--", "node", "server.mjs")).toMatchObject({ code: 0 })
})

test("a server in the file of PAWL_MCP is changed there: the error names the file and the line", async () => {
  const [PAWL_DATA, project] = [dataFolder(), folder()]
  const PAWL_MCP = join(project, "servers.json")
  const entry = { command: "node", args: ["server.mjs"] }
  writeFileSync(
    PAWL_MCP,
    JSON.stringify({ mcpServers: { other: { ...entry, tools: { echo: "read" } }, echo: entry } }, null, 2),
  )
  const mcp = (...words: string[]) => command(["mcp", ...words], { PAWL_DATA, PAWL_MCP }, "", project)
  const place = `${PAWL_MCP}, line 12`
  for (const words of [
    ["remove", "echo"],
    ["change", "echo", "--name", "echo2"],
    ["allow", "echo", "echo", "read"],
  ])
    expect(await mcp(...words), words.join(" ")).toMatchObject({ code: 1, stderr: expect.stringContaining(place) })
  const added = await mcp("add", "more", "--", "node", "server.mjs")
  expect([added.code, added.stderr, existsSync(join(PAWL_DATA, "mcp.json"))]).toEqual([
    1,
    expect.stringContaining(PAWL_MCP),
    false,
  ])
})
