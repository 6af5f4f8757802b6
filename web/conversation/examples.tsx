import { CornerDownLeft } from "lucide-react"
import { Plain } from "../parts/plain.tsx"
import type { Catalogue } from "../state/catalogue.ts"

interface ExamplesProps {
  readonly tools: Catalogue["tools"]
  readonly agent: string | undefined
  readonly onChoose: (words: string) => void
}

const MAX = 6

/** Things that can be said to this agent, as its tools tell. Each works with any model, also without one. */
export function Examples({ tools, agent, onChoose }: ExamplesProps) {
  const examples = toExamples(tools.filter((tool) => tool.agent === agent))
  if (examples.length === 0) return null
  return (
    <section aria-label="Examples" className="mt-6">
      <h3 className="mb-2 text-sm text-faint">You could say</h3>
      <ul className="grid gap-2 sm:grid-cols-2">
        {examples.map((example) => (
          <li key={example}>
            <button
              type="button"
              onClick={() => onChoose(example)}
              className="group flex h-full w-full items-center gap-2 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-left text-sm transition-colors hover:border-accent"
            >
              <span className="flex-1">
                <Plain text={example} />
              </span>
              <CornerDownLeft className="size-3.5 shrink-0 text-faint opacity-0 transition-opacity group-hover:opacity-100" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/**
 * One of each tool, so that many things are shown rather than many words for one. Whoever is new has nothing yet: making
 * something works then, and looking; changing what is not there does not.
 */
export function toExamples(tools: Catalogue["tools"]): string[] {
  const first = (prefix: RegExp, most: number) =>
    tools.flatMap(({ name, examples }) => (prefix.test(name) ? (examples[0] ?? []) : [])).slice(0, most)
  const begun = [...first(/^create_/, MAX - 2), ...first(/^(list|find|search)_/, MAX)]
  const more = tools.flatMap(({ examples }) => examples)
  return [...new Set([...begun, ...first(/./, MAX), ...more])].slice(0, MAX)
}
