import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, extname, join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"
import { settingTable } from "../../../apps/cli/settings/table.ts"
import { usageText } from "../../../apps/strings/usage.ts"
import { CATALOGUE } from "../../../core/protocol/error-catalogue.ts"
import { isTest, readProgram } from "../sources.ts"

const root = join(import.meta.dirname, "..", "..", "..")
const folder = join(root, "docs", "recipes")
const recipes = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md")
const read = (path: string) => readFileSync(join(root, path), "utf8")

/** All texts from which an error or a log event can come. */
const sources = [
  ...Object.entries(readProgram()).flatMap(([path, text]) => (path.endsWith(".ts") && !isTest(path) ? [text] : [])),
  read("compose.yaml"),
].join("\n")

const listed = [...usageText.help.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, command]) => command as string)
const NAMES_OF_EXAMPLES: readonly string[] = ["PAWL_URL", "PAWL_EXAMPLE", "PAWL_TEST_SEED"]

describe.each(recipes)("the recipe %s", (name) => {
  const text = read(join("docs/recipes", name))

  test("states what you get, what you need, how to check that it works, and what can go wrong", () => {
    const parts = [
      /^# .+\n\nYou get /,
      /\n\*\*You need:\*\* /,
      /\n## Check that it works\n/,
      /\n## What can go wrong\n[^#]*^- /m,
    ]
    expect(parts.filter((part) => !part.test(text))).toEqual([])
  })

  test("quotes errors as they are, by their text or their code", () => {
    const unknown = errorsIn(text).filter((quoted) => !isKnown(quoted))
    expect(unknown).toEqual([])
  })
})

test("a wrong quotation of an error is reported", () => {
  const section = (bullet: string) => errorsIn(`# X\n\n## What can go wrong\n\n- ${bullet}\n`)
  expect(section("`wrong_host`: y").every(isKnown)).toBe(true)
  expect(section("`bus_partial` in the log: y").every(isKnown)).toBe(true)
  expect(section('"There is no database at": y').every(isKnown)).toBe(true)
  expect(section('"There is no such sentence": y').every(isKnown)).toBe(false)
  expect(section("`wrong_hots`: y").every(isKnown)).toBe(false)
})

/** Texts and codes that the points of "What can go wrong" start with. */
function errorsIn(text: string): string[] {
  const section = text.split("\n## What can go wrong\n")[1]?.split("\n## ")[0] ?? ""
  const points = section.split(/^- /m).slice(1)
  return points.flatMap((point) => /^"([^"]+)"|^`([a-z]+(?:_[a-z]+)+)`/.exec(point)?.slice(1) ?? []).filter(Boolean)
}

const isKnown = (quoted: string): boolean =>
  quoted in CATALOGUE || quoted.split("…").every((fragment) => sources.includes(fragment.trim()))

describe.each(readdirSync(folder).filter((name) => name.endsWith(".md")))("docs/recipes/%s", (name) => {
  const text = read(join("docs/recipes", name))

  test("names settings, commands and files that exist", () => {
    const settings = [...text.matchAll(/\bPAWL_[A-Z_]+[A-Z]\b/g)].map(([setting]) => setting)
    const known = (name: string) => name in settingTable || NAMES_OF_EXAMPLES.includes(name)
    expect(settings.filter((setting) => !known(setting))).toEqual([])
    const commands = [...text.matchAll(/\bnpx pawl ([a-z][a-z-]*)/g)].map(([, command]) => command as string)
    expect(commands.filter((command) => command !== "help" && !listed.includes(command))).toEqual([])
    // In backticks, and in commands.
    const paths = [
      ...text.matchAll(
        /[\s`]((?:core|client|packs|adapters|apps|labs|test|docs|bench|bin|scripts|deploy|examples)\/[\w./-]*\w)(?=[\s`])/g,
      ),
    ]
    expect(paths.map(([, path]) => path as string).filter((path) => !existsSync(join(root, path)))).toEqual([])
    expect(missingNamesIn(text)).toEqual([])
  })
})

/** Names that a document places in a file, as in "`dyingAt` from `test/support/loop/faults.ts`", without being there. */
function missingNamesIn(text: string): string[] {
  const named = text.matchAll(
    /`(\w+(?:\.\w+)?)`[^`]{0,30}\b(?:in|of|from)\s+`((?:core|client|packs|apps|test)\/[\w./-]*\.tsx?)`/g,
  )
  return [...named].flatMap(([, name = "", path = ""]) =>
    name.split(".").filter((each) => !existsSync(join(root, path)) || !new RegExp(`\\b${each}\\b`).test(read(path))),
  )
}

test("a name that is not in the file that a document names is reported", () => {
  expect(
    missingNamesIn("`dyingAt` in `test/support/loop/faults.ts`, `Face.open` of `test/support/server/face.ts`"),
  ).toEqual([])
  expect(missingNamesIn("`livingAt` in `test/support/loop/faults.ts`")).toEqual(["livingAt"])
})

test("commands of npm, and projects of the compiler, that documents name exist", () => {
  const scripts = Object.keys((JSON.parse(read("package.json")) as { scripts: object }).scripts)
  const pages = readdirSync(folder).map((name) => join("docs/recipes", name))
  const missing = [...pages, "AGENTS.md", "ARCHITECTURE.md"].flatMap((page) => {
    const run = [...read(page).matchAll(/\bnpm run ([a-z:]+)/g)].map(([, script = ""]) => script)
    const projects = [...read(page).matchAll(/\btsc (?:--noEmit )?-p ([\w./-]+)/g)].map(([, project = ""]) => project)
    return [
      ...run.filter((script) => !scripts.includes(script)),
      ...projects.filter((project) => !existsSync(join(root, project, "tsconfig.json"))),
    ].map((name) => `${page}: ${name}`)
  })
  expect(missing).toEqual([])
})

/** The place of a recipe's code: in a file after this line, or in a new file. */
interface Insertion {
  readonly file: string
  readonly after?: string
  /** Code that the recipe leaves to the reader. */
  readonly before?: string
}

const insertions: Readonly<Record<string, Insertion>> = {
  "add-an-agent.md": {
    file: "packs/new-agent.ts",
    before: `import { defineAgent, type Tool } from "../core/pack.ts"\ndeclare const [findOrder, refundOrder]: [Tool, Tool]`,
  },
  "add-a-provider.md": { file: "core/models/providers/list.ts", after: "export const providers = {" },
  "add-a-setting.md": { file: "apps/cli/settings/table.ts", after: "const server = {" },
  "add-a-route.md": {
    file: "core/protocol/routes/workspace.ts",
    after: "export const workspaceRoutes = defineRoutes({",
    before: "const Widget = z.object({ id: z.string() })",
  },
  "add-an-error.md": { file: "core/protocol/error-catalogue.ts", after: "export const CATALOGUE = {" },
  "add-a-migration.md": {
    file: "core/store/schema/migrations.ts",
    after: 'export const FIRST_MIGRATION = "001_schema"',
  },
  "add-a-page-view.md": { file: "apps/web/views/map-view.tsx" },
}

const compile = promisify(execFile)

interface Code extends Insertion {
  readonly name: string
  readonly text: string
}

/** Compiles each text in the place of its file, and returns the compiler's complaints about them. */
async function faultsIn(codes: readonly Code[]): Promise<string[]> {
  const temporary = mkdtempSync(join(tmpdir(), "recipes-"))
  try {
    symlinkSync(join(root, "node_modules"), join(temporary, "node_modules"))
    const files = codes.map((code) => {
      const name = `${code.name}${extname(code.file)}`
      const from = (path: string) => JSON.stringify(join(root, dirname(code.file), path))
      const text = inPlace(code).replace(/(?<=\b(?:from |import\())"(\.[^"]+)"/g, (_, path: string) => from(path))
      writeFileSync(join(temporary, name), text)
      return name
    })
    const page = { jsx: "react-jsx", lib: ["esnext", "dom", "dom.iterable"] }
    const compilerOptions = { types: ["node"], paths: {}, module: "esnext", moduleResolution: "bundler", ...page }
    const config = { extends: join(root, "tsconfig.json"), compilerOptions, files, include: [] }
    writeFileSync(join(temporary, "tsconfig.json"), JSON.stringify(config))
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc")
    const output = await compile(process.execPath, [tsc, "-p", "."], { cwd: temporary }).catch((error: object) => error)
    // Only these files count, because the others have other options.
    return (output as { stdout: string }).stdout
      .split("\n")
      .filter((line) => files.some((file) => line.startsWith(file)))
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

function inPlace({ file, after, before = "", text }: Code): string {
  if (after === undefined) return `${before}\n${text}`
  const [head, tail, ...more] = read(file).split(`${after}\n`)
  if (tail === undefined || more.length > 0) throw new Error(`"${after}" is not one line of ${file}`)
  return `${head}${before}\n${after}\n${text}\n${tail}`
}

test("the code of the recipes compiles where a contributor puts it, and faults in it are found", async () => {
  const codes = recipes.flatMap((name) => {
    const blocks = [...read(join("docs/recipes", name)).matchAll(/^ *```tsx?\n([^]*?)^ *```/gm)]
    const text = blocks.map(([, block]) => block).join("\n")
    return name.startsWith("add-") && text !== "" ? [{ name, text, ...(insertions[name] as Insertion) }] : []
  })
  expect(codes.map(({ name }) => name).sort()).toEqual(Object.keys(insertions).sort())
  const wrong = codes.flatMap((code) => [
    { ...code, name: `moved-${code.name}`, text: code.text.replace("../components/", "../parts/") },
    { ...code, name: `renamed-${code.name}`, text: code.text.replace("description:", "says:") },
  ])
  const found = await faultsIn([...codes, ...wrong.filter(({ text }) => codes.every((code) => code.text !== text))])
  expect(found.map((line) => line.split("(")[0])).toEqual([
    "moved-add-a-page-view.md.tsx",
    "renamed-add-a-setting.md.ts",
    "renamed-add-an-agent.md.ts",
  ])
}, 120_000)

test("pages of the settings that recipes name exist", () => {
  const labels = new Set(Object.values(JSON.parse(read("apps/web/strings/en/settings.json")) as object))
  const named = readdirSync(folder).flatMap((name) =>
    [...read(join("docs/recipes", name)).matchAll(/\*Settings → ([^*→]+)\*/g)].map(([, label]) => label),
  )
  expect(named.length).toBeGreaterThan(4)
  expect(named.filter((label) => label !== "Developer" && !labels.has(label))).toEqual([]) // Claude Desktop's
})

test("flags of commands exist", async () => {
  const line = new RegExp(`\\bpawl (${listed.join("|")})( [^\\n\`]*)`, "g")
  const used = readdirSync(folder).flatMap((name) =>
    [...read(join("docs/recipes", name)).matchAll(line)].map(([, command = "", rest = ""]) => {
      const own = rest.split(" -- ")[0] as string // what follows is the command of a program
      return { name, command, flags: [...own.matchAll(/(?<= )--[a-z-]+/g)].map(([flag]) => flag) }
    }),
  )
  expect(used.flatMap(({ flags }) => flags).length).toBeGreaterThan(20)
  const unknown: object[] = []
  for (const { name, command, flags } of used) {
    const { help } = (await import(`../../../apps/cli/commands/${command}.ts`)) as { help: string }
    for (const flag of flags) if (!new RegExp(`${flag}\\b`).test(help)) unknown.push({ name, command, flag })
  }
  expect(unknown).toEqual([])
})

test("the index of recipes names each of them once", () => {
  const links = [...read("docs/recipes/README.md").matchAll(/\]\(([a-z0-9-]+\.md)\)/g)].map(([, link]) => link)
  expect(links.toSorted()).toEqual(recipes.toSorted())
})
