import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs"

/**
 * The fields of `/proc/self/stat` with the first and last address of the arguments and of the environment, counted from
 * 0 after the name.
 */
const ADDRESSES = [
  [45, 46],
  [47, 48],
] as const

/** A shorter secret may occur in unrelated text, such as the search path. */
const SHORTEST = 8

/**
 * Overwrites secrets in the arguments and the environment of this process. The system shows both to every process of
 * the same user (`/proc/PID/environ`, `ps`) for as long as the process lives: a command that runs without a sandbox
 * would only have to read those of its parent. Only Linux shows them that way.
 */
export function forgetSecrets(secrets: Iterable<string>): void {
  const values = [...secrets].filter(({ length }) => length >= SHORTEST).map((secret) => Buffer.from(secret))
  if (process.platform !== "linux" || values.length === 0) return
  try {
    const stat = readFileSync("/proc/self/stat", "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const memory = openSync("/proc/self/mem", "r+")
    try {
      for (const [first, last] of ADDRESSES) overwrite(memory, [Number(fields[first]), Number(fields[last])], values)
    } finally {
      closeSync(memory)
    }
  } catch {
    // The system does not allow the write. Secrets are still removed from the output of tools.
  }
}

function overwrite(memory: number, [from, to]: readonly [number, number], secrets: readonly Buffer[]): void {
  const bytes = Buffer.alloc(Math.max(0, to - from))
  readSync(memory, bytes, 0, bytes.length, from)
  for (const secret of secrets) {
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length))
      writeSync(memory, Buffer.alloc(secret.length, "*"), 0, secret.length, from + at)
  }
}
