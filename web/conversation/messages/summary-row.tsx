import { gaveWayWords, keptLists, type NoticeItem, noticeWords } from "../../../src/client/index.ts"
import { ChevronRight } from "../../icons/arrows.ts"
import { Markdown } from "../../markdown/markdown.tsx"
import { Plain } from "../../parts/plain.tsx"

/** That what was said was summed up; it opens to say what the model is shown instead, what gave way, and what was kept. */
export function SummaryRow({ item }: { readonly item: NoticeItem }) {
  const { detail, summedUp = {} } = item
  return (
    <details className="group py-2 text-[13px] text-soft">
      <summary className="flex items-start gap-2 rounded-lg hover:text-ink">
        <ChevronRight
          className="mt-[3px] size-3.5 shrink-0 transition-transform group-open:rotate-90"
          aria-hidden="true"
        />
        {noticeWords(item)}
      </summary>
      <div className="mt-2 ml-1.5 border-l-2 border-line pl-4">
        <p className="mb-2">{gaveWayWords(summedUp)}</p>
        <Markdown text={detail ?? ""} />
        {keptLists(summedUp).map(({ head, lines }) => (
          <div key={head} className="mt-3">
            <p className="font-medium">{head}</p>
            <ul className="list-disc pl-5">
              {lines.map((each, index) => (
                <li key={index} className="[overflow-wrap:anywhere]">
                  <Plain text={each} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </details>
  )
}
