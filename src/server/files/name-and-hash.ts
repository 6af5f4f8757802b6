import { createHash } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { MAX_NAME_OF_FILE } from "../../protocol/conversation/message-file.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"

const HASHED_AT_ONCE = 4 * 1024 * 1024

/** The last part of a path, on one line, without what hides or cannot be stored. */
export function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ""
  const plain = showHidden(last.toWellFormed().replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")).trim()
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(plain)?.[0] ?? ""
  if (plain.length <= MAX_NAME_OF_FILE) return plain || "file"
  return `${plain.slice(0, MAX_NAME_OF_FILE - ending.length - 1).toWellFormed()}…${ending}`
}

/** In hexadecimal digits; others get a turn in between. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256")
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
    if (at > 0) await nextTurn()
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE))
  }
  return hash.digest("hex")
}
