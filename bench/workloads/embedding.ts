import { readFileSync } from "node:fs"
import { join } from "node:path"
import { MiniLmEmbedder } from "../../labs/minilm/embedder.ts"
import { cpuMs, median, type Numbers } from "../meters.ts"
import type { Sizes } from "../sizes.ts"

/** The length of a passage of a document, for which the bound is set. */
const CHARACTERS = 800

/**
 * W13: the CPU time of the local embedder for a passage, in all threads; and for a query, including the start of a
 * thread.
 */
export async function embedding({ passes }: Sizes["w13"]): Promise<Numbers> {
  const { signal } = new AbortController()
  const embedder = new MiniLmEmbedder({ threads: 1 })
  const passages = passagesOf(readFileSync(join(import.meta.dirname, "..", "..", "LICENSE"), "utf8"))
  const firstMs = await spent(() => embedder.embed(["What may be done with it?"], signal))
  await embedder.embed(passages, signal) // warm
  const times: number[] = []
  for (let pass = 0; pass < passes; pass++)
    times.push((await spent(() => embedder.embed(passages, signal))) / passages.length)
  await embedder.close()
  return { passageMs: median(times), firstMs }
}

/** English text that is the same in every version, because the measurement depends on it. */
function passagesOf(text: string): string[] {
  const words = text.replaceAll(/\s+/g, " ").trim()
  return Array.from({ length: Math.floor(words.length / CHARACTERS) }, (_, index) =>
    words.slice(index * CHARACTERS, (index + 1) * CHARACTERS),
  )
}

async function spent(work: () => Promise<unknown>): Promise<number> {
  const from = cpuMs()
  await work()
  return cpuMs() - from
}
