import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** A PostgreSQL for one test, which can be restarted; with `replicated` it can also move to another server. */
export async function openOwnPostgres(kind?: "replicated") {
  const words = [join(import.meta.dirname, "..", "throwaway-postgres.ts"), ...(kind ? [kind] : [])]
  const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const url = (await lines.next()).value as string
  const order = async (words: string): Promise<string> => {
    child.stdin.write(`${words}\n`)
    return (await lines.next()).value as string
  }
  return {
    url,
    /** SIGINT is a fast shutdown that notifies sessions; SIGQUIT acts like a crash. */
    async restart(signal: NodeJS.Signals): Promise<void> {
      const said = await order(signal)
      if (said !== "again") throw new Error(`PostgreSQL did not come back: ${said}`)
    },
    /** A second server that has every commit before the client gets its acknowledgement. */
    async makeStandby(): Promise<void> {
      const said = await order("standby")
      if (said !== "standing") throw new Error(`There is no standby: ${said}`)
    },
    /** Kills the first server and promotes the standby; returns its url. */
    failOver: (): Promise<string> => order("failover"),
    async [Symbol.asyncDispose](): Promise<void> {
      const ended = once(child, "exit")
      child.stdin.end()
      await ended
    },
  }
}
