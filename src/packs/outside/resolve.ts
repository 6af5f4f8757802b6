import { existsSync } from "node:fs"
import { registerHooks } from "node:module"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

/** This very program, as others import it: in the checkout, and beside this file where it was built. */
const OURSELVES = new URL(import.meta.url.endsWith(".ts") ? "../../index.ts" : "./index.js", import.meta.url).href

/** The module that is named, as Node itself would find it from a file in this folder. */
export async function importFrom(folder: string, named: string): Promise<Readonly<Record<string, unknown>>> {
  useOurselves()
  // Anything else is the name of a package.
  if (/^(?:\.{0,2}\/|file:)/.test(named)) {
    const url = named.startsWith("file:") ? new URL(named) : pathToFileURL(resolve(folder, named))
    if (!existsSync(url)) throw new Error(`there is no file ${url.pathname}`)
    return importModule(url.href)
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

const importModule = (url: string) => import(url) as Promise<Readonly<Record<string, unknown>>>

let isOurselves = false

/**
 * What a pack imports as `pawl` is the program that loads it, whichever copies are installed beside the pack: an error or an
 * agent made by another copy would be taken for something foreign. For good, because a pack may import later, too.
 */
function useOurselves(): void {
  if (isOurselves) return
  isOurselves = true
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "pawl" ? { url: OURSELVES, shortCircuit: true } : next(specifier, context),
  })
}
