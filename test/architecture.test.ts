import { existsSync, readdirSync, readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join, posix, sep } from "node:path"
import { describe, expect, test } from "vitest"

/** The rooms under src/ and what each may import besides itself. A room that is not here fails: a new one is a decision. */
const mayImport: Record<string, readonly string[] | "everything"> = {
  protocol: [],
  agent: ["protocol"],
  children: ["agent"], // processes and threads of ours: started in one way, bounded, and their deaths told
  workspace: ["protocol"],
  vectors: ["protocol"],
  charts: ["protocol"],
  models: ["agent", "children", "protocol", "vectors"],
  store: ["agent", "children", "protocol", "vectors", "workspace"],
  packs: ["agent", "charts", "children", "protocol", "workspace"],
  bus: ["agent", "protocol"],
  dialects: ["protocol"],
  server: ["agent", "dialects", "protocol"],
  client: ["protocol"],
  device: ["client", "protocol", "vectors", "workspace"],
  terminal: ["charts", "client", "protocol"],
  // Puts all of it together, and knows neither commands nor terminals: what it needs to know comes as settings.
  compose: ["agent", "bus", "children", "client", "models", "packs", "protocol", "server", "store"],
  cli: "everything",
  "main.ts": "everything",
  "index.ts": "everything",
  "server.ts": "everything",
  "testing.ts": "everything",
}

/** Rooms that load only what is listed here from outside; the others are free. Type-only imports count where `types` says so. */
const mayLoad: Record<string, { readonly only: readonly string[]; readonly types: "count" | "free" }> = {
  protocol: { only: ["zod"], types: "count" }, // runs in browsers
  client: { only: ["zod"], types: "count" }, // runs in browsers
  workspace: { only: ["zod"], types: "count" }, // one logic for the server's database and for devices
  charts: { only: [], types: "count" }, // runs in browsers
  vectors: { only: [], types: "count" }, // the same on servers and on devices
  device: { only: ["node:fs", "node:path", "node:sqlite", "zod"], types: "count" }, // runs in Electron; sockets are the platform's
  agent: { only: ["node:crypto"], types: "free" }, // no vendor, no I/O: everything else comes through a port
}

/** Nine files in ten of the best codebases fit into 300 lines. An exception is a line here with its reason. */
const maxLines: Record<string, number> = {
  "src/agent/loop.ts": 60, // the loop is read on one screen
}
const MAX_LINES = 300

const namesThatSayNothing = ["util", "utils", "helper", "helpers", "common", "types"]

const readsEnvironment = "src/cli/settings/config.ts"

const documents = ["README.md", "ARCHITECTURE.md", "AGENTS.md"]
const root = join(import.meta.dirname, "..")

test("src/ keeps the rules of its architecture", () => {
  expect(faultsIn(readSources())).toEqual([])
})

describe("the rules notice", () => {
  const clean: Sources = {
    "src/protocol/ids.ts": `import { z } from "zod"\n`,
    "src/agent/loop.ts": `import { randomUUID } from "node:crypto"\nimport type { Id } from "../protocol/ids.ts"\n`,
    "src/agent/tool.ts": `import type { ZodType } from "zod"\n// process.env and import("../store/x.ts") in a comment\n`,
    "src/agent/loop.test.ts": `import { scripted } from "../testing.ts"\nimport { databases } from "../../test/support/databases.ts"\n`,
    "src/server/app.ts": `import { Hono } from "hono"\nimport { toAgUi } from "../dialects/ag-ui.ts"\n`,
    "src/packs/research/agent.ts": `import { readPaper } from "./read-paper.ts"\n`,
    "src/cli/settings/config.ts": `export const home = process.env.HOME\n`,
    "src/main.ts": `import { app } from "./server/app.ts"\nimport { journal } from "./store/journal.ts"\n`,
  }

  test("nothing in clean sources", () => {
    expect(faultsIn(clean)).toEqual([])
  })

  test.each<[what: string, path: string, source: string, fault: string]>([
    [
      "a port's owner importing its adapter",
      "src/agent/x.ts",
      `import { a } from "../store/a.ts"`,
      "agent may not import store",
    ],
    [
      "a type of a forbidden room",
      "src/agent/x.ts",
      `import type { A } from "../store/a.ts"`,
      "agent may not import store",
    ],
    [
      "an import over many lines",
      "src/agent/x.ts",
      `import {\n  a, // a\n  b,\n} from "../store/a.ts"`,
      "agent may not import store",
    ],
    ["a dynamic import", "src/agent/x.ts", `const a = await import("../store/a.ts")`, "agent may not import store"],
    ["a re-export", "src/agent/x.ts", `export * from "../store/a.ts"`, "agent may not import store"],
    ["an import for its effect", "src/agent/x.ts", `import "../store/a.ts"`, "agent may not import store"],
    [
      "siblings that know each other",
      "src/store/x.ts",
      `import { a } from "../models/a.ts"`,
      "store may not import models",
    ],
    [
      "a client that knows the agent",
      "src/client/x.ts",
      `import { a } from "../agent/a.ts"`,
      "client may not import agent",
    ],
    [
      "a room importing the composition",
      "src/server/x.ts",
      `import { a } from "../compose/a.ts"`,
      "server may not import compose",
    ],
    [
      "a composition that knows the commands",
      "src/compose/x.ts",
      `import { a } from "../cli/a.ts"`,
      "compose may not import cli",
    ],
    ["a room importing tests", "src/server/x.ts", `import { a } from "../../test/a.ts"`, "leaves src/"],
    ["a room importing the package itself", "src/server/x.ts", `import { a } from "pawl/testing"`, "by its path"],
    [
      "packs that know each other",
      "src/packs/a/x.ts",
      `import { b } from "../b/b.ts"`,
      "packs/a may not import packs/b",
    ],
    [
      "a test that crosses rooms",
      "src/agent/x.test.ts",
      `import { a } from "../store/a.ts"`,
      "agent may not import store",
    ],
    ["an undeclared folder", "src/plugins/x.ts", "", "plugins is not a declared room"],
    ["an undeclared file beside the rooms", "src/things.ts", "", "things.ts is not a declared room"],
    ["node: in protocol", "src/protocol/x.ts", `import { join } from "node:path"`, "protocol may not load node:path"],
    ["a bare built-in in client", "src/client/x.ts", `import fs from "fs"`, "client may not load node:fs"],
    ["a package's types in client", "src/client/x.ts", `import type { A } from "@a/b/c"`, "client may not load @a/b"],
    ["a package in agent", "src/agent/x.ts", `import { z } from "zod"`, "agent may not load zod"],
    [
      "I/O in agent",
      "src/agent/x.ts",
      `import { open } from "node:fs/promises"`,
      "agent may not load node:fs/promises",
    ],
    ["a long file", "src/store/x.ts", "\n".repeat(301), "has 301 lines, 300 are allowed"],
    ["a loop of two screens", "src/agent/loop.ts", "\n".repeat(61), "has 61 lines, 60 are allowed"],
    ["a name that says nothing", "src/store/utils.ts", "", "says nothing"],
    ["a folder that says nothing", "src/packs/helpers/x.ts", "", "says nothing"],
    ["a types.ts", "src/agent/types.ts", "", "says nothing"],
    ["process.env in agent", "src/agent/x.ts", `export const home = process.env["HOME"]`, "reads the environment"],
    [
      "what a room needs taken from the runtime",
      "src/server/x.ts",
      `export const now = (ports: Ports) => ports.runtime.ports.clock.now()`,
      "reaches through the runtime",
    ],
    [
      "env taken from node:process",
      "src/cli/x.ts",
      `import { argv, env } from "node:process"`,
      "reads the environment",
    ],
  ])("%s", (_what, path, source, fault) => {
    expect(faultsIn({ ...clean, [path]: source })).toEqual([expect.stringContaining(fault)])
  })
})

/** What the page is made of. It speaks to the server through the client and the treaty, and to nobody else. */
const webMayLoad = [
  "@tanstack/react-virtual",
  "diff",
  "radix-ui",
  "react",
  "react-dom",
  "react-markdown",
  "katex",
  "rehype-highlight",
  "remark-gfm",
  "vega", // in the frame that charts are drawn in, a document of its own
  "vega-interpreter",
  "vega-lite",
  "zod",
]
const webMayImport = ["src/charts/index.ts", "src/client/index.ts", "src/protocol/index.ts"]

test("web/ keeps the rules of its own", () => {
  expect(webFaultsIn(readSources("web"))).toEqual([])
})

test.each<[what: string, path: string, source: string, fault: string]>([
  ["the server", "web/x.tsx", `import { app } from "../src/server/app.ts"`, "web may not import src/server/app.ts"],
  [
    "a file behind the client",
    "web/a/x.ts",
    `import { a } from "../../src/client/socket/line.ts"`,
    "web may not import",
  ],
  ["a package that is not ours to load", "web/x.ts", `import a from "left-pad"`, "web may not load left-pad"],
  ["Node", "web/x.ts", `import { join } from "node:path"`, "web may not load node:path"],
  ["a long file", "web/x.tsx", "\n".repeat(301), "has 301 lines"],
  ["a name that says nothing", "web/utils/x.ts", "", "says nothing"],
  ["markup that is not text", "web/x.tsx", `<p dangerouslySetInnerHTML={{ __html: a }} />`, "writes HTML"],
])("the rules of web/ notice %s", (_what, path, source, fault) => {
  expect(webFaultsIn({ "web/y.ts": `import { client } from "../src/client/index.ts"`, [path]: source })).toEqual([
    expect.stringContaining(fault),
  ])
})

test.each(documents.filter((name) => existsSync(join(root, name))))("paths named in %s exist", (name) => {
  const missing = pathsIn(readFileSync(join(root, name), "utf8")).filter((path) => !existsSync(join(root, path)))
  expect(missing).toEqual([])
})

test("paths are found in prose, up to their first placeholder", () => {
  const text =
    "`src/agent/loop.ts:12`, `test/web/`, `src/packs/<name>/agent.ts`, `bin/pawl.js serve`, `npm run a/b`, `bench/out/x`"
  expect(pathsIn(text)).toEqual(["src/agent/loop.ts", "test/web/", "src/packs", "bin/pawl.js"])
})

type Sources = Readonly<Record<string, string>>

interface Import {
  readonly target: string
  readonly typeOnly: boolean
}

/** Every broken rule, as a sentence. Pure, so that the tests above can plant faults. */
function faultsIn(sources: Sources): string[] {
  return Object.entries(sources).flatMap(([path, source]) => {
    const code = withoutComments(source)
    const faults = [...nameFaults(path), ...importsOf(code).flatMap((found) => importFaults(path, found))]
    if (!isTest(path)) faults.push(...sizeFaults(path, source), ...environmentFaults(path, code))
    if (roomOf(path) !== "agent" && /\bruntime\s*\??\.\s*ports\b/.test(code))
      faults.push("reaches through the runtime: what it needs is handed to it")
    return faults.map((fault) => `${path} ${fault}`)
  })
}

function webFaultsIn(sources: Sources): string[] {
  return Object.entries(sources).flatMap(([path, source]) => {
    if (!/\.tsx?$/.test(path) || path === "web/vite.config.ts") return []
    const code = withoutComments(source)
    const faults = [...emptyNames(path), ...sizeFaults(path, source)]
    if (/dangerouslySetInnerHTML|\.(inner|outer)HTML\b|insertAdjacentHTML/.test(code)) faults.push("writes HTML")
    for (const { target } of importsOf(code)) {
      if (target.startsWith(".")) {
        const found = posix.join(posix.dirname(path), target)
        if (!found.startsWith("web/") && !webMayImport.includes(found))
          faults.push(`imports: web may not import ${found}`)
      } else if (!isTest(path) && !webMayLoad.includes(packageOf(target))) {
        faults.push(`imports: web may not load ${packageOf(target)}`)
      }
    }
    return faults.map((fault) => `${path} ${fault}`)
  })
}

function nameFaults(path: string): string[] {
  const room = roomOf(path)
  const faults = room in mayImport ? [] : [`is in a new place: ${room} is not a declared room`]
  return [...faults, ...emptyNames(path)]
}

function emptyNames(path: string): string[] {
  const names = path.split("/").map((name) => name.replace(/\..*$/, ""))
  const empty = names.filter((name) => namesThatSayNothing.includes(name))
  return empty.map((name) => `has a name that says nothing: ${name}`)
}

function importFaults(path: string, { target, typeOnly }: Import): string[] {
  if (/^(#|pawl(\/|$))/.test(target)) return [`imports ${target}: name a file of this package by its path`]
  if (target.startsWith(".")) return pathFaults(path, posix.join(posix.dirname(path), target))
  const room = roomOf(path)
  const limit = mayLoad[room]
  if (!limit || isTest(path) || (typeOnly && limit.types === "free")) return []
  const name = packageOf(target)
  return limit.only.includes(name) ? [] : [`imports ${target}: ${room} may not load ${name}`]
}

function pathFaults(path: string, target: string): string[] {
  const inTest = isTest(path)
  if (!target.startsWith("src/")) {
    const allowed = target === "package.json" || (inTest && target.startsWith("test/"))
    return allowed ? [] : [`imports ${target}: that leaves src/`]
  }
  const [from, to] = [roomOf(path), roomOf(target)]
  const [ownPack, otherPack] = [packOf(path), packOf(target)]
  if (ownPack && otherPack && ownPack !== otherPack)
    return [`imports ${target}: ${ownPack} may not import ${otherPack}`]
  const allowed = mayImport[from] ?? "everything"
  if (from === to || allowed === "everything" || allowed.includes(to)) return []
  // What we publish for other people's tests serves our own as well.
  if (inTest && to === "testing.ts") return []
  return [`imports ${target}: ${from} may not import ${to}`]
}

function sizeFaults(path: string, source: string): string[] {
  const lines = source.replace(/\n$/, "").split("\n").length
  const max = maxLines[path] ?? MAX_LINES
  return lines > max ? [`has ${lines} lines, ${max} are allowed`] : []
}

function environmentFaults(path: string, code: string): string[] {
  const reads =
    /\bprocess\s*\??\.\s*env\b|\bprocess\[["']env|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*["'](node:)?process["']/
  return reads.test(code) && path !== readsEnvironment ? [`reads the environment; only ${readsEnvironment} may`] : []
}

function importsOf(code: string): Import[] {
  const statement = /^\s*(?:import|export)\s+(type\s+)?(?=[\w$*{])[\w$*{}\s,]*?\bfrom\s*["']([^"']+)["']/gm
  const effectOrDynamic = /^\s*import\s*["']([^"']+)["']|\bimport\s*\(\s*["'`]([^"'`]+)["'`]/gm
  return [
    ...[...code.matchAll(statement)].map(([, type, target]) => ({ target: target!, typeOnly: type !== undefined })),
    ...[...code.matchAll(effectOrDynamic)].map(([, a, b]) => ({ target: (a ?? b)!, typeOnly: false })),
  ]
}

/** Comments start after white space or punctuation, which keeps urls and globs inside strings. */
function withoutComments(source: string): string {
  return source.replace(/(?<=^|[\s,;{}()])(?:\/\*[\s\S]*?\*\/|\/\/.*)/gm, "")
}

/** `src/agent/loop.ts` → `agent`, `src/main.ts` → `main.ts`; a test beside src/main.ts belongs to it. */
function roomOf(path: string): string {
  return path.split("/")[1]!.replace(/\.test\.ts$/, ".ts")
}

function packOf(path: string): string | undefined {
  return /^src\/(packs\/[^/]+)\//.exec(path)?.[1]
}

function packageOf(target: string): string {
  if (isBuiltin(target)) return target.startsWith("node:") ? target : `node:${target}`
  return target.split("/", target.startsWith("@") ? 2 : 1).join("/")
}

function isTest(path: string): boolean {
  return /\.test\.ts$/.test(path)
}

function readSources(folder = "src"): Sources {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8", withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = files.map((file) => [file.slice(root.length + 1).replaceAll(sep, "/"), readFileSync(file, "utf8")])
  return Object.fromEntries(read)
}

/** What looks like a path of this repository between backticks. Generated folders need not be there. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!.split(/\s/)[0]!)
  const paths = quoted.filter(
    (word) => /^(src|web|test|docs|bench|bin|scripts)\//.test(word) && !word.startsWith("bench/out"),
  )
  return paths.map((path) => path.replace(/\/[^/]*[*<{…].*$/, "").replace(/[:#].*$/, ""))
}
