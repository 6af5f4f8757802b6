import { memo, useMemo } from "react"
import ReactMarkdown, { type Components } from "react-markdown"
import remarkGfm from "remark-gfm"
import {
  BACKSLASH_SIGN,
  FORMULA_SIGN,
  type Formula as FormulaText,
  formulaIndex,
  protectMath,
  withFormulas,
} from "../../src/client/index.ts"
import type { AnswerData } from "../../src/protocol/index.ts"
import { CitationMark, Citations } from "./citation-mark.tsx"
import { citationMarks, type Placed } from "./citations.ts"
import { CodeBlock } from "./code-block.tsx"
import { Formula } from "./formula.tsx"
import { useHighlighter } from "./highlighter.ts"
import { mathMarks } from "./math-marks.ts"
import { toSafeAddress, WrittenImage, WrittenLink } from "./written-link.tsx"
import { boundedBlocks, MAX_COLOURED } from "./bounded-blocks.ts"
import type { Block as SplitBlock } from "./split-blocks.ts"

interface MarkdownProps {
  readonly text: string
  /** It is still being written: its last block may change. */
  readonly isOpen?: boolean
  /** What its markers are bound to. */
  readonly citations?: AnswerData | undefined
  /** By its first letter, unless it is known better. */
  readonly dir?: "auto" | "ltr"
}

/**
 * What a model has written. Nothing in it runs or loads: HTML is shown as text, images as their words, and links lead
 * out only where a person follows them.
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
              {withFormulas(block.text, (at) => formulas?.[at]?.source)}
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
  /** Its markers and its formulas, as JSON: what is the same is not drawn again. */
  readonly placed: string
  readonly formulas: string
}

const Block = memo(function Block({ text, isOpen, placed, formulas }: BlockProps) {
  // Code is coloured when it is whole: doing it for each piece that comes would cost more than all the rest.
  const isWhole = !isOpen && text.length <= MAX_COLOURED
  const highlight = useHighlighter(isWhole && /^ {0,3}(?:`{3,}|~{3,})[ \t]*\w/m.test(text))
  const plugins = useMemo(
    () => [
      remarkGfm,
      ...(placed === "" ? [] : [citationMarks(JSON.parse(placed) as Placed[])]),
      ...(formulas === "" ? [] : [mathMarks(new Map(JSON.parse(formulas) as [number, FormulaText][]))]),
    ],
    [placed, formulas],
  )
  return (
    <div className="block">
      <ReactMarkdown
        remarkPlugins={plugins}
        rehypePlugins={highlight ? [highlight] : NONE}
        urlTransform={toSafeAddress}
        components={components}
      >
        {text}
      </ReactMarkdown>
    </div>
  )
})

const NONE: [] = []

/** The markers that stand in a block, each by its place in it. */
function placedIn({ start }: SplitBlock, next: SplitBlock | undefined, answer: AnswerData | undefined): string {
  const placed = (answer?.citations ?? []).flatMap(({ marker, at }, index): Placed[] =>
    at >= start && at < (next?.start ?? Infinity) ? [{ marker, at: at - start, index }] : [],
  )
  return placed.length === 0 ? "" : JSON.stringify(placed)
}

/** The formulas that a block has the signs of. */
function formulasIn({ text }: SplitBlock, formulas: readonly FormulaText[] | undefined): string {
  if (!formulas) return ""
  const found = Array.from(text.matchAll(FORMULA_SIGN), ([, high, low]) => formulaIndex(high, low))
  return found.length === 0 && !text.includes(BACKSLASH_SIGN)
    ? ""
    : JSON.stringify(found.map((at) => [at, formulas[at]]))
}

const components: Components = {
  a: ({ href, children }) => <WrittenLink href={href}>{children}</WrittenLink>,
  img: ({ src, alt }) => <WrittenImage src={typeof src === "string" ? src : undefined} alt={alt} />,
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
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => (
    <input type="checkbox" checked={checked === true} disabled readOnly aria-label={checked ? "done" : "to do"} />
  ),
  // A reply is a part of the page, so its headings begin below the page's own.
  h1: ({ children }) => <h3 className="text-[1.3em]">{children}</h3>,
  h2: ({ children }) => <h4 className="text-[1.15em]">{children}</h4>,
  h3: ({ children }) => <h5 className="font-semibold">{children}</h5>,
  h4: ({ children }) => <h6 className="font-semibold">{children}</h6>,
}
