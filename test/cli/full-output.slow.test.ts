import { closeSync, existsSync, openSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

const FULL = "/dev/full"
const NO_FULL_DISK = "this system has no device that is always full"

/** A file on a disk without space. */
function openFull(): { readonly file: number } & Disposable {
  const file = openSync(FULL, "w")
  return { file, [Symbol.dispose]: () => closeSync(file) }
}

describe.skipIf(!existsSync(FULL))(`if the disk of the output is full (${NO_FULL_DISK} otherwise)`, () => {
  test("a server whose log cannot be written continues to serve, and stops cleanly", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    using full = openFull()
    await using server = new PawlProcess(["serve", "--port", "0"], environment, { stdio: ["pipe", "pipe", full.file] })
    const [, url] = await server.says(/listening on (\S+)\n/)
    const authorization = `Bearer ${await tokenFor(environment, "ada")}`
    for (const _each of "twice") {
      expect((await fetch(`${url}/api/conversations`, { headers: { authorization } })).status).toBe(200)
    }
    expect((await server.kill("SIGTERM")).code).toBe(0)
  })

  test("an answer that could not be written whole is done, is reported in one line, and is no success", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    using full = openFull()
    const add = ["exec", "--agent", "workspace", "--mode", "auto", "add a task: buy milk"]
    const cut = await new PawlProcess(add, environment, { stdio: ["pipe", full.file, "pipe"] }).ended
    expect(cut.code).toBe(1)
    expect(cut.stderr).toMatch(/^pawl: The output is incomplete because the disk is full\.$/m)
    expect(cut.stderr, "a sentence, not a stack").not.toContain("    at ")
    const list = await new PawlProcess(["exec", "--agent", "workspace", "list my tasks"], environment).ended
    expect(list.stdout.toLowerCase()).toContain("buy milk")
  })

  test("reports a file of -o that could not be written whole in one line", async () => {
    const kept = await command(["exec", "--agent", "workspace", "-o", FULL, "list my tasks"], {
      PAWL_DATA: dataFolder(),
    })
    expect([kept.code, kept.stdout]).toEqual([1, "No tasks found.\n"])
    expect(kept.stderr).toContain(`pawl: -o could not write all of ${FULL}: the disk is full.\n`)
    expect(kept.stderr, "a sentence, not a stack").not.toContain("    at ")
  })
})
