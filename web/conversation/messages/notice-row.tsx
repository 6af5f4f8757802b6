import { Info } from "../../icons/signs.ts"
import { type NoticeItem, noticeWords, type UnknownItem } from "../../../src/client/index.ts"
import { Json } from "../../parts/json.tsx"
import { Plain } from "../../parts/plain.tsx"
import { SummaryRow } from "./summary-row.tsx"

/**
 * Something that happened to the conversation, in small print. How the newest run went is told at the end of the list, with
 * what to do; of older ones this is what is left.
 */
export function NoticeRow({ item }: { readonly item: NoticeItem }) {
  const says = noticeWords(item)
  if (says === undefined) return null
  if (item.notice === "compacted") return <SummaryRow item={item} />
  return (
    <p className="flex items-start gap-2 py-2 text-[13px] text-faint">
      <Info className="mt-[3px] size-3.5 shrink-0" /> <Plain text={says} />
    </p>
  )
}

/** What a newer server has told and this page has no words for. */
export function UnknownRow({ item: { frame } }: { readonly item: UnknownItem }) {
  return (
    <details className="py-2 text-[13px] text-faint">
      <summary>
        Something new to this page: <Plain text={frame.type} />
      </summary>
      <Json value={frame.data} />
    </details>
  )
}
