import { existsSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect } from "vitest"
import type { Clock } from "../../../core/shared/time/clock.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { scripted, type ScriptedReply } from "../../../core/testing.ts"
import { dataFolder, PawlProcess } from "../processes/pawl-process.ts"
import { databases, type TestDatabase } from "../databases.ts"
import { stateOf } from "../processes/processes.ts"
import { openServer } from "../server/socket.ts"
import { lifeNamed } from "../processes/package.ts"

const [sqlite] = databases as readonly [TestDatabase]

/** A server in this process, with the user ada, and the processes of her devices and watchers. */
export async function openHalfOpen(clock: Clock, ...script: readonly ScriptedReply[]) {
  const server = await openServer({ database: sqlite, model: scripted(...script), clock })
  const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
  const db = join(dataFolder(), "device.db")
  const openStreams = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^pawl_open_streams (\d+)/m.exec(text)?.[1] ?? 0)
  }
  const start = (words: string[], environment: Record<string, string>, life: string) => {
    return new PawlProcess(words, environment, { script: lifeNamed(life) })
  }
  return {
    server,
    ada,
    openStreams,
    /** A reference device; with a signal it stops itself just before or after the commit of its first write. */
    async device(...hit: string[]) {
      const environment = { DEVICE_TOKEN: token, DEVICE_SIGNAL: "SIGSTOP" }
      const child = start([server.url, db, ...hit], environment, "device-life")
      await child.says(/connected/)
      return child
    },
    async watcher(conversation: string) {
      const child = start([server.url, conversation], { WATCHER_TOKEN: token }, "watcher-life")
      await child.says(/\n/)
      return child
    },
    async bound(mode: "confirm" | "auto") {
      return (await ada.begin({ site: "device", mode })) as ConversationId
    },
    results: async (id: string) =>
      (await ada.get(`/api/conversations/${id}`)).body.messages
        .filter(({ role }: { role: string }) => role === "tool")
        .map(({ content }: { content: string }) => content) as string[],
    rows: () => {
      using file = new DatabaseSync(db, { readOnly: true })
      return file.prepare("SELECT title FROM tasks").all().length
    },
    stoppedByItself: () => expect.poll(() => existsSync(`${db}.stopped`), { timeout: 60_000 }).toBe(true),
    proposal: async () => (await ada.get("/api/agent/proposals")).body.items[0] as { id: string; status: string },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Resolves when the process has stopped. */
export async function stop({ child }: PawlProcess): Promise<void> {
  child.kill("SIGSTOP")
  await expect.poll(() => stateOf(child.pid ?? 0), { timeout: 60_000 }).toBe("T")
}

export const goOn = ({ child }: PawlProcess) => child.kill("SIGCONT")
