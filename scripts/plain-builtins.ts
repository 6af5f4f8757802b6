import { join } from "node:path"
import type { Plugin } from "rolldown"

const ours = join(import.meta.dirname, "..", "src")

/** Each has something that is loaded when it is asked for: of `http` the client behind `WebSocket`, which takes 60 ms. */
const FOR_ALL = ["http", "https"]
/**
 * The same, of what every start loads, for our own sources, which name what they use: of `fs` what is behind `promises`, of
 * `crypto` the other one for browsers. And whoever asks by name does not make lists of all names: 10 ms of a start, all together.
 */
const FOR_OURS = ["crypto", "events", "fs", "fs/promises", "path", "sqlite", "util", "worker_threads", "zlib"]

/** Whether who imports a module of Node's is given it in this way. */
export function isPlain(id: string, importer: string | undefined): boolean {
  const name = id.replace(/^node:/, "")
  return FOR_ALL.includes(name) || (FOR_OURS.includes(name) && importer?.startsWith(ours) === true)
}

/**
 * Whoever imports a module of Node's gets all that it exports, also what it makes only when it is asked for. So these are
 * asked for, with the names that are there from the start.
 */
export function plainBuiltins(): Plugin {
  return {
    name: "plain-builtins",
    resolveId: {
      order: "pre",
      handler(id, importer) {
        if (!isPlain(id, importer)) return null
        return { id: `\0plain:${id.replace(/^node:/, "")}`, external: false, moduleSideEffects: false }
      },
    },
    load(id) {
      if (!id.startsWith("\0plain:")) return null
      const name = `node:${id.slice("\0plain:".length)}`
      const all = Object.getOwnPropertyDescriptors(process.getBuiltinModule(name) as object)
      const names = Object.keys(all).filter((key) => all[key]?.get === undefined && /^[A-Za-z_]\w*$/.test(key))
      return [
        `const all = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)})`,
        // Each by itself, and marked as harmless: what nobody imports is left out.
        ...names.map((key) => `export const ${key} = /* @__PURE__ */ (() => all.${key})()`),
        "export default all",
      ].join("\n")
    },
  }
}
