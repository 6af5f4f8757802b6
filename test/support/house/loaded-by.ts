import { readSources } from "./sources.ts"

/** What a file brings with it: only what is imported before anything runs, and is more than a type. */
export function loadedBy(entry: string): string[] {
  const sources = readSources("src")
  const loaded = new Set<string>()
  const next = [entry]
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    if (loaded.has(path)) continue
    loaded.add(path)
    const imports = (sources[path] ?? "").matchAll(/^(?:import|export) (?!type )[^;]*? from "(\.[^"]+)"/gms)
    for (const [, from] of imports) next.push(new URL(from!, `file:///${path}`).pathname.slice(1))
  }
  return [...loaded]
}
