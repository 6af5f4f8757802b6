import { useEffect } from "react"
import type { Options } from "react-markdown"
import { Store, useStore } from "../state/store.ts"

type Plugin = NonNullable<Options["rehypePlugins"]>[number]

/** Colours for code are most of a hundred kilobytes, so they come when the first code does. */
const loaded = new Store<Plugin | undefined>(undefined)
let asked = false

export function useHighlighter(wanted: boolean): Plugin | undefined {
  const plugin = useStore(loaded)
  useEffect(() => {
    if (!wanted || asked) return
    asked = true
    import("rehype-highlight").then(
      ({ default: highlight }) => loaded.set([highlight, { detect: false }]),
      () => (asked = false), // code without colours is code; the next block tries again
    )
  }, [wanted])
  return wanted ? plugin : undefined
}
