/**
 * Many large replies at once, against the server that the command starts and against a floor that carries the same
 * bytes. Measures how long the event loop is blocked, and the memory. Options: `npm run bench:load -- --help`.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { check } from "../meters.ts"
import { asksFor, longReply } from "./long-reply.ts"
import { post } from "./post.ts"
import type { Probed } from "./probe.ts"
import { type ProbedProcess, startProbed } from "./probed-process.ts"
import { createToken, serve, startProvider } from "./served.ts"
import { watchText } from "./watch-text.ts"

export interface LargeReplies {
  readonly conversations: number
  readonly characters: number
  readonly deltaCharacters: number
  /** How long the provider takes for a reply. 0: as fast as it is read. */
  readonly seconds: number
  readonly watchers: number
  /** The measured command, and a folder for its data. */
  readonly launcher: string
  readonly folder: string
  readonly flags?: readonly string[]
}

export interface LoadSeen extends Probed {
  readonly seconds: number
  readonly grewMb: number
  readonly serverCpuMs: number
}

/** Starts the `at`-th reply, which can be watched at this address. */
interface Asked {
  readonly watchUrl: string
  readonly headers: Record<string, string>
  ask(): Promise<string>
}

export async function measureOurs(load: LargeReplies): Promise<LoadSeen> {
  await using provider = await startProvider(load.characters, load.deltaCharacters, load.seconds)
  const place = { launcher: load.launcher, data: join(load.folder, "data"), provider: provider.url }
  const token = await createToken(place)
  await using served = await serve({ ...place, ...(load.flags ? { flags: load.flags } : {}) }, token)
  return await measure(load, served.process, async (at) => {
    const id = await served.open()
    const watchUrl = `${served.process.url}/api/conversations/${id}/events?after=1`
    const headers = { authorization: `Bearer ${token}` }
    return { watchUrl, headers, ask: () => served.say(id, asksFor(at)) }
  })
}

export async function measureFloor(load: LargeReplies): Promise<LoadSeen> {
  await using provider = await startProvider(load.characters, load.deltaCharacters, load.seconds)
  mkdirSync(load.folder, { recursive: true })
  const args = [provider.url, join(load.folder, "floor.db")]
  await using server = await startProbed({ script: join(import.meta.dirname, "floor-relay.ts"), args })
  return await measure(load, server, async (at) => {
    const url = `${server.url}/${at}`
    const ask = async () => (JSON.parse(await post(url, asksFor(at))) as { reply: string }).reply
    return { watchUrl: url, headers: {}, ask }
  })
}

async function measure(
  { conversations, characters, watchers }: LargeReplies,
  server: ProbedProcess,
  open: (at: number) => Promise<Asked>,
): Promise<LoadSeen> {
  // The first turn loads code, which is not part of the measurement.
  await (await open(conversations)).ask()
  await settled(server)
  const asked = await Promise.all(Array.from({ length: conversations }, (_, at) => open(at)))
  const watched = await Promise.all(
    asked.slice(0, watchers).map(({ watchUrl, headers }) => watchText(watchUrl, headers)),
  )
  const before = await server.probe()
  const begun = performance.now()
  await Promise.all(
    asked.map(async ({ ask }, at) => check((await ask()) === longReply(at, characters), `the answer of reply ${at}`)),
  )
  for (const [at, watch] of watched.entries())
    check((await watch.text) === longReply(at, characters), `what the watcher of reply ${at} has seen`)
  const seconds = (performance.now() - begun) / 1000
  const after = await server.probe()
  const grewMb = after.peakRssMb - before.rssMb
  return { ...after, seconds, grewMb, serverCpuMs: after.cpuMs - before.cpuMs }
}

/** Resolves when the process has been almost idle for a second. */
async function settled(server: ProbedProcess): Promise<void> {
  let last = (await server.probe()).cpuMs
  for (let quiet = 0; quiet < 2;) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { cpuMs } = await server.probe()
    quiet = cpuMs - last < 50 ? quiet + 1 : 0
    last = cpuMs
  }
}
