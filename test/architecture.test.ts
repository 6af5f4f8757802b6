import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import * as rules from "./house/architecture-rules.ts"
import { circlesIn, crowdedFolders, MAX_FILES } from "./house/architecture-rules.ts"
import { roomFaultsIn } from "./house/rooms-within.ts"
import { programs } from "../scripts/entries.ts"
import { loadedBy, PROGRAM_FOLDERS, readProgram, readSources, root, type Sources } from "./house/sources.ts"

/**
 * The folders of the packages, and what each may import besides itself. A folder that is not here fails: a new one is a
 * decision. The core is small and public, and packs, adapters, apps and labs are its users.
 */
const target: rules.RoomTables["mayImport"] = {
  "core/shared": [], // text, time, concurrency, processes
  "core/protocol": ["core/shared"],
  "core/engine": ["core/protocol", "core/shared"],
  "core/models": ["core/engine", "core/protocol", "core/shared"],
  "core/store": ["core/engine", "core/protocol", "core/shared", "core/workspace"],
  "core/workspace": ["core/protocol", "core/shared"], // rows of notes, tasks, projects and clients, in a server and on a device
  "core/tools": ["core/engine", "core/protocol", "core/shared"],
  "core/bus": ["core/engine", "core/protocol", "core/shared"],
  "core/telemetry": ["core/engine", "core/protocol", "core/shared"], // runs as spans of OpenTelemetry, loaded if a receiver is set
  "core/packs": ["core/engine", "core/protocol", "core/shared"], // what a pack is, and how packs are loaded
  "core/server": ["core/engine", "core/protocol", "core/shared"],
  // Wires the core together. It knows neither commands nor terminals, and gets what it needs from them as settings.
  "core/compose": [
    ...["core/bus", "core/engine", "core/models", "core/packs", "core/protocol", "core/server", "core/shared"],
    ...["core/store", "core/telemetry", "core/tools"],
  ],
  "core/api": "everything", // what a program that embeds Pawl calls
  "core/index.ts": "everything",
  "core/testing.ts": "everything",
  "core/testing": ["core/api", "core/engine", "core/protocol", "core/shared"], // types of the API, clocks and journals for tests
  "core/adapter.ts": "everything", // what an adapter is written against
  "core/pack.ts": "everything", // what a pack is written against
  "core/program.ts": ["core/engine", "core/protocol", "core/shared"], // the same for its processes and threads
  "core/json-schema.ts": ["core/tools"],
  "core/require-node.ts": [], // the first import of `index.ts` and `server.ts`
  client: ["core/protocol", "core/shared"],
  "client/device": ["client", "core/protocol", "core/require-node.ts", "core/shared", "core/workspace"],
  // Its folder chart-spec runs in browsers, which core/pack.ts does not.
  "packs/analyst": ["core/json-schema.ts", "core/pack.ts", "core/program.ts", "core/protocol/databases/connections.ts"],
  "packs/files": ["core/pack.ts", "core/program.ts"],
  "packs/research": ["core/pack.ts", "core/program.ts"],
  "packs/workspace": ["core/pack.ts", "core/program.ts"],
  packs: ["core/pack.ts", "packs/analyst", "packs/files", "packs/research", "packs/workspace"], // the list of our packs
  // Adapters import only the public entries of the core, as third-party adapters do.
  adapters: [
    ...["adapters/ag-ui", "adapters/ai-sdk", "adapters/mcp", "adapters/openai", "adapters/threads"],
    ...["core/adapter.ts", "core/protocol/index.ts"],
  ],
  "adapters/acp": ["client", "core/protocol", "core/shared"],
  "adapters/ag-ui": ["adapters", "core/adapter.ts", "core/protocol/index.ts"],
  "adapters/ai-sdk": ["adapters", "core/adapter.ts", "core/protocol/index.ts"],
  "adapters/mcp": ["adapters/openai", "core/adapter.ts", "core/protocol/index.ts"],
  "adapters/openai": ["adapters", "core/adapter.ts", "core/protocol/index.ts"],
  "adapters/threads": ["core/adapter.ts", "core/protocol/index.ts"],
  "apps/strings": [], // every sentence that a person reads at a shell
  "apps/terminal": ["apps/strings", "client", "core/protocol", "core/shared", "packs/analyst"],
  "apps/cli": "everything",
  "apps/server.ts": "everything",
  "labs/evaluate": ["apps/strings", "client", "core/protocol", "core/shared"], // loaded by `pawl eval` alone
  "labs/crashtest": "everything",
  "labs/minilm": ["core/engine", "core/protocol", "core/shared"], // the engine for its test alone
  "labs/offline-model": ["core/index.ts", "core/shared"],
  "labs/replay": "everything",
}

/** Existing imports that violate the table above. Only remove lines. */
const stillImports: Readonly<Record<string, readonly string[]>> = {
  "core/compose": ["packs", "packs/analyst", "packs/files", "packs/research"],
}

const mayImport: rules.RoomTables["mayImport"] = Object.fromEntries(
  Object.entries(target).map(([room, allowed]) => [
    room,
    allowed === "everything" ? allowed : [...allowed, ...(stillImports[room] ?? [])],
  ]),
)

/** Folders that load only what is listed here from outside; the others are free. Type-only imports count where `types` says so. */
const mayLoad: rules.RoomTables["mayLoad"] = {
  "core/protocol": { only: ["zod"], types: "count" }, // runs in browsers
  "core/shared/text": { only: ["zod"], types: "count" }, // runs in browsers, as do the next three
  "core/shared/time": { only: ["zod"], types: "count" },
  "core/shared/encoding": { only: ["zod"], types: "count" },
  "core/shared/vectors": { only: [], types: "count" },
  "packs/analyst/chart-spec": { only: [], types: "count" }, // runs in browsers
  "core/workspace": { only: ["zod"], types: "count" }, // runs in a server and on devices
  client: { only: ["zod"], types: "count" }, // runs in browsers
  "client/device": { only: ["node:crypto", "node:fs", "node:path", "node:sqlite", "zod"], types: "count" }, // runs in Electron; sockets are the platform's
  "core/engine": { only: ["node:crypto", "node:zlib"], types: "free" }, // no vendor, no I/O: a checksum is none; everything else comes through a port
}

/** A subject is one file of at most 400 lines. An exception is a line here with its reason. */
const maxLines: rules.RoomTables["maxLines"] = {
  "core/engine/loop.ts": 60, // the loop is read on one screen
}

const readsEnvironment = "apps/cli/settings/config.ts"

const documents = ["README.md", "ARCHITECTURE.md", "AGENTS.md"]

const faultsIn = (sources: Sources) => rules.faultsIn(sources, { mayImport, mayLoad, maxLines, readsEnvironment })

test("the packages keep the rules of their architecture", () => {
  expect(faultsIn(readProgram())).toEqual([])
})

test.each(Object.values(programs).filter((path) => path.startsWith("packs/")))(
  "%s, a process or thread of a pack, starts without the engine",
  (path) => {
    expect(loadedBy(path)).not.toContain("core/pack.ts")
  },
)

describe("the checker reports", () => {
  const clean: Sources = {
    "core/protocol/ids.ts": `import { z } from "zod"\n`,
    "core/engine/loop.ts": `import { randomUUID } from "node:crypto"\nimport type { Id } from "../protocol/ids.ts"\n`,
    "core/engine/definition/tool.ts": `import type { ZodType } from "zod"\n// process.env and import("../store/x.ts") in a comment\n`,
    "core/engine/loop.test.ts": `import { scripted } from "../testing.ts"\nimport { databases } from "../../test/support/databases.ts"\n`,
    "core/server/app.ts": `import { Hono } from "hono"\nimport { runTool } from "../engine/run-tools.ts"\n`,
    "packs/research/agent.ts": `import { readPaper } from "./read-paper.ts"\n`,
    "apps/cli/settings/config.ts": `export const home = process.env.HOME\n`,
    "core/index.ts": `import { app } from "./server/app.ts"\nimport { journal } from "./store/journal.ts"\n`,
  }

  test("nothing in clean sources", () => {
    expect(faultsIn(clean)).toEqual([])
  })

  test.each<[what: string, path: string, source: string, fault: string]>([
    [
      "a port's owner importing its adapter",
      "core/engine/x.ts",
      `import { a } from "../store/a.ts"`,
      "core/engine may not import core/store",
    ],
    [
      "a type of a forbidden room",
      "core/engine/x.ts",
      `import type { A } from "../store/a.ts"`,
      "core/engine may not import core/store",
    ],
    [
      "an import over many lines",
      "core/engine/x.ts",
      `import {\n  a, // a\n  b,\n} from "../store/a.ts"`,
      "core/engine may not import core/store",
    ],
    [
      "a dynamic import",
      "core/engine/x.ts",
      `const a = await import("../store/a.ts")`,
      "core/engine may not import core/store",
    ],
    ["a re-export", "core/engine/x.ts", `export * from "../store/a.ts"`, "core/engine may not import core/store"],
    ["an import for its effect", "core/engine/x.ts", `import "../store/a.ts"`, "core/engine may not import core/store"],
    [
      "siblings that know each other",
      "core/store/x.ts",
      `import { a } from "../models/a.ts"`,
      "core/store may not import core/models",
    ],
    [
      "a client that knows the agent",
      "client/x.ts",
      `import { a } from "../core/engine/a.ts"`,
      "client may not import core/engine",
    ],
    [
      "a room importing the composition",
      "core/server/x.ts",
      `import { a } from "../compose/a.ts"`,
      "core/server may not import core/compose",
    ],
    [
      "a composition that knows the commands",
      "core/compose/x.ts",
      `import { a } from "../../apps/cli/a.ts"`,
      "core/compose may not import apps/cli",
    ],
    [
      "an adapter that imports past the entries",
      "adapters/openai/x.ts",
      `import { isId } from "../../core/protocol/ids.ts"`,
      "adapters/openai may not import core/protocol",
    ],
    ["a room importing tests", "core/server/x.ts", `import { a } from "../../test/a.ts"`, "is no folder of a package"],
    ["a room importing the package itself", "core/server/x.ts", `import { a } from "pawl/testing"`, "by its path"],
    [
      "packs that know each other",
      "packs/files/x.ts",
      `import { b } from "../research/b.ts"`,
      "packs/files may not import packs/research",
    ],
    [
      "a pack that imports a file of the core",
      "packs/files/x.ts",
      `import { a } from "../../core/engine/a.ts"`,
      "packs/files may not import core/engine",
    ],
    [
      "a core that imports a pack",
      "core/store/x.ts",
      `import { a } from "../../packs/workspace/a.ts"`,
      "core/store may not import packs/workspace",
    ],
    [
      "a test that crosses rooms",
      "core/engine/x.test.ts",
      `import { a } from "../store/a.ts"`,
      "core/engine may not import core/store",
    ],
    ["an undeclared folder", "core/plugins/x.ts", "", "core/plugins is not a declared room"],
    ["an undeclared file beside the rooms", "core/things.ts", "", "core/things.ts is not a declared room"],
    [
      "node: in protocol",
      "core/protocol/x.ts",
      `import { join } from "node:path"`,
      "core/protocol may not load node:path",
    ],
    ["a bare built-in in client", "client/x.ts", `import fs from "fs"`, "client may not load node:fs"],
    ["a package's types in client", "client/x.ts", `import type { A } from "@a/b/c"`, "client may not load @a/b"],
    ["a package in agent", "core/engine/x.ts", `import { z } from "zod"`, "core/engine may not load zod"],
    [
      "I/O in agent",
      "core/engine/x.ts",
      `import { open } from "node:fs/promises"`,
      "core/engine may not load node:fs/promises",
    ],
    ["a long file", "core/store/x.ts", "\n".repeat(401), "has 401 lines, 400 are allowed"],
    ["a loop of two screens", "core/engine/loop.ts", "\n".repeat(61), "has 61 lines, 60 are allowed"],
    ["a name that says nothing", "core/store/utils.ts", "", "says nothing"],
    ["a folder that says nothing", "packs/files/helpers/x.ts", "", "says nothing"],
    ["a types.ts", "core/engine/types.ts", "", "says nothing"],
    ["process.env in agent", "core/engine/x.ts", `export const home = process.env["HOME"]`, "reads the environment"],
    [
      "what a room needs taken from the runtime",
      "core/server/x.ts",
      `export const now = (ports: Ports) => ports.runtime.ports.clock.now()`,
      "reaches through the runtime",
    ],
    [
      "env taken from node:process",
      "apps/cli/x.ts",
      `import { argv, env } from "node:process"`,
      "reads the environment",
    ],
  ])("%s", (_what, path, source, fault) => {
    expect(faultsIn({ ...clean, [path]: source })).toEqual([expect.stringContaining(fault)])
  })
})

/** The modules that the page may load. It reaches the server only through the client and the protocol. */
const webMayLoad = [
  "@tanstack/react-virtual",
  "diff",
  "radix-ui",
  "react",
  "react-dom",
  "react-markdown",
  "katex",
  "mdast-util-gfm",
  "micromark-extension-gfm",
  "minisearch", // for the documentation alone
  "rehype-highlight",
  "vega", // in the frame that charts are drawn in, a document of its own
  "vega-interpreter",
  "vega-lite",
  "zod",
]
const webMayImport = ["packs/analyst/chart-spec/index.ts", "client/index.ts", "core/protocol/index.ts"]

const webFaultsIn = (sources: Sources) => rules.webFaultsIn(sources, { mayImport: webMayImport, mayLoad: webMayLoad })

test("apps/web/ keeps the rules of its own", () => {
  expect(webFaultsIn(readSources("apps/web"))).toEqual([])
})

test.each<[what: string, path: string, source: string, fault: string]>([
  [
    "the server",
    "apps/web/x.tsx",
    `import { app } from "../../core/server/app.ts"`,
    "web may not import core/server/app.ts",
  ],
  [
    "a file behind the client",
    "apps/web/a/x.ts",
    `import { a } from "../../../client/socket/shared-socket.ts"`,
    "web may not import",
  ],
  ["a package that is not ours to load", "apps/web/x.ts", `import a from "left-pad"`, "web may not load left-pad"],
  ["Node", "apps/web/x.ts", `import { join } from "node:path"`, "web may not load node:path"],
  ["a long file", "apps/web/x.tsx", "\n".repeat(401), "has 401 lines"],
  ["a name that says nothing", "apps/web/utils/x.ts", "", "says nothing"],
  ["markup that is not text", "apps/web/x.tsx", `<p dangerouslySetInnerHTML={{ __html: a }} />`, "writes HTML"],
])("the rules of apps/web/ notice %s", (_what, path, source, fault) => {
  expect(webFaultsIn({ "apps/web/y.ts": `import { client } from "../../client/index.ts"`, [path]: source })).toEqual([
    expect.stringContaining(fault),
  ])
})

describe("the modules inside modules, of the packages and of the page,", () => {
  const sources = { ...readProgram(), ...readSources("apps/web") }

  test("have no two files that import each other, directly or through others", () => {
    expect(circlesIn(sources)).toEqual([])
  })

  test("import only what their table allows, and no file that wires them together", () => {
    expect(roomFaultsIn(sources)).toEqual([])
  })

  test("a cycle is reported, also of types and of lazy imports", () => {
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
    ["an arrow back up", "core/store/engine/x.ts", "core/store/journal/y.ts", "engine may not import journal"],
    ["siblings that know each other", "core/models/scripted/x.ts", "core/models/discovery/y.ts", "scripted may not"],
    [
      "a route that knows sockets",
      "core/server/routes/x.ts",
      "core/server/socket/y.ts",
      "routes may not import socket",
    ],
    ["the engine of another", "packs/analyst/sqlite/x.ts", "packs/analyst/postgres/y.ts", "sqlite may not"],
    ["a room that imports what opens it", "core/store/journal/x.ts", "core/store/store.ts", "puts journal together"],
    ["a part of the agent that imports the loop", "core/engine/gate/x.ts", "core/engine/loop.ts", "puts gate together"],
    ["the shell that knows its pages", "apps/web/shell/x.tsx", "apps/web/pages.tsx", "puts shell together"],
    ["a new room", "apps/terminal/sounds/x.ts", "apps/terminal/line.ts", "sounds is no declared room"],
  ])("%s is reported", (_what, path, target, fault) => {
    const ways = path
      .split("/")
      .slice(1, -1)
      .map(() => "..")
    const source = `import type { Y } from "${[...ways, ...target.split("/").slice(1)].join("/")}"`
    const planted = { [path]: source, ...(target in sources ? {} : { [target]: "" }) }
    expect(roomFaultsIn({ ...sources, ...planted })).toEqual([expect.stringContaining(fault)])
  })
})

test("no folder holds more files than its limit", () => {
  const paths = [...PROGRAM_FOLDERS, "test", "bench", "scripts"].flatMap((folder) => Object.keys(readSources(folder)))
  expect(crowdedFolders(paths)).toEqual([])
})

test("a folder with one file too many is reported; files in its subfolders do not count", () => {
  const full = Array.from({ length: MAX_FILES }, (_, index) => `core/store/x/${index}.ts`)
  expect(crowdedFolders([...full, "core/store/x/y/z.ts", "core/store/x/data.json"])).toEqual([])
  expect(crowdedFolders([...full, "core/store/x/z.ts"])).toEqual([
    expect.stringContaining("core/store/x holds 33 files"),
  ])
})

test.each(documents.filter((name) => existsSync(join(root, name))))("paths named in %s exist", (name) => {
  const missing = pathsIn(readFileSync(join(root, name), "utf8")).filter((path) => !existsSync(join(root, path)))
  expect(missing).toEqual([])
})

test("ARCHITECTURE.md names functions that the files next to them contain", () => {
  const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8")
  // Steps of a run and rows of tables.
  const items = text.split(/\n(?=\d+\. |\| |\n)/).map((item) => {
    const names = [...item.matchAll(/`#?([A-Za-z]\w+(?:\.\w+)?)`/g)].flatMap(([, name = ""]) => name.split("."))
    const files = pathsIn(item).filter((path) => path.endsWith(".ts"))
    return { names, code: files.map((path) => readFileSync(join(root, path), "utf8")).join("\n"), files }
  })
  const withBoth = items.filter(({ names, files }) => names.length > 0 && files.length > 0)
  expect(withBoth.length).toBeGreaterThan(12)
  const missing = withBoth.flatMap(({ names, code }) => names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code)))
  expect(missing).toEqual([])
})

test("the tables of ARCHITECTURE.md name at most three files for a question", () => {
  const rows = readFileSync(join(root, "ARCHITECTURE.md"), "utf8").split("## Where to look first")[1]?.split("\n## ")[0]
  const counts = (rows ?? "").split("\n").map((row) => pathsIn(row).length + (row.match(/\]\(/g)?.length ?? 0))
  expect(counts.filter((count) => count > 0).length).toBeGreaterThanOrEqual(14)
  expect(Math.max(...counts)).toBeLessThanOrEqual(3)
})

test("paths are found in prose, up to their first placeholder", () => {
  const text =
    "`core/engine/loop.ts:12`, `test/web/`, `packs/<name>/agent.ts`, `bin/pawl.js serve`, `npm run a/b`, `bench/out/x`"
  expect(pathsIn(text)).toEqual(["core/engine/loop.ts", "test/web/", "packs", "bin/pawl.js"])
})

/** The paths of this repository between backticks. Generated folders need not exist. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!.split(/\s/)[0]!)
  const paths = quoted.filter(
    (word) =>
      /^(core|client|packs|adapters|apps|labs|test|docs|bench|bin|scripts)\//.test(word) &&
      !word.startsWith("bench/out"),
  )
  return paths.map((path) => path.replace(/\/[^/]*[*<{…].*$/, "").replace(/[:#].*$/, ""))
}
