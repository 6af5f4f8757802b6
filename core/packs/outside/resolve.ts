import { existsSync, readFileSync } from "node:fs"
import { findPackageJSON, registerHooks } from "node:module"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const isSource = import.meta.url.endsWith(".ts")
/** What packs import of this program, by its name: its sources in a checkout, or the bundles next to this file. */
const OURSELVES = new Map(
  ["pawl", "@pawl/core"].flatMap((name) => [
    [name, new URL(isSource ? "../../index.ts" : "./index.js", import.meta.url).href],
    [`${name}/protocol`, new URL(isSource ? "../../protocol/index.ts" : "./protocol.js", import.meta.url).href],
  ]),
)

/** The module that is named, as Node itself would find it from a file in this folder. */
export async function importFrom(folder: string, named: string): Promise<Readonly<Record<string, unknown>>> {
  useOurselves()
  // Anything else is the name of a package.
  if (/^(?:\.{0,2}\/|file:)/.test(named)) {
    const url = named.startsWith("file:") ? new URL(named) : pathToFileURL(resolve(folder, named))
    if (!existsSync(url)) throw new Error(`there is no file ${url.pathname}`)
    return importModule(url.href).catch((error: unknown) => {
      const problem = error instanceof SyntaxError ? commonJsProblem(url) : undefined
      throw problem === undefined ? error : new Error(problem)
    })
  }
  // A package is looked for from where the server is started, and not from where Pawl is installed.
  const parentURL = pathToFileURL(join(folder, "package.json")).href
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(specifier, specifier === named ? { ...context, parentURL } : context),
  })
  try {
    return await importModule(named)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${named}'`)) throw error
    const isFile = existsSync(resolve(folder, named))
    const todo = isFile ? `, but there is a file of that name: write ./${named}` : ": `npm install` it there"
    throw new Error(`there is no package ${named} in ${folder}${todo}`)
  } finally {
    hooks.deregister()
  }
}

/** What to do if Node reads a file as CommonJS, where `import` is a syntax error; undefined if it does not. */
function commonJsProblem(url: URL): string | undefined {
  const path = /\.[jt]s$/.test(url.pathname) ? findPackageJSON(".", url) : undefined
  if (path === undefined) return undefined
  const { type } = JSON.parse(readFileSync(path, "utf8")) as { type?: unknown }
  if (type !== "commonjs") return undefined
  return `${path} has "type": "commonjs", and a pack is an ES module: run \`npm pkg set type=module\` in ${dirname(path)}`
}

const importModule = (url: string) => import(url) as Promise<Readonly<Record<string, unknown>>>

let isOurselves = false

/**
 * What a pack imports as `pawl` or `@pawl/core` is the program that loads it, whichever copies are installed beside the pack: an error or an
 * agent made by another copy would be taken for something foreign. For good, because a pack may import later, too.
 */
function useOurselves(): void {
  if (isOurselves) return
  isOurselves = true
  registerHooks({
    resolve(specifier, context, next) {
      const url = OURSELVES.get(specifier)
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
    },
  })
}
