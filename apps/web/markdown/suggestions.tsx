import { type ComponentProps, createContext, useContext } from "react"
import type { ExtraProps } from "react-markdown"
import { CornerDownLeft } from "../components/icons.tsx"
import { Plain } from "../components/plain.tsx"
import { t } from "../strings/strings.ts"

type Element = NonNullable<ExtraProps["node"]>
type ElementContent = Element["children"][number]

/** Sends a request that a reply suggests; undefined if the text suggests none. */
export const Suggest = createContext<((request: string) => void) | undefined>(undefined)

/** A list. If the reply may suggest requests, and each item is one code span and nothing else, its items are buttons. */
export function SuggestionList({ node, ...list }: ComponentProps<"ul"> & ExtraProps) {
  const suggest = useContext(Suggest)
  const requests = suggest && node ? requestsOf(node) : undefined
  if (!suggest || !requests) return <ul {...list} />
  return (
    <ul aria-label={t("markdown.suggestions")} className="!list-none space-y-1.5 !p-0">
      {requests.map((request, index) => (
        <li key={index} className="!p-0">
          <button
            type="button"
            onClick={() => suggest(request)}
            className="flex max-w-full items-center gap-2 rounded-lg border border-line bg-surface px-3 py-1.5 text-left text-sm hover:border-accent"
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <Plain text={request} />
            </span>
            <CornerDownLeft aria-hidden="true" className="size-3.5 shrink-0 text-faint" />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The texts of the items if each is one code span; otherwise undefined. */
function requestsOf({ children }: Element): string[] | undefined {
  const items = children.filter((each) => each.type === "element")
  const requests = items.map(onlyCode)
  return items.length > 0 && requests.every((request) => request !== undefined) ? requests : undefined
}

function onlyCode({ children }: Element): string | undefined {
  const parts = children.filter((each) => !isBlank(each))
  const [part] = parts
  if (parts.length !== 1 || part?.type !== "element") return undefined
  // Items with an empty line between them contain paragraphs.
  if (part.tagName === "p") return onlyCode(part)
  const [text] = part.children
  return part.tagName === "code" && part.children.length === 1 && text?.type === "text" ? text.value : undefined
}

const isBlank = (each: ElementContent): boolean => each.type === "text" && each.value.trim() === ""
