import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** A PostgreSQL of one test's own, which can be restarted. */
export async function openOwnPostgres() {
  const child = spawn(process.execPath, [join(import.meta.dirname, "..", "throwaway-postgres.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const url = (await lines.next()).value as string
  return {
    url,
    /** SIGINT: the fast way, where sessions are told; SIGQUIT: that of a crash. */
    async restart(signal: NodeJS.Signals): Promise<void> {
      child.stdin.write(`${signal}\n`)
      const { value } = await lines.next()
      if (value !== "again") throw new Error(`PostgreSQL did not come back: ${value}`)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      const ended = once(child, "exit")
      child.stdin.end()
      await ended
    },
  }
}
