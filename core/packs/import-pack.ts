import { existsSync, readFileSync } from "node:fs"
import { findPackageJSON, registerHooks } from "node:module"
import { dirname, join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const isSource = import.meta.url.endsWith(".ts")
/** The modules of this program that packs import, by name: sources in a checkout, or the bundles next to this file. */
const OWN_MODULES = new Map(
  ["pawl", "@pawl/core"].flatMap((name) => [
    [name, new URL(isSource ? "../index.ts" : "./index.js", import.meta.url).href],
    [`${name}/protocol`, new URL(isSource ? "../protocol/index.ts" : "./protocol.js", import.meta.url).href],
  ]),
)

/** Imports a module as Node would from a file in this folder. */
export async function importFrom(folder: string, named: string): Promise<Readonly<Record<string, unknown>>> {
  redirectOwnNames()
  // Anything else is a package name.
  if (/^(?:\.{0,2}\/|file:)/.test(named)) {
    const url = named.startsWith("file:") ? new URL(named) : pathToFileURL(resolve(folder, named))
    if (!existsSync(url)) throw new Error(`there is no file ${url.pathname}`)
    return importModule(url.href).catch((error: unknown) => {
      const problem = error instanceof SyntaxError ? commonJsProblem(url) : undefined
      throw problem === undefined ? error : new Error(problem)
    })
  }
  // Resolve a package from the server's folder, not from where Pawl is installed.
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

/** Advice if Node reads a file as CommonJS, where `import` is a syntax error; undefined if it does not. */
function commonJsProblem(url: URL): string | undefined {
  const path = /\.[jt]s$/.test(url.pathname) ? findPackageJSON(".", url) : undefined
  if (path === undefined) return undefined
  const { type } = JSON.parse(readFileSync(path, "utf8")) as { type?: unknown }
  if (type !== "commonjs") return undefined
  return `${path} has "type": "commonjs", and a pack is an ES module: run \`npm pkg set type=module\` in ${dirname(path)}`
}

const importModule = (url: string) => import(url) as Promise<Readonly<Record<string, unknown>>>

let isRedirected = false

/**
 * Maps `pawl` and `@pawl/core` to the running program, whichever copies are installed next to a pack: classes of another
 * copy would not be recognised. Permanent, because a pack may import later.
 */
function redirectOwnNames(): void {
  if (isRedirected) return
  isRedirected = true
  registerHooks({
    resolve(specifier, context, next) {
      const url = OWN_MODULES.get(specifier)
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
    },
  })
}
