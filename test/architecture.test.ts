import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { circlesIn } from "./support/house/circles.ts"
import { crowdedFolders, MAX_FILES } from "./support/house/crowded-folders.ts"
import { roomFaultsIn } from "./support/house/rooms-within.ts"
import * as rules from "./support/house/rules.ts"
import { readSources, root, type Sources } from "./support/house/sources.ts"

/** The rooms under src/ and what each may import besides itself. A room that is not here fails: a new one is a decision. */
const mayImport: rules.RoomTables["mayImport"] = {
  protocol: [],
  agent: ["protocol"],
  children: ["agent"], // processes and threads of ours: started in one way, bounded, and their deaths told
  workspace: ["protocol"],
  vectors: ["protocol"],
  charts: ["protocol"],
  models: ["agent", "children", "protocol", "vectors"],
  store: ["agent", "children", "protocol", "vectors", "workspace"],
  packs: ["agent", "charts", "children", "protocol", "workspace"],
  mcp: ["agent", "protocol"],
  bus: ["agent", "protocol"],
  telemetry: ["agent", "protocol"], // runs as spans of OpenTelemetry; loaded where an operator names a receiver
  dialects: ["protocol"],
  server: ["agent", "dialects", "protocol"],
  client: ["protocol"],
  device: ["client", "protocol", "vectors", "workspace"],
  terminal: ["charts", "client", "protocol"],
  acp: ["client", "protocol"], // editors: a face like the terminal
  evaluate: ["client", "protocol"], // cases against agents and models; loaded by `pawl eval` alone
  // Puts all of it together, and knows neither commands nor terminals: what it needs to know comes as settings.
  compose: ["agent", "bus", "children", "client", "mcp", "models", "packs", "protocol", "server", "store", "telemetry"],
  cli: "everything",
  api: "everything", // what a program that embeds Pawl calls
  "index.ts": "everything",
  "server.ts": "everything",
  "testing.ts": "everything",
}

/** Rooms that load only what is listed here from outside; the others are free. Type-only imports count where `types` says so. */
const mayLoad: rules.RoomTables["mayLoad"] = {
  protocol: { only: ["zod"], types: "count" }, // runs in browsers
  client: { only: ["zod"], types: "count" }, // runs in browsers
  workspace: { only: ["zod"], types: "count" }, // one logic for the server's database and for devices
  charts: { only: [], types: "count" }, // runs in browsers
  vectors: { only: [], types: "count" }, // the same on servers and on devices
  device: { only: ["node:fs", "node:path", "node:sqlite", "zod"], types: "count" }, // runs in Electron; sockets are the platform's
  agent: { only: ["node:crypto", "node:zlib"], types: "free" }, // no vendor, no I/O: a checksum is none; everything else comes through a port
}

/** Nine files in ten of the best codebases fit into 300 lines. An exception is a line here with its reason. */
const maxLines: rules.RoomTables["maxLines"] = {
  "src/agent/loop.ts": 60, // the loop is read on one screen
}

const readsEnvironment = "src/cli/settings/config.ts"

const documents = ["README.md", "ARCHITECTURE.md", "AGENTS.md"]

const faultsIn = (sources: Sources) => rules.faultsIn(sources, { mayImport, mayLoad, maxLines, readsEnvironment })

test("src/ keeps the rules of its architecture", () => {
  expect(faultsIn(readSources("src"))).toEqual([])
})

describe("the rules notice", () => {
  const clean: Sources = {
    "src/protocol/ids.ts": `import { z } from "zod"\n`,
    "src/agent/loop.ts": `import { randomUUID } from "node:crypto"\nimport type { Id } from "../protocol/ids.ts"\n`,
    "src/agent/definition/tool.ts": `import type { ZodType } from "zod"\n// process.env and import("../store/x.ts") in a comment\n`,
    "src/agent/loop.test.ts": `import { scripted } from "../testing.ts"\nimport { databases } from "../../test/support/databases.ts"\n`,
    "src/server/app.ts": `import { Hono } from "hono"\nimport { toAgUi } from "../dialects/ag-ui.ts"\n`,
    "src/packs/research/agent.ts": `import { readPaper } from "./read-paper.ts"\n`,
    "src/cli/settings/config.ts": `export const home = process.env.HOME\n`,
    "src/index.ts": `import { app } from "./server/app.ts"\nimport { journal } from "./store/journal.ts"\n`,
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

const webFaultsIn = (sources: Sources) => rules.webFaultsIn(sources, { mayImport: webMayImport, mayLoad: webMayLoad })

test("web/ keeps the rules of its own", () => {
  expect(webFaultsIn(readSources("web"))).toEqual([])
})

test.each<[what: string, path: string, source: string, fault: string]>([
  ["the server", "web/x.tsx", `import { app } from "../src/server/app.ts"`, "web may not import src/server/app.ts"],
  [
    "a file behind the client",
    "web/a/x.ts",
    `import { a } from "../../src/client/socket/shared-socket.ts"`,
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

describe("the rooms within rooms, of src/ and of web/,", () => {
  const sources = { ...readSources("src"), ...readSources("web") }

  test("have no two files that import each other, by whatever way around", () => {
    expect(circlesIn(sources)).toEqual([])
  })

  test("import only what their table says, and nothing that puts them together", () => {
    expect(roomFaultsIn(sources)).toEqual([])
  })

  test("a circle is noticed, of types and of what is loaded later, too", () => {
    const circle = {
      "src/a/x.ts": `import type { Y } from "../b/y.ts"`,
      "src/b/y.ts": `export const z = () => import("./z.ts")`,
      "src/b/z.ts": `import {\n  x,\n} from "../a/x.ts"`,
      "src/b/w.ts": `import { x } from "../a/x.ts"`,
    }
    expect(circlesIn(circle)).toEqual(["src/a/x.ts imports src/b/y.ts imports src/b/z.ts imports src/a/x.ts"])
    expect(circlesIn({ ...circle, "src/b/y.ts": "" })).toEqual([])
  })

  test.each<[what: string, path: string, target: string, fault: string]>([
    ["an arrow back up", "src/store/engine/x.ts", "src/store/journal/y.ts", "engine may not import journal"],
    ["siblings that know each other", "src/server/routes/data/x.ts", "src/server/routes/models/y.ts", "data may not"],
    [
      "a route that knows sockets",
      "src/server/routes/data/x.ts",
      "src/server/socket/y.ts",
      "routes may not import socket",
    ],
    ["the engine of another", "src/packs/analyst/sqlite/x.ts", "src/packs/analyst/postgres/y.ts", "sqlite may not"],
    ["a room that imports what opens it", "src/store/journal/x.ts", "src/store/store.ts", "puts journal together"],
    ["a part of the agent that imports the loop", "src/agent/gate/x.ts", "src/agent/loop.ts", "puts gate together"],
    ["the shell that knows its pages", "web/shell/x.tsx", "web/pages.tsx", "puts shell together"],
    ["a new room", "src/terminal/sounds/x.ts", "src/terminal/line.ts", "sounds is no declared room"],
  ])("%s is noticed", (_what, path, target, fault) => {
    const ways = path
      .split("/")
      .slice(1, -1)
      .map(() => "..")
    const source = `import type { Y } from "${[...ways, ...target.split("/").slice(1)].join("/")}"`
    const planted = { [path]: source, ...(target in sources ? {} : { [target]: "" }) }
    expect(roomFaultsIn({ ...sources, ...planted })).toEqual([expect.stringContaining(fault)])
  })
})

test("no folder holds more files than are seen at a glance", () => {
  const paths = ["src", "web", "test", "bench", "scripts"].flatMap((folder) => Object.keys(readSources(folder)))
  expect(crowdedFolders(paths)).toEqual([])
})

test("a folder with one file too many is noticed, those in its own folders aside", () => {
  const full = Array.from({ length: MAX_FILES }, (_, index) => `src/store/x/${index}.ts`)
  expect(crowdedFolders([...full, "src/store/x/y/z.ts", "src/store/x/data.json"])).toEqual([])
  expect(crowdedFolders([...full, "src/store/x/z.ts"])).toEqual([expect.stringContaining("src/store/x holds 33 files")])
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

/** What looks like a path of this repository between backticks. Generated folders need not be there. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!.split(/\s/)[0]!)
  const paths = quoted.filter(
    (word) => /^(src|web|test|docs|bench|bin|scripts)\//.test(word) && !word.startsWith("bench/out"),
  )
  return paths.map((path) => path.replace(/\/[^/]*[*<{…].*$/, "").replace(/[:#].*$/, ""))
}
