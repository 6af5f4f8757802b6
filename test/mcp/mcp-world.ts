import type { Agent } from "../../core/engine/definition/agent.ts"
import { fileContents } from "../../core/compose/file-contents.ts"
import { Mcp } from "../../core/compose/open-mcp.ts"
import { settingsIn } from "../../core/compose/settings.ts"
import type { McpServer } from "../../core/tools/mcp/definition/server.ts"
import { readServers } from "../../core/tools/mcp/server-list.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { systemClock } from "../../core/shared/time/clock.ts"
import { silentLog } from "../../core/shared/log.ts"
import { asMasterKey, fixedKeys } from "../../core/store/people/master-keys.ts"
import { openStore, type Store } from "../../core/store/store.ts"
import { openWorld, type World, type WorldOptions } from "../support/loop/world.ts"

/** The same after every restart: a secret that one process encrypts the next one decrypts. */
const masterKeys = fixedKeys(asMasterKey(Buffer.alloc(32, "mcp")))

export type Entry = Readonly<Record<string, unknown>>

/** Servers as an operator's file names them, for the agent of `openWorld`. */
export const servers = (entries: Readonly<Record<string, Entry>>): McpServer[] =>
  readServers(
    JSON.stringify({
      mcpServers: Object.fromEntries(
        Object.entries(entries).map(([name, entry]) => [
          name,
          { agents: ["test"] satisfies Agent["name"][], ...entry },
        ]),
      ),
    }),
    {},
  )

export interface McpPlace {
  /** The data folder of programs and the path to find them; only for tests that start some. */
  readonly dataFolder?: string
  readonly path?: string
  /** Which private addresses users may name. */
  readonly reaches?: readonly string[] | false
  /** The limit for a user's files. */
  readonly bytesOfFiles?: number
}

const NO_READER = { readPdf: () => Promise.reject(new Error("no document is read here")) }

/** A world whose agent may have the tools of these servers. */
export async function openMcpWorld(
  named: readonly McpServer[],
  { dataFolder = "/nowhere", path = "", reaches = false, bytesOfFiles = 1e9, ...options }: WorldOptions & McpPlace,
): Promise<World & { readonly mcp: Mcp; readonly mcpStore: Store }> {
  const store = await openStore({ url: options.url, durability: "normal", masterKeys })
  const clock = options.clock ?? systemClock
  const settings = { ...settingsIn(dataFolder), mcp: named, bytesOfFiles, commandEnvironment: { PATH: path } }
  const { mcpPins: pins, ownMcpServers, mcpSignIns: signIns, messageFiles } = store
  const records = { pins, records: ownMcpServers, signIns, messageFiles, agents: ["test"] }
  const mcp = new Mcp(settings, { ...records, reach: new OutboundPolicy(reaches), clock, log: silentLog })
  const world = await openWorld({ files: fileContents(messageFiles, NO_READER), ...options, joining: mcp })
  const close = world[Symbol.asyncDispose].bind(world)
  return Object.assign(world, {
    mcp,
    /** The store that contains them. */
    mcpStore: store,
    async [Symbol.asyncDispose]() {
      await close()
      await mcp[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  })
}
