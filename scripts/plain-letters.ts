import type { Plugin } from "rolldown"

/** An escape, or a letter beyond ASCII (each half of a pair by itself), perhaps behind a backslash that means nothing. */
const LETTER = /\\[\x00-\x7f]|\\?([^\x00-\x7f])/g
/** The one place in which `\u2026` is six letters. */
const RAW = /String\.raw`[^`]*[^\x00-\x7f]/

/**
 * Writes letters beyond ASCII as `\u2026`, which in a string, a template and a pattern is the same. A single one of them
 * makes V8 keep the whole file with two bytes a letter: 5 MB of a server's memory, and a twentieth of its start.
 */
export function plainLetters(): Plugin {
  return {
    name: "plain-letters",
    // At the end: what is written of a chunk is printed once more after `renderChunk`, with the letters themselves.
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
