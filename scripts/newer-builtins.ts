import type { Plugin } from "rolldown"
import { isOwnSource } from "./entries.ts"

/** Modules of Node from which our sources import names that an older Node does not have. */
const NEWER = ["fs", "module", "path", "sqlite", "util", "zlib"]

/** True if this import of a Node module is replaced. */
export function isNewer(id: string, importer: string | undefined): boolean {
  return NEWER.includes(id.replace(/^node:/, "")) && importer !== undefined && isOwnSource(importer)
}

/**
 * Loads these Node modules at run time instead of importing them. An older Node fails on an import of a missing name
 * before any of our code runs, so that `core/require-node.ts` could not report which Node is needed.
 */
export function newerBuiltins(): Plugin {
  return {
    name: "newer-builtins",
    resolveId: {
      order: "pre",
      handler(id, importer) {
        if (!isNewer(id, importer)) return null
        return { id: `\0builtin:${id.replace(/^node:/, "")}`, external: false, moduleSideEffects: false }
      },
    },
    load(id) {
      if (!id.startsWith("\0builtin:")) return null
      const name = `node:${id.slice("\0builtin:".length)}`
      const all = Object.getOwnPropertyDescriptors(process.getBuiltinModule(name) as object)
      const names = Object.keys(all).filter((key) => all[key]?.get === undefined && /^[A-Za-z_]\w*$/.test(key))
      return [
        `const all = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)}) ?? {}`,
        // Each is marked as pure, so that unused ones are dropped.
        ...names.map((key) => `export const ${key} = /* @__PURE__ */ (() => all.${key})()`),
        "export default all",
      ].join("\n")
    },
  }
}
