import { type ReactNode, createContext, useContext } from "react"
import { sourceNumber } from "../../../client/index.ts"
import type { AnswerData } from "../../../core/protocol/index.ts"
import { Plain } from "../components/plain.tsx"
import { list, quoted } from "../strings/format.ts"
import { type Key, t } from "../strings/strings.ts"

export const Citations = createContext<AnswerData | undefined>(undefined)

/** The source that the reader has opened, and with which mark. */
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
  /** The index of the citation in the answer. */
  readonly index: unknown
  readonly children: ReactNode
}

/** A citation marker: a number that leads to its passage, or a warning if there is none or it says something else. */
export function CitationMark({ marker, index, children }: CitationMarkProps) {
  const answer = useContext(Citations)
  const { shown, show } = useContext(ShownSource)
  if (!answer) return <>[{children}]</>
  const problem = problemAt(answer, marker, index)
  const here = typeof index === "number" ? answer.citations[index] : undefined
  const isFlagged =
    problem !== undefined || here?.figures !== undefined || here?.differs !== undefined || here?.unchecked === true
  const words = (here && citationProblem(here)) ?? (problem && t(PROBLEMS[problem]))
  const id = boundAt(answer, marker, index)
  const source = answer.sources.find((each) => each.id === id)
  if (!source) {
    return (
      <span className="citation flagged" title={t("markdown.problemUnknownSource")}>
        <Plain text={marker} />
        <span className="sr-only"> {t("markdown.unknownSource")}</span> ⚠
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
      aria-label={[t("markdown.source", { number, title: source.title }), words].filter(Boolean).join(". ")}
      onClick={() => show({ source: source.id, place: index })}
    >
      {number}
      {isFlagged ? " ⚠" : words && " …"}
    </button>
  )
}

/** The source of this occurrence: a marker may be its number. */
function boundAt({ citations }: AnswerData, marker: string, index: unknown): string | null | undefined {
  const here = typeof index === "number" ? citations[index] : undefined
  return here ? here.source : citations.find((citation) => citation.marker === marker)?.source
}

/** The problem of this occurrence; for one that the server has not checked, the problem of the marker. */
function problemAt({ citations }: AnswerData, marker: string, index: unknown) {
  const here = typeof index === "number" ? citations[index] : undefined
  if (here) return here.problem
  const same = citations.filter((citation) => citation.marker === marker)
  return same.every(({ problem }) => problem) ? same[0]?.problem : undefined
}

type Citation = AnswerData["citations"][number]

const PROBLEMS: Readonly<Record<NonNullable<Citation["problem"]>, Key>> = {
  unknown_source: "markdown.problemUnknownSource",
  quote_not_found: "markdown.problemQuoteNotFound",
}

const DIFFERENCES: Readonly<Record<NonNullable<Citation["differs"]>["kind"], Key>> = {
  negation: "markdown.differsNegation",
  swapped: "markdown.differsSwapped",
  unit: "markdown.differsUnit",
  number: "markdown.differsNumber",
  year: "markdown.differsYear",
}

/** Describes a wrong citation, or what its quote leaves out; undefined if there is nothing to report. */
function citationProblem(citation: Citation): string | undefined {
  const { problem, because, leftOut = [], figures = [], differs, unchecked } = citation
  const words = list(leftOut.map(quoted))
  if (because === "left_out") return t("markdown.quoteLeavesOut", { words })
  if (problem) return t(PROBLEMS[problem])
  if (figures.length > 0) return t("markdown.figuresMissing", { count: figures.length, figures: list(figures) })
  if (differs)
    return t("markdown.differs", { difference: t(DIFFERENCES[differs.kind]), passage: quoted(differs.passage) })
  if (unchecked) return t("markdown.uncheckedQuotes")
  return leftOut.length > 0 ? t("markdown.quoteGaps", { words }) : undefined
}

/** Problems of an answer as a whole: quotes without a source, no citation at all, too much to check. */
export function answerProblems({ unmarked = [], citesNothing, unchecked = 0 }: AnswerData): string[] {
  return [
    ...unmarked.map(({ quote }) => t("markdown.unmarkedQuote", { quote: quoted(shortened(quote)) })),
    ...(citesNothing ? [t("markdown.citesNothing")] : []),
    ...(unchecked > 0 ? [t("markdown.uncheckedCount", { count: unchecked })] : []),
  ]
}

const shortened = (quote: string): string => (quote.length > 80 ? `${quote.slice(0, 80).toWellFormed()}…` : quote)
