import { createContext, type ReactNode, useContext } from "react"
import { CITATION_PROBLEMS, citationWords, sourceNumber } from "../../src/client/index.ts"
import type { AnswerData } from "../../src/protocol/index.ts"
import { Plain } from "../parts/plain.tsx"

/** The citations of the reply that is drawn. */
export const Citations = createContext<AnswerData | undefined>(undefined)

/** The source that a reader has asked for, and by which mark. */
export interface Shown {
  readonly source: string
  readonly place: unknown
}

export const ShownSource = createContext<{ readonly shown: Shown | undefined; readonly show: (shown: Shown) => void }>({
  shown: undefined,
  show: () => {},
})

interface CitationMarkProps {
  readonly marker: string
  /** Which of the answer's citations it is. */
  readonly index: unknown
  readonly children: ReactNode
}

/** A marker in an answer: a number that leads to its passage, or a warning where there is none or it says something else. */
export function CitationMark({ marker, index, children }: CitationMarkProps) {
  const answer = useContext(Citations)
  const { shown, show } = useContext(ShownSource)
  if (!answer) return <>[{children}]</>
  const problem = problemAt(answer, marker, index)
  const here = typeof index === "number" ? answer.citations[index] : undefined
  const isFlagged = problem !== undefined || here?.figures !== undefined || here?.unchecked === true
  const words = (here && citationWords(here)) ?? (problem && CITATION_PROBLEMS[problem])
  const id = boundAt(answer, marker, index)
  const source = answer.sources.find((each) => each.id === id)
  if (!source) {
    return (
      <span className="citation flagged" title={CITATION_PROBLEMS.unknown_source}>
        <Plain text={marker} />
        <span className="sr-only"> (unknown source)</span> ⚠
      </span>
    )
  }
  const number = sourceNumber(answer, source.id)
  const isShown = shown?.source === source.id && shown.place === index
  return (
    <button
      type="button"
      className={`citation${isFlagged ? " flagged" : ""}${isShown ? " shown" : ""}`}
      title={words ?? source.title}
      aria-label={`Source ${number}: ${source.title}${words ? `. ${words}` : ""}`}
      onClick={() => show({ source: source.id, place: index })}
    >
      {number}
      {isFlagged ? " ⚠" : words && " …"}
    </button>
  )
}

/** The source that is meant at this place: a marker may be its number. */
function boundAt({ citations }: AnswerData, marker: string, index: unknown): string | null | undefined {
  const here = typeof index === "number" ? citations[index] : undefined
  return here ? here.source : citations.find((citation) => citation.marker === marker)?.source
}

/** What is wrong at this place. Of one that the server has not seen as such, what is wrong with all of its kind. */
function problemAt({ citations }: AnswerData, marker: string, index: unknown) {
  const here = typeof index === "number" ? citations[index] : undefined
  if (here) return here.problem
  const same = citations.filter((citation) => citation.marker === marker)
  return same.every(({ problem }) => problem) ? same[0]?.problem : undefined
}
