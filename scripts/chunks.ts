import { join } from "node:path"
import type { CodeSplittingGroup } from "rolldown"

const root = join(import.meta.dirname, "..")

type ModuleGraph = Parameters<Extract<CodeSplittingGroup["name"], (...words: never) => unknown>>[1]
/** True if a module is loaded together with one of these sources. */
type IsLoadedWith = (...sources: readonly string[]) => boolean

/**
 * Assigns modules to files of `dist`. By default the bundler creates a file for each combination of entries: a server
 * had 73 files, and reading them took a sixth of its start. A module belongs to the first of these chunks that accepts
 * it. Each chunk contains or follows what it imports, so that no two files import each other.
 */
const chunks: Readonly<Record<string, (isLoadedWith: IsLoadedWith, id: string) => boolean>> = {
  // First, so that no other code runs on a Node that is too old.
  "require-node": (_, id) => /[\\/]core[\\/]require-node\.ts$/.test(id),
  // In a separate file, although nearly all programs load it: in a file with thousands of names its functions start
  // slower.
  zod: (_, id) => /[\\/]node_modules[\\/]zod[\\/]/.test(id),
  // Modules that browsers load too: first those of a command before its name is known, then those of each command.
  errors: (isLoadedWith) => isLoadedWith(...browser) && isLoadedWith(...beginning),
  words: (isLoadedWith) => isLoadedWith(...browser) && isLoadedWith(...store),
  protocol: (isLoadedWith) => isLoadedWith("core/protocol/index.ts"),
  command: (isLoadedWith) => isLoadedWith(...beginning),
  // Everything that an embedded engine needs before its first turn, in one file.
  start: (isLoadedWith) => isLoadedWith(...start),
  faces: (isLoadedWith) => isLoadedWith(...faces) && isLoadedWith(...store, ...server),
  store: (isLoadedWith) => isLoadedWith(...store),
  engine: (isLoadedWith) => isLoadedWith("core/index.ts", "core/compose/open-engine.ts"),
  // In the server's file, lazy parts would make an embedded engine load all of the server.
  shared: (isLoadedWith) => isLoadedWith(...late) && isLoadedWith(...server),
  library: (isLoadedWith) => isLoadedWith("apps/cli/commands/ingest.ts") && isLoadedWith(...server),
  server: (isLoadedWith) => isLoadedWith(...server),
  late: (isLoadedWith) => isLoadedWith(...late),
}
const browser = ["core/protocol/index.ts", "client/index.ts"]
const beginning = ["apps/cli/pawl.ts", "apps/cli/commands/chat.ts", "core/testing.ts"]
const start = ["core/compose/open-engine.ts"]
const faces = [
  "client/device/index.ts",
  "apps/terminal/session/terminal-session.ts",
  "apps/terminal/session/slash-commands.ts",
]
const store = ["migrate", "token", "invite", "backup", "export", "import", "rotate-keys"].map(
  (name) => `apps/cli/commands/${name}.ts`,
)
const server = ["core/compose/compose-server.ts", "apps/cli/commands/serve.ts", "apps/server.ts"]

/** The modules that `lazyModule` loads. */
const late = [
  ...["guardrail", "route", "grade", "compact"].map((name) => `core/engine/ask/${name}.ts`),
  ...["erasure", "export"].map((name) => `core/store/${name}.ts`),
]

export function chunkGroups(): CodeSplittingGroup[] {
  const loaded = new Map<string, ReadonlySet<string>>()
  const loadedWith = (source: string, graph: ModuleGraph): ReadonlySet<string> => {
    const known = loaded.get(source) ?? reach(join(root, source), graph)
    loaded.set(source, known)
    return known
  }
  return Object.entries(chunks).map(([name, holds], place, { length }) => ({
    debugName: name,
    priority: length - place,
    name(id, graph) {
      if (isBegunWith(id, graph)) return null
      return holds((...all) => all.some((each) => loadedWith(each, graph).has(id)), id) ? name : null
    },
  }))
}

/**
 * True for a module that must be a separate file: an entry, or a module that an entry imports dynamically. Otherwise
 * the command and a module that it awaits could wait for each other, and importing an entry would load unrelated
 * modules.
 */
const isBegunWith = (id: string, graph: ModuleGraph): boolean => {
  // Adapters import this entry too. In its own file it would be combined with the server's, which browsers cannot load.
  if (id === join(root, "core/protocol/index.ts")) return false
  const info = graph.getModuleInfo(id)
  return !!info && (info.isEntry || info.dynamicImporters.some((each) => graph.getModuleInfo(each)?.isEntry))
}

/** A module and all modules that it loads. */
function reach(id: string, graph: ModuleGraph, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(id)) return found
  found.add(id)
  for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) reach(imported, graph, found)
  return found
}
