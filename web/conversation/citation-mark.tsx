import { createContext, type ReactNode, useContext } from "react"
import type { AnswerData } from "../../src/protocol/index.ts"
import { Plain } from "../parts/plain.tsx"

/** The citations of the reply that is drawn. */
export const Citations = createContext<AnswerData | undefined>(undefined)

const PROBLEMS = {
  unknown_source: "No passage that was found has this name. Do not rely on it.",
  quote_not_found: "The quoted words do not stand in this passage.",
} as const

/** A marker in an answer: a number that leads to its passage, or a warning where there is none or it says something else. */
export function CitationMark({ marker, children }: { readonly marker: string; readonly children: ReactNode }) {
  const answer = useContext(Citations)
  if (!answer) return <>[{children}]</>
  const all = answer.citations.filter((citation) => citation.marker === marker)
  const problem = all.find((citation) => citation.problem)?.problem
  const number = answer.sources.findIndex(({ id }) => id === marker) + 1
  const source = answer.sources[number - 1]
  if (!source) {
    return (
      <span className="citation flagged" title={PROBLEMS.unknown_source}>
        <Plain text={marker} />
        <span className="sr-only"> (unknown source)</span> ⚠
      </span>
    )
  }
  return (
    <button
      type="button"
      className={problem ? "citation flagged" : "citation"}
      title={problem ? PROBLEMS[problem] : source.title}
      aria-label={`Source ${number}: ${source.title}${problem ? `. ${PROBLEMS[problem]}` : ""}`}
      onClick={({ currentTarget }) => show(currentTarget, source.id)}
    >
      {number}
      {problem && " ⚠"}
    </button>
  )
}

/** Opens the passage below the answer and goes there, with the keyboard's place too. */
function show(from: HTMLElement, id: string): void {
  const card = from.closest("article")?.querySelector<HTMLElement>(`[data-source="${CSS.escape(id)}"]`)
  if (!card) return
  card.querySelector("details")?.setAttribute("open", "")
  card.scrollIntoView({ block: "nearest" })
  card.focus({ preventScroll: true })
}
