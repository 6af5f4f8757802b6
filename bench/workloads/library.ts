import { rmSync } from "node:fs"
import { performance } from "node:perf_hooks"
import { join } from "node:path"
import { systemClock } from "../../core/shared/time/clock.ts"
import { Librarian } from "../../packs/research/librarian.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import type { Embedder } from "../../core/protocol/workspace.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { SqlLibrary } from "../../core/store/library/library.ts"
import { openStore } from "../../core/store/store.ts"
import type { Place } from "../contender.ts"
import { median, type Numbers } from "../meters.ts"

interface Settings {
  readonly passages: number
  readonly queries: number
}

const DIMENSIONS = 384
const VOCABULARY = 20_000
/** The most common words are not used in queries, as searches ignore "the" and "of". */
const COMMON = 50
/** The sentences of one document, as in a paper. */
const SENTENCES = 400
const AT_ONCE = 512

/** W8: adds documents without an embedder, then finds passages by words and vectors. */
export async function hybrid(place: Place, { passages, queries }: Settings): Promise<Numbers> {
  const roll = dice()
  await using store = await openStore({ url: `file:${join(place.folder, "library.db")}`, durability: "full" })
  const embedder: Embedder = {
    name: "bench",
    dimensions: DIMENSIONS,
    embed: async (texts) => texts.map(() => Float32Array.from({ length: DIMENSIONS }, () => roll() - 0.5)),
  }
  const library = new SqlLibrary(store.engine, { clock: systemClock, embedder: embedder.name })
  const { id: user } = await store.people.ensure("bench", Date.now())
  const collection = await library.ensureCollection(user, "bench")
  const { signal } = new AbortController()
  const librarian = new Librarian(library, embedder)
  const count = async () => (await library.collection(user, collection))!.passages
  const spent = { wall: 0, cpu: 0 }
  for (let number = 0; (await count()) < passages; number++) {
    const bytes = Buffer.from(
      `# ${words(6, roll)}\n\n${Array.from({ length: SENTENCES }, () => `${words(14, roll)}.`).join(" ")}`,
    )
    const meter = startMeter()
    await librarian.ingest({ user, collection, signal }, { name: `${number}.md`, bytes })
    const { wall, cpu } = meter()
    spent.wall += wall
    spent.cpu += cpu
  }
  const stored = await count()
  await embedAll(library, embedder)
  const times = await searchTimes(queries, async () => {
    const text = words(8, roll, COMMON)
    const [numbers] = await embedder.embed([text], signal)
    const vector = { embedder: embedder.name, numbers: [...numbers!] }
    const meter = startMeter()
    const found = await library.search(user, { text, vector, limit: 10 })
    if (found.length !== 10) throw new Error(`${found.length} passages were found, not 10`)
    return meter()
  })
  const firstCpu = await firstSearches(store.engine, {
    user,
    numbers: [...(await embedder.embed(["any"], signal))[0]!],
  })
  const walls = times.map(({ wall }) => wall).sort((a, b) => a - b)
  const cpus = times.map(({ cpu }) => cpu).sort((a, b) => a - b)
  return {
    hybridP50: median(walls),
    hybridP95: walls[Math.floor(walls.length * 0.95)]!,
    hybridCpu: cpus[Math.floor(cpus.length * 0.95)]!,
    ingestUs: (spent.wall * 1000) / stored,
    ingestCpuUs: (spent.cpu * 1000) / stored,
    firstFileCpu: firstCpu.file,
    firstRowsOverFile: firstCpu.rows / firstCpu.file,
    passages: stored,
  }
}

/**
 * The CPU time of the first search after a start, which reads the index: from the rows, and from the file that it then
 * writes.
 */
async function firstSearches(engine: Engine, { user, numbers }: { user: UserId; numbers: number[] }) {
  // A smaller number of vectors is written to a file than usual, so that a quick run measures the same.
  const options = { clock: systemClock, embedder: "bench", leastFiled: 1 }
  const first = async () => {
    const library = new SqlLibrary(engine, options)
    const meter = startMeter()
    await library.search(user, { text: "", vector: { embedder: "bench", numbers }, limit: 10 })
    const { cpu } = meter()
    await library.vectors.indexes.settled()
    return cpu
  }
  if (engine.cacheFolder) rmSync(engine.cacheFolder("vectors"), { recursive: true, force: true })
  return { rows: await first(), file: await first() }
}

/** Not measured, because an embedder takes a hundred times as long. */
async function embedAll({ vectors }: SqlLibrary, embedder: Embedder): Promise<void> {
  for (;;) {
    const [next] = await vectors.waitingPeople()
    const [waiting] = next ? await vectors.claim(next.person, 1) : []
    if (!waiting) return
    const some = await vectors.passagesOf(waiting, AT_ONCE)
    const made = await embedder.embed(
      some.map(({ text }) => text),
      new AbortController().signal,
    )
    await vectors.keep([{ ...waiting, vectors: made }])
  }
}

interface Spent {
  readonly wall: number
  readonly cpu: number
}

/** Wall-clock and CPU time in milliseconds. On a busy machine only the second one is comparable. */
function startMeter(): () => Spent {
  const began = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return { wall: performance.now() - began, cpu: (user + system) / 1000 }
  }
}

async function searchTimes(queries: number, search: () => Promise<Spent>): Promise<Spent[]> {
  for (let i = 0; i < 5; i++) await search() // the first reads the index
  const times: Spent[] = []
  for (let i = 0; i < queries; i++) times.push(await search())
  return times
}

/** Words with a natural distribution: the most common ones occur in nearly every passage. */
function words(count: number, roll: () => number, from = 1): string {
  const word = () => Math.floor(from * (VOCABULARY / from) ** roll())
  return Array.from({ length: count }, () => `w${word().toString(36)}x`).join(" ")
}

/** Random numbers from 0 to 1, the same in every run. */
function dice(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
