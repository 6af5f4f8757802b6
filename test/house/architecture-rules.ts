import { isBuiltin } from "node:module"
import { posix } from "node:path"
import {
  type Import,
  importGraph,
  importsOf,
  isTest,
  PROGRAM_FOLDERS,
  type Sources,
  withoutComments,
} from "./sources.ts"

export interface RoomTables {
  /** The modules of the packages and what each may import besides itself. */
  readonly mayImport: Readonly<Record<string, readonly string[] | "everything">>
  /** Folders that load only the listed external packages; the inner one of two counts. */
  readonly mayLoad: Readonly<Record<string, { readonly only: readonly string[]; readonly types: "count" | "free" }>>
  /** Files with a lower or higher limit of lines than all others. */
  readonly maxLines: Readonly<Record<string, number>>
  /** The one file that reads the environment. */
  readonly readsEnvironment: string
}

export interface PageTables {
  readonly mayImport: readonly string[]
  readonly mayLoad: readonly string[]
}

/** Nine files in ten of the best codebases are shorter than this. */
const MAX_LINES = 400
const namesThatSayNothing = ["util", "utils", "helper", "helpers", "common", "types"]

/** Returns every broken rule as a sentence. Pure, so that the tests above can plant faults. */
export function faultsIn(sources: Sources, tables: RoomTables): string[] {
  return Object.entries(sources).flatMap(([path, source]) => {
    const code = withoutComments(source)
    const faults = [
      ...nameFaults(path, tables),
      ...importsOf(code).flatMap((found) => importFaults(path, found, tables)),
    ]
    if (!isTest(path))
      faults.push(...sizeFaults(path, source, tables.maxLines), ...environmentFaults(path, code, tables))
    if (roomOf(path) !== "core/engine" && /\bruntime\s*\??\.\s*ports\b/.test(code))
      faults.push("reaches through the runtime: what it needs is handed to it")
    return faults.map((fault) => `${path} ${fault}`)
  })
}

export function webFaultsIn(sources: Sources, { mayImport, mayLoad }: PageTables): string[] {
  return Object.entries(sources).flatMap(([path, source]) => {
    if (!/\.tsx?$/.test(path) || path === "apps/web/vite.config.ts") return []
    const code = withoutComments(source)
    const faults = [...emptyNames(path), ...sizeFaults(path, source)]
    if (/dangerouslySetInnerHTML|\.(inner|outer)HTML\b|insertAdjacentHTML/.test(code)) faults.push("writes HTML")
    for (const { target } of importsOf(code)) {
      if (target.startsWith(".")) {
        const found = posix.join(posix.dirname(path), target)
        if (!found.startsWith("apps/web/") && !mayImport.includes(found))
          faults.push(`imports: web may not import ${found}`)
      } else if (!isTest(path) && !mayLoad.includes(packageOf(target))) {
        faults.push(`imports: web may not load ${packageOf(target)}`)
      }
    }
    return faults.map((fault) => `${path} ${fault}`)
  })
}

function nameFaults(path: string, { mayImport }: RoomTables): string[] {
  const room = roomOf(path)
  const faults = room in mayImport ? [] : [`is in a new place: ${room} is not a declared room`]
  return [...faults, ...emptyNames(path)]
}

function emptyNames(path: string): string[] {
  const names = path.split("/").map((name) => name.replace(/\..*$/, ""))
  const empty = names.filter((name) => namesThatSayNothing.includes(name))
  return empty.map((name) => `has a name that says nothing: ${name}`)
}

function importFaults(path: string, { target, typeOnly }: Import, tables: RoomTables): string[] {
  if (/^(#|pawl(\/|$))/.test(target)) return [`imports ${target}: name a file of this package by its path`]
  if (target.startsWith(".")) return pathFaults(path, posix.join(posix.dirname(path), target), tables)
  const room = roomOf(path)
  const limited = Object.keys(tables.mayLoad).filter((folder) => path.startsWith(`${folder}/`))
  const limit = tables.mayLoad[limited.sort((a, b) => b.length - a.length)[0] ?? ""]
  if (!limit || isTest(path) || (typeOnly && limit.types === "free")) return []
  const name = packageOf(target)
  return limit.only.includes(name) ? [] : [`imports ${target}: ${room} may not load ${name}`]
}

function pathFaults(path: string, target: string, { mayImport }: RoomTables): string[] {
  const inTest = isTest(path)
  if (!PROGRAM_FOLDERS.includes(target.split("/")[0]!)) {
    const allowed = target === "package.json" || (inTest && target.startsWith("test/"))
    return allowed ? [] : [`imports ${target}: that is no folder of a package`]
  }
  if (target === `${path.split("/")[0]}/package.json`) return []
  const [from, to] = [roomOf(path), roomOf(target)]
  const allowed = mayImport[from] ?? "everything"
  if (from === to || allowed === "everything" || allowed.includes(to) || allowed.includes(target)) return []
  // Our own tests may use what we publish for tests.
  if (inTest && to === "core/testing.ts") return []
  return [`imports ${target}: ${from} may not import ${to}`]
}

function sizeFaults(path: string, source: string, maxLines: RoomTables["maxLines"] = {}): string[] {
  const lines = source.replace(/\n$/, "").split("\n").length
  const max = maxLines[path] ?? MAX_LINES
  return lines > max ? [`has ${lines} lines, ${max} are allowed`] : []
}

function environmentFaults(path: string, code: string, { readsEnvironment }: RoomTables): string[] {
  const reads =
    /\bprocess\s*\??\.\s*env\b|\bprocess\[["']env|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*["'](node:)?process["']/
  return reads.test(code) && path !== readsEnvironment ? [`reads the environment; only ${readsEnvironment} may`] : []
}

/**
 * Returns the module of a path: `core/engine/loop.ts` → `core/engine`, `client/calls.ts` → `client`, `core/index.ts`
 * and its test → `core/index.ts`.
 */
function roomOf(path: string): string {
  const [folder, name, ...rest] = path.split("/") as [string, string, ...string[]]
  if (folder === "client") return name === "device" && rest.length > 0 ? "client/device" : "client"
  if (rest.length === 0 && (folder === "adapters" || folder === "packs")) return folder
  return `${folder}/${name.replace(/\.test\.ts$/, ".ts")}`
}

function packageOf(target: string): string {
  if (isBuiltin(target)) return target.startsWith("node:") ? target : `node:${target}`
  return target.split("/", target.startsWith("@") ? 2 : 1).join("/")
}

/** About thirty names can be read at a glance; in a longer list a reader overlooks names. */
export const MAX_FILES = 32

/** Returns every folder with more source files than that, without those in its subfolders, as a sentence. */
export function crowdedFolders(paths: readonly string[]): string[] {
  const code = paths.filter((path) => /\.tsx?$/.test(path))
  const byFolder = Map.groupBy(code, (path) => posix.dirname(path))
  return [...byFolder].flatMap(([folder, files]) =>
    files.length > MAX_FILES
      ? [`${folder} holds ${files.length} files, ${MAX_FILES} are allowed: give an idea its folder`]
      : [],
  )
}

/**
 * Returns each import cycle, types included, as a sentence. It reports one way around each cycle; once that is cut,
 * there may be more.
 */
export function circlesIn(sources: Sources): string[] {
  const graph = importGraph(sources)
  const done = new Set<string>()
  const circles: string[] = []

  function visit(file: string, way: readonly string[]): void {
    if (way.includes(file)) {
      circles.push([...way.slice(way.indexOf(file)), file].join(" imports "))
      return
    }
    if (done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...way, file])
    done.add(file)
  }

  for (const file of [...graph.keys()].sort()) visit(file, [])
  return circles
}
