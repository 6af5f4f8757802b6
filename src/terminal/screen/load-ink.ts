import { existsSync } from "node:fs"
import { registerHooks } from "node:module"
import { fileURLToPath } from "node:url"

/**
 * Loads the screen, and with it Ink. Ink takes one function out of es-toolkit's 415 files, which cost more than everything
 * else together; while it is loaded that name leads to the one file. Where the package looks otherwise, to all of them.
 */
export async function loadScreen(): Promise<typeof import("./show-screen.ts")> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      if (specifier !== "es-toolkit/compat") return resolved
      const url = resolved.url.replace(/index\.mjs$/, "function/throttle.mjs")
      return url !== resolved.url && existsSync(fileURLToPath(url)) ? { ...resolved, url } : resolved
    },
  })
  try {
    return await import("./show-screen.ts")
  } finally {
    hooks.deregister()
  }
}
