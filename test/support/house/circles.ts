import { importGraph, type Sources } from "./sources.ts"

/** Circles of imports, types included, each as a sentence. One way around each is told; with that cut, there may be more. */
export function circlesIn(sources: Sources): string[] {
  const graph = importGraph(sources)
  const done = new Set<string>()
  const circles: string[] = []

  function visit(file: string, way: readonly string[]): void {
    if (way.includes(file)) {
      circles.push([...way.slice(way.indexOf(file)), file].join(" imports "))
      return
    }
    if (done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...way, file])
    done.add(file)
  }

  for (const file of [...graph.keys()].sort()) visit(file, [])
  return circles
}
