import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { command } from "../support/processes/commands.ts"
import { isReal } from "../support/files/commands.ts"
import { writeSmallProgram } from "../mcp/small-program.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { TerminalProcess } from "../terminal/terminal.ts"

test.each(["serve", "migrate", "rotate-keys", "doctor"])(
  "pawl %s does nothing if it gets an argument that it does not know",
  async (name) => {
    const data = dataFolder()
    const { code, stdout, stderr } = await command([name, "help"], {
      PAWL_DATA: data,
      PAWL_HOST: "no.such.host.invalid",
    })
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toMatch(
      new RegExp(
        `^pawl: Unexpected argument "help"\\.\n\nUsage: pawl ${name}.*\nRun "pawl ${name} --help" for all options\\.$`,
        "m",
      ),
    )
    expect(readdirSync(data), "nothing was begun").toEqual([])
  },
)

test("pawl help with a command prints its --help, and an unknown command is no success", async () => {
  const asked = await command(["help", "ingest"])
  expect(asked).toEqual(await command(["ingest", "--help"]))
  expect(asked.stdout).toContain("Usage: pawl ingest")
  const unknown = await command(["help", "frobnicate"])
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    'pawl: Unknown command "frobnicate". Run "pawl help" for all commands.\n',
  ])
  expect((await command(["chatt"])).stderr).toContain('Unknown command "chatt". Did you mean "chat"? Run "pawl help"')
})

test.runIf(isReal)(
  "after -- an argument never asks for help: it is part of the request, or of another program's command line",
  async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const program = join(dataFolder(), "small")
    mkdirSync(program)
    const server = join(program, writeSmallProgram(program))
    const added = await command(["mcp", "add", "box", "--", "node", server, "-h", "box"], environment)
    expect([added.code, added.stdout], added.stderr).toEqual([0, expect.stringContaining("Saved to")])
    const kept = JSON.parse(readFileSync(join(environment.PAWL_DATA, "mcp.json"), "utf8")) as object
    expect(kept).toMatchObject({ mcpServers: { box: { command: "node", args: [server, "-h", "box"] } } })
    expect((await command(["exec", "--", "--help"], environment)).stdout).not.toContain("Usage:")
  },
)

test("pawl exec names the command that decides its change, and that command shows the change", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  const folder = dataFolder()
  const decideWith = async (...words: string[]) => {
    const { code, stderr } = await command(["exec", ...words], environment)
    expect(code).toBe(2)
    return /Nothing was changed\. To decide, run: pawl (.*)$/m.exec(stderr)?.[1]?.split(" ") ?? []
  }
  const task = await decideWith("--agent", "workspace", "add a task: buy milk")
  expect(task).toEqual(["chat", "--conversation", expect.stringMatching(/^conv_/)])
  const file = await decideWith("--dir", folder, "create directory src")
  expect(file).toEqual(["chat", "--conversation", expect.stringMatching(/^conv_/), "--dir", folder])
  for (const [words, summary] of [
    [task, "Buy milk"],
    [file, "src"],
  ] as const) {
    await using chat = new TerminalProcess([...words, "--trust"], environment)
    await chat.showed(summary)
    await chat.showed("yes")
  }
})

test("pawl exec works in the current folder, as pawl chat does, but not in the home folder or in /", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_MODEL: "offline", HOME: dataFolder() }
  const folder = dataFolder()
  for (const place of [folder, environment.HOME]) writeFileSync(join(place, "plan.txt"), "A garden\n")
  const execIn = (cwd: string, ...words: string[]) => command(["exec", ...words], environment, "", cwd)
  const read = await execIn(folder, "read plan.txt")
  expect([read.code, read.stdout]).toEqual([0, expect.stringContaining("A garden")])
  // A change waits, because no person can be asked.
  const asked = await execIn(folder, "replace garden with forest in plan.txt")
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("(edit_file)")])
  expect(readFileSync(join(folder, "plan.txt"), "utf8")).toContain("garden")
  const changed = await execIn(folder, "--mode", "auto", "replace garden with forest in plan.txt")
  expect(changed.code).toBe(0)
  expect(readFileSync(join(folder, "plan.txt"), "utf8")).toContain("forest")
  const on = await execIn(folder, "--continue", "--json", "list the files")
  expect(on.stdout).toContain('"conversation_continued"')
  for (const place of [environment.HOME, "/"]) {
    const { stdout } = await execIn(place, "--json", "read plan.txt")
    expect(stdout).toContain('"agent":"workspace"')
    expect(stdout).not.toContain("garden")
  }
})

test("pawl exec --continue names the waiting change that its request sets aside", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  const exec = ["exec", "--dir", dataFolder()]
  const asked = await command([...exec, "create directory src", "--verbose"], environment)
  const [id = "none"] = /prop_\w+/.exec(asked.stderr) ?? []
  const next = await command([...exec, "--continue", "--verbose", "list the files"], environment)
  expect([next.code, next.stderr]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(
        `^pawl: your new request set aside a change .*: Create directory src \\(create_directory\\) \\(${id}\\)$`,
        "m",
      ),
    ),
  ])
  const later = await command([...exec, "--continue", "--json", "list the files"], environment)
  expect(later.stderr).not.toContain("set aside")
})

test("pawl exec shows ids only with --verbose", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  const plain = await command(["exec", "--agent", "workspace", "add a task: buy milk"], environment)
  expect(plain.stderr).toContain('Waiting for your approval: Create task "Buy milk"')
  expect(plain.stderr).not.toContain("prop_")
  const verbose = await command(["exec", "--agent", "workspace", "--verbose", "add a task: buy milk"], environment)
  expect(verbose.stderr).toMatch(/^conversation conv_\w+$[^]*\(prop_\w+\)$/m)
})

test("at a terminal, exec in the home folder says that it does not use its files", async () => {
  const start = (...words: string[]) =>
    new TerminalProcess(["exec", "--model", "offline", ...words, "hello"], { PAWL_DATA: dataFolder() })
  await using without = start()
  await without.showed("The files of this folder are not used. To work on them, run: pawl exec --dir .")
  await using chosen = start("--agent", "workspace")
  await chosen.ended
  expect(chosen.all).not.toContain("--dir")
})
