/** A number with its noun: `1 file`, `2 files`, `1,204 files`. */
export const plural = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`

/** The items as a sentence lists them: `a`, `a or b`, `a, b or c`. */
export const alternatives = (items: readonly string[]): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} or ${items.at(-1)}`

/** Bytes in the largest fitting unit: `812 bytes`, `4 kB`, `12.3 MB`, `1.5 GB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return plural(bytes, "byte")
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`
}
