import type { Plugin } from "rolldown"

/** Each has something that is loaded when it is asked for: of `http` the client behind `WebSocket`, which takes 60 ms. */
const BUILTINS = ["http", "https"]

/**
 * Whoever imports a module of Node's gets all that it exports, also what it makes only when it is asked for. So these two
 * are asked for, with the names that are there from the start.
 */
export function plainBuiltins(): Plugin {
  return {
    name: "plain-builtins",
    resolveId: {
      order: "pre",
      handler(id) {
        const name = id.replace(/^node:/, "")
        return BUILTINS.includes(name) ? { id: `\0plain:${name}`, external: false } : null
      },
    },
    load(id) {
      if (!id.startsWith("\0plain:")) return null
      const name = `node:${id.slice("\0plain:".length)}`
      const all = Object.getOwnPropertyDescriptors(process.getBuiltinModule(name) as object)
      const names = Object.keys(all).filter((key) => all[key]?.get === undefined && /^[A-Za-z_]\w*$/.test(key))
      return [
        `const all = process.getBuiltinModule(${JSON.stringify(name)})`,
        `export const { ${names.join(", ")} } = all`,
        "export default all",
      ].join("\n")
    },
  }
}
