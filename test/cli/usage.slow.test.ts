import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

test.each(["serve", "migrate", "rotate-keys", "doctor"])(
  "pawl %s does nothing where it is told a word that it has no use for",
  async (name) => {
    const data = dataFolder()
    const { code, stdout, stderr } = await command([name, "help"], {
      PAWL_DATA: data,
      PAWL_HOST: "no.such.host.invalid",
    })
    expect([code, stdout]).toEqual([1, ""])
    expect(stderr).toContain(`pawl ${name} takes no "help". \`pawl ${name} --help\` lists what it takes.`)
    expect(readdirSync(data), "nothing was begun").toEqual([])
  },
)

test("pawl help and a command is its --help, and a command that is not there is no success", async () => {
  const asked = await command(["help", "ingest"])
  expect(asked).toEqual(await command(["ingest", "--help"]))
  expect(asked.stdout).toContain("Usage: pawl ingest")
  const unknown = await command(["help", "frobnicate"])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('no command "frobnicate"')])
})

test("behind -- nothing asks for help: it is a request, or the words of another program", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  const added = await command(["mcp", "add", "box", "--", "docker", "run", "-h", "box", "image"], environment)
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining("Written to")])
  const kept = JSON.parse(readFileSync(join(environment.PAWL_DATA, "mcp.json"), "utf8")) as object
  expect(kept).toMatchObject({ mcpServers: { box: { command: "docker", args: ["run", "-h", "box", "image"] } } })
  expect((await command(["exec", "--", "--help"], environment)).stdout).not.toContain("Usage:")
})

test("pawl exec says where its change can be decided, which is where its data is", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  const task = await command(["exec", "add a task: buy milk"], environment)
  expect([task.code, task.stderr]).toEqual([
    2,
    expect.stringContaining("Decide it in the page that pawl serve brings."),
  ])
  expect(task.stderr, "it goes on with conversations of a folder only").not.toContain("pawl chat")
  const file = await command(["exec", "--dir", dataFolder(), "create directory src"], environment)
  expect([file.code, file.stderr]).toEqual([2, expect.stringContaining("Decide it with pawl chat --continue in that")])
})
