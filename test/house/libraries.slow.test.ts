import { execFile } from "node:child_process"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { beforeAll, describe, expect, test } from "vitest"
import { libraries, specifierOf } from "../../scripts/entries.ts"
import { installLibrary, ownNode, ownPath, sizeOf } from "../support/processes/installed-package.ts"

// The libraries, installed without any other package.

const root = join(import.meta.dirname, "../..")
const run = promisify(execFile)

/** Pages that the package names in its README, and the list of all pages. */
const DOCS = ["guide/library.md", "reference/client.md", "guide/device.md", "llms.txt"].map((page) =>
  join("dist/docs", page),
)

describe.each(Object.entries(libraries))("@pawl/%s", (name, { manifest, entries }) => {
  const specifiers = Object.keys(entries).map((entry) => specifierOf(manifest.name, entry))
  let app: string
  beforeAll(async () => {
    app = await installLibrary(name as keyof typeof libraries)
  }, 300_000)

  test("installs at most 15 MB, with its dependencies", () => {
    expect(sizeOf(join(app, "node_modules"))).toBeLessThan(15e6)
  })

  test("contains its documentation, but no sources, no tests and no maps", () => {
    const files = readdirSync(join(app, "node_modules", manifest.name), { recursive: true, encoding: "utf8" })
    expect(files.filter((path) => /\.(?:map|tsx?)$/.test(path) && !path.endsWith(".d.ts"))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", join("dist", "LICENCES.txt"), ...DOCS]))
  })

  test("exports in an empty project what the sources export", async () => {
    const script = `for (const name of ${JSON.stringify(specifiers)}) console.log(Object.keys(await import(name)).sort().join())`
    const words = ["--input-type=module", "--eval", script]
    const { stdout } = await run(process.execPath, words, { cwd: app })
    const sources = await run(process.execPath, ["--conditions=pawl-source", ...words], { cwd: root })
    expect(stdout.trim().split("\n")).toHaveLength(specifiers.length)
    expect(stdout).toBe(sources.stdout)
  })

  test("compiles with strict TypeScript, declarations included", async () => {
    const uses = specifiers.map((specifier, index) => `export * as used${index} from "${specifier}"`)
    const own = `import type { AskOptions } from "@pawl/core"\nexport const again: AskOptions = { conversation: undefined }`
    writeFileSync(join(app, "uses.ts"), [...uses, ...(name === "core" ? [own] : [])].join("\n"))
    const typeRoots = [join(root, "node_modules", "@types")]
    const strict = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      target: "esnext",
      module: "nodenext",
    }
    const compilerOptions = { ...strict, lib: ["esnext", "dom"], types: ["node"], typeRoots }
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["uses.ts"] }))
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc")
    const { stdout } = await run(process.execPath, [tsc, "-p", app]).catch((error: { stdout: string }) => error)
    expect(stdout).toBe("")
  })

  test.skipIf(Number(ownNode.split(".")[0]) >= 24)("works on an older Node, or names the Node it needs", async () => {
    for (const specifier of specifiers) {
      const words = ["--input-type=module", "--eval", `await import(${JSON.stringify(specifier)})`]
      const { stderr = "" } = await run("node", words, { cwd: app, env: { PATH: ownPath } }).catch(
        (error: { stderr: string }) => error,
      )
      const names = stderr.includes("Error: Pawl needs Node 24 or newer; this is Node ")
      expect([specifier, stderr === "" || names]).toEqual([specifier, true])
    }
  })
  test.runIf(name === "core")("says in one sentence that PostgreSQL needs pg", async () => {
    const program = `import { openPawl } from "@pawl/core"
      import { scripted } from "@pawl/core/testing"
      const opening = openPawl({ models: scripted(), store: "postgres://127.0.0.1:1/pawl" })
      await opening.catch((error) => console.log(error.message))`
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd: app })
    expect(stdout).toBe("The database is not available: PostgreSQL needs the package pg, so run npm install pg.\n")
  })
})
