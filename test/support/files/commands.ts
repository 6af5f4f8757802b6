import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import type { Answer, CallContext, Preview } from "../../../core/engine/definition/tool.ts"
import { newId } from "../../../core/protocol/ids.ts"
import type { CommandLimits } from "../../../packs/files/sandbox/command-limits.ts"
import { openFolder } from "../../../packs/files/folder/local-folder.ts"
import { runCommand } from "../../../packs/files/run-command.ts"
import { bubblewrap, findSandbox, type Sandbox, type SandboxOptions } from "../../../packs/files/sandbox/sandbox.ts"

export const scratch = () => mkdtempSync(join(tmpdir(), inject("testRun"), "command-"))
export const PATH = process.env.PATH ?? ""

interface Setting {
  readonly signal?: AbortSignal
  readonly root?: string
  readonly approved?: Preview
  readonly limits?: CommandLimits
}

/** The tool over a folder, as the loop calls it. */
export function open(sandbox: Sandbox, setting: Setting = {}) {
  const { signal = new AbortController().signal, root = scratch(), approved, limits } = setting
  const folder = openFolder(root)
  const tool = runCommand({ folder, sandbox, environment: { PATH, LANG: "C" }, ...(limits ? { limits } : {}) })
  const context = { state: {}, signal, callId: newId("call"), approved } as unknown as CallContext
  const run = async (input: object) => (await tool.run(input, context)) as Answer
  const look = async (input: object) =>
    (await (tool as { preview?: typeof tool.run }).preview?.(input, context)) as unknown as Preview
  return { root, run, look }
}

/** A sandbox whose home folder is empty by default. */
export const place = (given: Partial<SandboxOptions> = {}): SandboxOptions => ({
  searchPath: PATH,
  root: "/nonexistent",
  home: "/nonexistent",
  hidden: [],
  homes: scratch(),
  id: "folder",
  ...given,
})

/** Stands in for bubblewrap: records its arguments and runs the command without a sandbox. */
export function fakeBubblewrap() {
  const bin = scratch()
  const program = join(bin, "bwrap")
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$@" > ${bin}/told\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`,
  )
  chmodSync(program, 0o755)
  return { bin, program, told: () => readFileSync(join(bin, "told"), "utf8") }
}

export const fakeSandbox = () => bubblewrap(fakeBubblewrap().program, place())

/** If this machine has no bubblewrap, or may not use it, the tests of the real one are skipped. */
export const isReal = findSandbox(place({ homes: "/nonexistent" })).isEnforced
export const NO_BUBBLEWRAP = "bubblewrap is missing, or may not be used, on this machine"
