import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { isLong } from "../support/sizes.ts"

const root = join(import.meta.dirname, "..", "..")
const guides = join(root, "docs", "guide", "coming-from")
const support = join(root, "test", "support", "coming-from")

/** Packages that the other sides need and this checkout lacks. The long run installs them into a folder of their own. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  mastra: ["@mastra/core@1.71.0", "@mastra/libsql@1.23.1", "@mastra/memory@1.31.0", "ai@7", "zod@4"],
  "openai-agents": ["@openai/agents@0.20.0", "zod@4"],
}

/** The file with the scripted model of a side. Mastra takes models of the AI SDK. */
const MODELS: Readonly<Record<string, string>> = { mastra: "ai-sdk.ts", "openai-agents": "openai-agents.js" }

interface Program {
  readonly title: string
  readonly side: string
  readonly code: string
  readonly output: string
  readonly runs: number
  readonly killed: boolean
  /** Other files that it imports, by name. */
  readonly files: Readonly<Record<string, string>>
}

const BLOCK = /^```(?:ts (?<side>[\w-]+)(?<marks>[^\n]*)|text)\n(?<code>[\s\S]*?)^```$/gm

/** The programs of a page. Each prints what the next text block shows. */
function programsOf(page: string): Program[] {
  const files: Record<string, Record<string, string>> = {}
  const sections = readFileSync(join(guides, page), "utf8").split(/^## /m).slice(1)
  return sections.flatMap((section) => {
    const title = section.slice(0, section.indexOf("\n"))
    const blocks = [...section.matchAll(BLOCK)].map(({ groups = {} }) => groups)
    return blocks.flatMap(({ side, marks = "", code = "" }, index) => {
      if (side === undefined) return []
      const file = /file=(\S+)/.exec(marks)?.[1]
      if (file !== undefined) (files[side] ??= {})[file] = code
      if (file !== undefined) return []
      const output = blocks.slice(index).find((block) => block.side === undefined)?.code ?? ""
      const runs = Number(/runs=(\d)/.exec(marks)?.[1] ?? 1)
      return [{ title, side, code, output, runs, killed: marks.includes("killed"), files: { ...files[side] } }]
    })
  })
}

async function runProgram({ side, code, runs, killed, files }: Program, place: string): Promise<string> {
  const folder = await mkdtemp(join(place, ".guide-"))
  try {
    const own = { ...files, "program.ts": code }
    await copyFile(join(support, MODELS[side] ?? `${side}.ts`), join(folder, "model.ts"))
    for (const name of ["bank.ts", "script.ts"]) await copyFile(join(support, name), join(folder, name))
    for (const [name, text] of Object.entries(own)) await writeFile(join(folder, name), text)
    const env = { ...process.env, ...(killed ? { PAWL_TEST_KILLED: "1" } : {}) }
    const run = () =>
      promisify(execFile)(process.execPath, ["--conditions=pawl-source", "program.ts"], { cwd: folder, env }).catch(
        (error: { readonly signal?: string; readonly stdout: string }) => {
          if (killed && error.signal === "SIGKILL") return error
          throw error
        },
      )
    let printed = ""
    for (let time = 0; time < runs; time++) printed += (await run()).stdout
    return printed
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe.each(readdirSync(guides).sort())("the programs of coming-from/%s", (page) => {
  const side = basename(page, ".md")
  const packages = PACKAGES[side] ?? []
  const programs = programsOf(page)

  test("are ten, each on both sides", () => {
    const numbered = programs.map(({ title, side: of }) => `${Number.parseInt(title, 10)} ${of}`)
    expect(numbered).toEqual(Array.from({ length: 10 }, (_, at) => [`${at + 1} ${side}`, `${at + 1} pawl`]).flat())
  })

  test("has the same programs of Pawl as the page of the AI SDK, which runs them", () => {
    const ofPawl = (all: readonly Program[]) => all.filter((program) => program.side === "pawl")
    expect(ofPawl(programs)).toEqual(ofPawl(programsOf("ai-sdk.md")))
  })

  test.each(programs.filter(() => packages.length === 0))(
    "$title: $side prints what the page shows",
    async (program) => {
      expect(await runProgram(program, join(root, "test"))).toBe(program.output)
    },
  )

  describe.runIf(isLong && packages.length > 0)("with its packages", () => {
    let place = ""
    beforeAll(async () => {
      place = await mkdtemp(join(tmpdir(), `pawl-${side}-`))
      await writeFile(join(place, "package.json"), '{"private":true,"type":"module"}')
      const words = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", ...packages]
      await promisify(execFile)("npm", words, { cwd: place })
    }, 600_000)
    afterAll(() => rm(place, { recursive: true, force: true }))

    test.each(programs.filter((program) => program.side === side))(
      "$title: $side prints what the page shows",
      async (program) => {
        expect(await runProgram(program, place)).toBe(program.output)
      },
    )
  })
})
