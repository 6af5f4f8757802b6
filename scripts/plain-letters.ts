import type { Plugin } from "rolldown"

/** An escape, or a letter beyond ASCII (each half of a surrogate pair), perhaps after a meaningless backslash. */
const LETTER = /\\[\x00-\x7f]|\\?([^\x00-\x7f])/g
/** Raw templates, the only position where `\u2026` means six characters. */
const RAW = /String\.raw`[^`]*[^\x00-\x7f]/

/**
 * Writes letters beyond ASCII as escapes such as `\u2026`, which is equivalent in strings, templates and patterns. A
 * single such letter makes V8 store the whole file with two bytes per character: 5 MB of a server's memory, and 5 % of
 * its start.
 */
export function plainLetters(): Plugin {
  return {
    name: "plain-letters",
    // At the end, because the bundler prints chunks once more after `renderChunk`, without escapes.
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue
        if (RAW.test(file.code))
          throw new Error(`${file.fileName}: String.raw with letters beyond ASCII stays as it is`)
        // No source maps are built.
        file.code = toPlainLetters(file.code)
      }
    },
  }
}

export const toPlainLetters = (code: string): string =>
  code.replaceAll(LETTER, (found: string, letter?: string) =>
    letter ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}` : found,
  )
