import { toUnit } from "../../shared/vectors/unit.ts"
import { textWindows, type WindowLimits } from "./text-windows.ts"

type EmbedWindows = (windows: readonly string[]) => Promise<readonly ArrayLike<number>[]>

/**
 * One normalized vector per text: the mean of its windows. A text without words gets a vector of zeros, which is
 * similar to nothing.
 */
export async function embedPooled(
  texts: readonly string[],
  { limits, dimensions }: { limits: WindowLimits; dimensions: number },
  embedWindows: EmbedWindows,
): Promise<Float32Array[]> {
  const windows = texts.map((text) => textWindows(text, limits))
  const all = windows.flat()
  const vectors = all.length === 0 ? [] : await embedWindows(all)
  let next = 0
  return windows.map(({ length }) => {
    const sum = new Float32Array(dimensions)
    for (const vector of vectors.slice(next, (next += length))) {
      for (let i = 0; i < dimensions; i++) sum[i]! += vector[i]!
    }
    return toUnit(sum)
  })
}
