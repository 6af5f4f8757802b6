import { type ReactNode, isValidElement, memo, useEffect, useMemo, useRef } from "react"
import ReactMarkdown, { type Components, type Options } from "react-markdown"
import {
  BACKSLASH_SIGN,
  FORMULA_SIGN,
  type Formula as FormulaText,
  formulaIndex,
  protectMath,
  withFormulas,
} from "../../../client/index.ts"
import { type AnswerData, escapeBidi } from "../../../core/protocol/index.ts"
import { CopyButton } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import { Store, useStore } from "../state/store.ts"
import { t } from "../strings/strings.ts"
import { CitationMark, Citations } from "./citation-mark.tsx"
import { type Placed, citationMarks } from "./citations.ts"
import { gfmMarks, mathMarks, turnedMarks } from "./math-marks.ts"
import { type Block as SplitBlock, MAX_COLOURED, boundedBlocks } from "./split-blocks.ts"
import { SuggestionList } from "./suggestions.tsx"
import { ImageLink, SafeLink, toSafeAddress } from "./safe-link.tsx"

interface MarkdownProps {
  readonly text: string
  /** It is still streaming: its last block may change. */
  readonly isOpen?: boolean
  /** The citations of its markers. */
  readonly citations?: AnswerData | undefined
  /** By the first letter, unless the direction is known. */
  readonly dir?: "auto" | "ltr"
}

/**
 * Markdown of a model. Nothing in it runs or loads: HTML is shown as text, images as their alternative text, and links
 * are followed only on a click.
 */
export const Markdown = memo(function Markdown({ text, isOpen = false, citations, dir = "auto" }: MarkdownProps) {
  const { blocks, formulas } = useMemo(() => {
    const read = protectMath(text, isOpen)
    return { blocks: boundedBlocks(read.text, isOpen), formulas: read.formulas }
  }, [text, isOpen])
  return (
    <Citations value={citations}>
      <div className="prose" dir={dir}>
        {blocks.map((block, index) =>
          block.isPlain ? (
            <div key={index} className="block whitespace-pre-wrap">
              {escapeBidi(withFormulas(block.text, (at) => formulas?.[at]?.source))}
            </div>
          ) : (
            <Block
              key={index}
              text={block.text}
              isOpen={isOpen && index === blocks.length - 1}
              placed={placedIn(block, blocks[index + 1], citations)}
              formulas={formulasIn(block, formulas)}
            />
          ),
        )}
      </div>
    </Citations>
  )
})

interface BlockProps {
  readonly text: string
  readonly isOpen: boolean
  /** Its markers and formulas as JSON, to detect changes. */
  readonly placed: string
  readonly formulas: string
}

const Block = memo(function Block({ text, isOpen, placed, formulas }: BlockProps) {
  // Code is highlighted when the reply is complete: doing it for each piece would cost more than everything else.
  const isWhole = !isOpen && text.length <= MAX_COLOURED
  const highlight = useHighlighter(isWhole && /^ {0,3}(?:`{3,}|~{3,})[ \t]*\w/m.test(text))
  const plugins = useMemo(
    () => [
      gfmMarks,
      ...(placed === "" ? [] : [citationMarks(JSON.parse(placed) as Placed[])]),
      ...(formulas === "" ? [] : [mathMarks(new Map(JSON.parse(formulas) as [number, FormulaText][]))]),
    ],
    [placed, formulas],
  )
  return (
    <div className="block">
      <ReactMarkdown
        remarkPlugins={plugins}
        rehypePlugins={highlight ? [turnedMarks, highlight] : ALWAYS}
        urlTransform={toSafeAddress}
        components={components}
      >
        {text}
      </ReactMarkdown>
    </div>
  )
})

const ALWAYS = [turnedMarks]

/** The markers in a block, by position. */
function placedIn({ start }: SplitBlock, next: SplitBlock | undefined, answer: AnswerData | undefined): string {
  const placed = (answer?.citations ?? []).flatMap(({ marker, at }, index): Placed[] =>
    at >= start && at < (next?.start ?? Infinity) ? [{ marker, at: at - start, index }] : [],
  )
  return placed.length === 0 ? "" : JSON.stringify(placed)
}

/** The formulas whose marks are in a block. */
function formulasIn({ text }: SplitBlock, formulas: readonly FormulaText[] | undefined): string {
  if (!formulas) return ""
  const found = Array.from(text.matchAll(FORMULA_SIGN), ([, high, low]) => formulaIndex(high, low))
  return found.length === 0 && !text.includes(BACKSLASH_SIGN)
    ? ""
    : JSON.stringify(found.map((at) => [at, formulas[at]]))
}

const components: Components = {
  a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
  img: ({ src, alt }) => <ImageLink src={typeof src === "string" ? src : undefined} alt={alt} />,
  cite: ({ node, children }) => (
    <CitationMark marker={String(node?.properties["data-marker"] ?? "")} index={node?.properties["data-index"]}>
      {children}
    </CitationMark>
  ),
  var: ({ node, children }) => (
    <Formula
      tex={String(node?.properties["data-tex"] ?? "")}
      isBlock={node?.properties["data-block"] === "true"}
      source={String(children)}
    />
  ),
  ul: SuggestionList,
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0} role="group" aria-label={t("markdown.table")}>
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => (
    <input
      type="checkbox"
      checked={checked === true}
      disabled
      readOnly
      aria-label={t(checked ? "markdown.done" : "markdown.toDo")}
    />
  ),
  // Headings of a reply are below those of the page.
  h1: ({ children }) => <h3 className="text-[1.3em]">{children}</h3>,
  h2: ({ children }) => <h4 className="text-[1.15em]">{children}</h4>,
  h3: ({ children }) => <h5 className="font-semibold">{children}</h5>,
  h4: ({ children }) => <h6 className="font-semibold">{children}</h6>,
}

/** A code block with its language and a copy button. Always left to right. */
function CodeBlock({ children }: { readonly children: ReactNode }) {
  const ref = useRef<HTMLPreElement>(null)
  const language = languageOf(children)
  return (
    <div dir="ltr" className="code-block overflow-hidden rounded-xl border border-line bg-sunken">
      <div className="flex items-center justify-between py-1 pr-1 pl-3.5 text-xs text-faint">
        <span className="font-mono">{language}</span>
        <CopyButton label={t("markdown.copyCode")} read={() => ref.current?.textContent ?? ""} />
      </div>
      <pre ref={ref} tabIndex={0} className="overflow-x-auto px-3.5 pb-3">
        {children}
      </pre>
    </div>
  )
}

function languageOf(children: ReactNode): string {
  if (!isValidElement<{ className?: string }>(children)) return "text"
  return /language-([\w+#.-]{1,30})/.exec(children.props.className ?? "")?.[1] ?? "text"
}

type Plugin = NonNullable<Options["rehypePlugins"]>[number]

/** Highlighting is almost 100 kB, so it is loaded with the first code block. */
const loaded = new Store<Plugin | undefined>(undefined)
let asked = false

function useHighlighter(wanted: boolean): Plugin | undefined {
  const plugin = useStore(loaded)
  useEffect(() => {
    if (!wanted || asked) return
    asked = true
    import("rehype-highlight").then(
      ({ default: highlight }) => loaded.set([highlight, { detect: false }]),
      () => (asked = false), // without highlighting for now; the next block tries again
    )
  }, [wanted])
  return wanted ? plugin : undefined
}

type Draw = (tex: string, isBlock: boolean) => ReactNode

/** KaTeX is almost 100 kB, so it is loaded with the first formula. */
const formulaDrawer = new Store<{ readonly draw: Draw } | undefined>(undefined)
let isDrawerRequested = false

interface FormulaProps {
  /** Empty if it is not drawn. */
  readonly tex: string
  readonly isBlock: boolean
  readonly source: string
}

/** A formula; shown as its source until KaTeX is loaded, and if KaTeX refuses it. */
function Formula({ tex, isBlock, source }: FormulaProps) {
  const found = useStore(formulaDrawer)
  useEffect(() => {
    if (tex === "" || isDrawerRequested) return
    isDrawerRequested = true
    import("./draw-formula.ts").then(
      ({ drawFormula }) => formulaDrawer.set({ draw: drawFormula }),
      () => (isDrawerRequested = false), // the source stays; the next formula tries again
    )
  }, [tex])
  const drawn = tex === "" ? undefined : found?.draw(tex, isBlock)
  if (!drawn) {
    return (
      <span className="formula-source">
        <Plain text={source} />
      </span>
    )
  }
  if (!isBlock) return drawn
  // A wide formula scrolls.
  return (
    <span className="formula-block" tabIndex={0} role="group" aria-label={t("markdown.formula")}>
      {drawn}
    </span>
  )
}
