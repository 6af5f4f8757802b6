import { memo, useMemo } from "react"
import ReactMarkdown, { type Components, type Options } from "react-markdown"
import remarkGfm from "remark-gfm"
import type { AnswerData } from "../../src/protocol/index.ts"
import { CitationMark, Citations } from "./citation-mark.tsx"
import { citationMarks } from "./citations.ts"
import { CodeBlock } from "./code-block.tsx"
import { useHighlighter } from "./highlighter.ts"
import { toSafeAddress, WrittenImage, WrittenLink } from "./written-link.tsx"
import { splitBlocks } from "./split-blocks.ts"

interface MarkdownProps {
  readonly text: string
  /** It is still being written: its last block may change. */
  readonly isOpen?: boolean
  /** What its markers are bound to. */
  readonly citations?: AnswerData | undefined
}

/**
 * What a model has written. Nothing in it runs or loads: HTML is shown as text, images as their words, and links lead
 * out only where a person follows them.
 */
export const Markdown = memo(function Markdown({ text, isOpen = false, citations }: MarkdownProps) {
  const blocks = useMemo(() => splitBlocks(text), [text])
  const plugins = useMemo(() => {
    const markers = new Set(citations?.citations.map(({ marker }) => marker))
    return markers.size > 0 ? [...PLUGINS, citationMarks(markers)] : PLUGINS
  }, [citations])
  return (
    <Citations value={citations}>
      <div className="prose" dir="auto">
        {blocks.map((block, index) => (
          <Block key={index} text={block} isOpen={isOpen && index === blocks.length - 1} plugins={plugins} />
        ))}
      </div>
    </Citations>
  )
})

interface BlockProps {
  readonly text: string
  readonly isOpen: boolean
  readonly plugins: Plugins
}

const Block = memo(function Block({ text, isOpen, plugins }: BlockProps) {
  // Code is coloured when it is whole: doing it for each piece that comes would cost more than all the rest.
  const highlight = useHighlighter(!isOpen && /^ {0,3}(```|~~~)\s*\w/m.test(text))
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

type Plugins = NonNullable<Options["remarkPlugins"]>
const PLUGINS: Plugins = [remarkGfm]
const NONE: [] = []

const components: Components = {
  a: ({ href, children }) => <WrittenLink href={href}>{children}</WrittenLink>,
  img: ({ src, alt }) => <WrittenImage src={typeof src === "string" ? src : undefined} alt={alt} />,
  cite: ({ node, children }) => (
    <CitationMark marker={String(node?.properties["data-marker"] ?? "")}>{children}</CitationMark>
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
