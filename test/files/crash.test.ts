import { spawnSync } from "node:child_process"
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Answer, CallContext, WriteOutcome, Preview, Tool } from "../../core/engine/definition/tool.ts"
import { filesTools } from "../../packs/files/agent.ts"
import { fileHash } from "../../packs/files/folder/folder.ts"
import { UndoFolder } from "../../packs/files/folder/undo-bytes.ts"
import { openFolder } from "../../packs/files/folder/local-folder.ts"
import { noSandbox } from "../../packs/files/sandbox/sandbox.ts"
import { newId } from "../../core/protocol/ids.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { programOf } from "../support/processes/processes.ts"

const context = (agreed?: CallContext["approved"]): CallContext => ({
  user: newId("user"),
  conversation: newId("conv"),
  callId: newId("call"),
  signal: new AbortController().signal,
  site: "server",
  deviceId: null,
  connectionId: null,
  now: 0,
  timeZone: "UTC",
  calledAt: 0,
  ...(agreed ? { approved: agreed } : {}),
  state: {},
  model: () => Promise.reject(new Error("none")),
})

interface Case {
  readonly tool: string
  readonly input: Record<string, unknown>
  /** Changes the file behind our back, so that neither state matches. */
  readonly meddle: (root: string) => void
}

const cases: Case[] = [
  {
    tool: "write_file",
    input: { path: "a.txt", content: "new" },
    meddle: (root) => writeFileSync(join(root, "a.txt"), "x"),
  },
  {
    tool: "write_file",
    input: { path: "n.txt", content: "new" },
    meddle: (root) => writeFileSync(join(root, "n.txt"), "x"),
  },
  {
    tool: "write_file",
    input: { path: "new/deep/n.txt", content: "new" },
    meddle: (root) => writeFileSync(join(root, "new/deep/n.txt"), "x"),
  },
  {
    tool: "edit_file",
    input: { path: "a.txt", old_text: "o", new_text: "0" },
    meddle: (root) => rmSync(join(root, "a.txt")),
  },
  { tool: "delete_file", input: { path: "a.txt" }, meddle: (root) => writeFileSync(join(root, "a.txt"), "x") },
  {
    tool: "move_file",
    input: { from: "a.txt", to: "b.txt" },
    meddle: (root) => writeFileSync(join(root, "a.txt"), "x"),
  },
]

test.each(cases)(
  "after a crash, $tool of $input is reported as done, not done or unknown",
  async ({ tool, input, meddle }) => {
    const root = dataFolder()
    writeFileSync(join(root, "a.txt"), "old")
    const kept = new UndoFolder(dataFolder())
    using folder = openFolder(root)
    const found = filesTools({ folder, undoBytes: kept, sandbox: noSandbox, environment: {} }).find(
      ({ name }) => name === tool,
    )
    const { preview, run, outcome } = found as Tool & {
      afterCrash: "ask-target"
      outcome: (...given: unknown[]) => Promise<WriteOutcome>
    }
    if (!("preview" in (found as object)) || !preview) throw new Error("it shows nothing")
    const agreed = await preview(input, context())
    expect(await outcome("call_x", input, context(agreed)), "before it").toBe("not-applied")
    await run(input, context(agreed))
    expect(await outcome("call_x", input, context(agreed)), "after it").toMatchObject({ status: "ok" })
    // A second run fails: the text to replace is gone.
    await expect(async () => run(input, context(agreed))).rejects.toThrow()
    meddle(root)
    expect(await outcome("call_x", input, context(agreed)), "after somebody else").toBe("unknown")
  },
)

test.each(["delete_file", "write_file"])(
  "the undo of a %s that was recovered after a crash also restores the mode",
  async (tool) => {
    const root = dataFolder()
    writeFileSync(join(root, "run.sh"), "old")
    chmodSync(join(root, "run.sh"), 0o750)
    using folder = openFolder(root)
    const tools = filesTools({ folder, undoBytes: new UndoFolder(dataFolder()), sandbox: noSandbox, environment: {} })
    const named = (name: string) => tools.find((one) => one.name === name) as unknown as Recoverable
    const input = tool === "delete_file" ? { path: "run.sh" } : { path: "run.sh", content: "new" }
    const { preview, run, outcome, inverse } = named(tool)
    const agreed = await preview(input, context())
    await run(input, context(agreed))
    const undo = inverse(input, (await outcome("call_x", input, context(agreed))) as Answer)
    // Changed by another program, so that the file does not show the outcome.
    if (tool === "write_file") chmodSync(join(root, "run.sh"), 0o600)
    await named(undo.tool).run(undo.input, context())
    expect(readFileSync(join(root, "run.sh"), "utf8")).toBe("old")
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o750)
  },
)

interface Recoverable {
  preview(input: object, context: CallContext): Promise<Preview>
  run(input: object, context: CallContext): Promise<Answer>
  outcome(callId: string, input: object, context: CallContext): Promise<WriteOutcome>
  inverse(input: object, answer: Answer): { tool: string; input: object }
}

test("old bytes are stored before they are replaced: on a full disk the file stays as it is", async () => {
  const [root, data] = [dataFolder(), dataFolder()]
  writeFileSync(join(root, "a.txt"), "old")
  writeFileSync(join(data, "kept"), "a file where the folder should be")
  using folder = openFolder(root)
  const kept = new UndoFolder(join(data, "kept"))
  const tool = filesTools({ folder, undoBytes: kept, sandbox: noSandbox, environment: {} }).find(
    ({ name }) => name === "delete_file",
  )
  await expect(async () => tool?.run({ path: "a.txt" }, context())).rejects.toThrow()
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("old")
})

test("stored bytes are bounded, the oldest are deleted first, and tampered ones are not used", () => {
  const data = dataFolder()
  const kept = new UndoFolder(data, 250)
  const [a, b, c] = ["a", "b", "c"].map((letter) => Buffer.alloc(100, letter)) as [Buffer, Buffer, Buffer]
  for (const bytes of [a, b]) kept.store(bytes)
  utimesSync(join(data, fileHash(a)), 1, 1)
  kept.store(c)
  expect([a, b, c].map((bytes) => kept.get(fileHash(bytes))?.equals(bytes))).toEqual([undefined, true, true])
  writeFileSync(join(data, fileHash(b)), "tampered")
  expect(kept.get(fileHash(b))).toBeUndefined()
  expect(kept.get("../../etc/passwd")).toBeUndefined()
})

test.each([
  ["a write", 'folder.write("a.txt", Buffer.from("new"), { expect: fileHash(Buffer.from("old")) })', "fsyncSync"],
  ["a deletion", 'folder.remove("a.txt", fileHash(Buffer.from("old")))', "unlinkSync"],
])(
  "the remains of a %s that was killed in the middle are deleted at the next read or write",
  async (_, work, dying) => {
    const root = dataFolder()
    const here = (name: string) => JSON.stringify(new URL(`../../packs/files/folder/${name}`, import.meta.url).href)
    const program = programOf(`
    import fs from "node:fs"
    import { syncBuiltinESMExports } from "node:module"
    fs.${dying} = () => process.kill(process.pid, "SIGKILL")
    syncBuiltinESMExports()
    const { openFolder } = await import(${here("local-folder.ts")})
    const { fileHash } = await import(${here("folder.ts")})
    const folder = openFolder(${JSON.stringify(root)})
    ${work}
  `)
    const left = () => readdirSync(root).filter((name) => name.startsWith(".pawl-"))
    const die = () => {
      writeFileSync(join(root, "a.txt"), "old")
      expect(spawnSync(process.execPath, [program.pathname]).signal).toBe("SIGKILL")
      expect(left()).toHaveLength(1)
    }
    using folder = openFolder(root)
    die()
    folder.deleteStaleDrafts("a.txt")
    expect(left()).toEqual([])
    die()
    folder.write("b.txt", Buffer.from("another"), { expect: "absent" })
    expect(left()).toEqual([])
    // Files of a running writer stay.
    const mine = `.pawl-${process.ppid}-abcdefghijkl.tmp`
    writeFileSync(join(root, mine), "")
    folder.deleteStaleDrafts("a.txt")
    expect(left()).toEqual([mine])
  },
)
