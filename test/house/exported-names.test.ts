import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { readProgram } from "./sources.ts"

/**
 * Lists the files that may export the same name, and why the name means the same in both: at most one file of each
 * pattern. `many` lifts this limit for files that are all alike.
 */
const shared: readonly { readonly files: readonly RegExp[]; readonly many?: true; readonly because: string }[] = [
  {
    files: [/^packs\/analyst\/postgres\//, /^packs\/analyst\/sqlite\//],
    because: "two kinds of database fulfil one contract",
  },
  {
    files: [/^core\/protocol\/routes\//, /^core\/server\/routes\//],
    because: "a table of routes and the handlers that serve it",
  },
  { files: [/^apps\/cli\/commands\//], many: true, because: "each command is a file with `help` and `run`" },
]

const DECLARED =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

const root = join(import.meta.dirname, "..", "..")

test("a name that a file of a package exports means one thing: no other file exports another thing by it", () => {
  expect(doublesIn(readSources())).toEqual([])
})

test("a second meaning is found in any folder, except for two implementations of one interface", () => {
  const planted = {
    "core/engine/lease.ts": "export interface Line {}\nexport type Line2 = 1\n",
    "core/store/line.ts": "export const Line = 1\n",
    "packs/analyst/postgres/rows.ts": "export async function readRows() {}\n",
    "packs/analyst/sqlite/rows.ts": "export function readRows() {}\n",
    "core/engine/definition/tool.ts": "export const place = 1\n",
    "core/engine/walk.ts": "export const place = 2\n",
  }
  expect(doublesIn(planted)).toEqual([
    "Line: core/engine/lease.ts, core/store/line.ts",
    "place: core/engine/definition/tool.ts, core/engine/walk.ts",
  ])
})

function doublesIn(sources: Readonly<Record<string, string>>): string[] {
  const byName = new Map<string, Set<string>>()
  for (const [file, text] of Object.entries(sources)) {
    for (const [, name = ""] of text.matchAll(DECLARED)) {
      const files = byName.get(name) ?? new Set()
      byName.set(name, files.add(file))
    }
  }
  const doubles = [...byName].filter(([name, files]) => {
    const others = behindPublished(name, files)
    return others.length > 1 && !isShared(others)
  })
  return doubles.map(([name, files]) => `${name}: ${[...files].sort().join(", ")}`).sort()
}

/**
 * Names that programs import are plain, whatever the engine's internal counterpart is called: `defineTool`,
 * `Proposal`.
 */
const published = new Set(
  [
    ...readFileSync(join(root, "core/index.ts"), "utf8").matchAll(/export (?:type )?\{([^}]*)\} from "\.\/api\//g),
  ].flatMap(([, names = ""]) => names.split(",").map((name) => name.replace(/^\s*(type )?/, "").trim())),
)

/** The public name may differ from the others, which must still mean one thing among themselves. */
const behindPublished = (name: string, files: ReadonlySet<string>): string[] =>
  [...files].filter((file) => !(published.has(name) && file.startsWith("core/api/")))

function isShared(all: readonly string[]): boolean {
  return shared.some(({ files, many }) => {
    const counts = files.map((pattern) => all.filter((file) => pattern.test(file)).length)
    const covered = counts.reduce((sum, count) => sum + count, 0)
    return covered === all.length && (many || counts.every((count) => count <= 1))
  })
}

function readSources(): Record<string, string> {
  const isCode = (file: string) => /\.tsx?$/.test(file) && !/\.(test|fixture)\.tsx?$/.test(file)
  return Object.fromEntries(Object.entries(readProgram()).filter(([file]) => isCode(file)))
}
