import { useState } from "react"
import type { UsageAnswer, Used } from "../../../core/protocol/index.ts"
import { Labelled } from "../components/form.tsx"
import { Link } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import { client } from "../state/client.ts"
import { feed } from "../state/feed.ts"
import { useStore } from "../state/store.ts"
import { Section } from "../components/section.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { day, dollars, number } from "../strings/format.ts"
import { type Key, rich, t } from "../strings/strings.ts"

/** The model calls of the user's conversations, and their cost. */
export function UsageSettings() {
  const [from, setFrom] = useState("")
  return (
    <Section title={t("settings.usage")} says={t("settings.usageHint")}>
      <Labelled label={t("settings.usageSince")} className="mb-4 max-w-60">
        <input
          type="date"
          max={new Date().toISOString().slice(0, 10)}
          value={from}
          onChange={(event) => setFrom(event.target.value)}
          className="field h-9"
        />
      </Labelled>
      <UsageSince key={from} from={from} />
    </Section>
  )
}

function UsageSince({ from }: { readonly from: string }) {
  const { value, trouble } = useLoaded(() => client.readUsage({ query: from === "" ? {} : { from } }))
  const { conversations } = useStore(feed).list
  if (!value) return trouble
  const { totals } = value
  return (
    <>
      {trouble}
      <p className="mb-5 text-sm">
        {rich("settings.usageTotal", {
          calls: totals.calls,
          input: totals.inputTokens,
          output: totals.outputTokens,
          cost: dollars(totals.cost),
          strong: (cost) => <strong className="font-semibold">{cost}</strong>,
        })}
        {totals.unpricedCalls > 0 && (
          <span className="block text-faint">{t("settings.usageUnpriced", { count: totals.unpricedCalls })}</span>
        )}
      </p>
      <UsedTable
        caption="settings.byModel"
        first="settings.model"
        rows={value.byModel.map((row) => ({
          ...row,
          key: `${row.provider} ${row.model} ${row.paidBy}`,
          label: <Plain text={row.model} />,
        }))}
      />
      <UsedTable
        caption="settings.byDay"
        first="settings.day"
        rows={value.byDay.map((row) => ({ ...row, key: row.day, label: day(`${row.day}T00:00`) }))}
      />
      <UsedTable
        caption="settings.byConversation"
        first="settings.conversation"
        rows={value.byConversation.map((row) => toConversation(row, conversations))}
      />
    </>
  )
}

type Conversations = readonly { readonly id: string; readonly title: string | null }[]

function toConversation(row: UsageAnswer["byConversation"][number], conversations: Conversations): Row {
  const title = conversations.find(({ id }) => id === row.conversationId)?.title ?? t("common.untitled")
  const label = (
    <Link to={`/c/${row.conversationId}`} className="text-accent underline underline-offset-2">
      <Plain text={title} />
    </Link>
  )
  return { ...row, key: row.conversationId, label }
}

type Row = Used & { readonly key: string; readonly label: React.ReactNode }

const COLUMNS: readonly Key[] = ["settings.calls", "settings.inputTokens", "settings.outputTokens", "settings.cost"]

const toCells = ({ calls, inputTokens, outputTokens, cost, unpricedCalls }: Used): string[] => [
  ...[calls, inputTokens, outputTokens].map(number),
  cost === 0 && unpricedCalls > 0 ? t("settings.costUnknown") : dollars(cost),
]

interface UsedTableProps {
  readonly caption: Key
  /** The heading of the first column. */
  readonly first: Key
  readonly rows: readonly Row[]
}

function UsedTable({ caption, first, rows }: UsedTableProps) {
  if (rows.length === 0) return null
  return (
    <div
      className="mb-5 overflow-x-auto rounded-2xl border border-line bg-surface"
      tabIndex={0}
      role="group"
      aria-label={t(caption)}
    >
      {/* On a phone each row has two lines, with a heading above each number, so that nothing is cut off. */}
      <table role="table" className="w-full text-sm max-sm:block">
        <thead role="rowgroup" className="max-sm:sr-only">
          <tr role="row" className="border-b border-line text-left text-[13px] text-faint">
            <th role="columnheader" className="px-3.5 py-2 font-medium">
              {t(first)}
            </th>
            {COLUMNS.map((each) => (
              <th role="columnheader" key={each} className="px-3.5 py-2 text-right font-medium">
                {t(each)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="max-sm:block">
          {rows.map((row) => (
            <tr
              role="row"
              key={row.key}
              className="border-b border-line last:border-0 max-sm:grid max-sm:grid-cols-4 max-sm:gap-x-2 max-sm:px-3.5 max-sm:py-2"
            >
              <td
                role="cell"
                className="max-w-60 truncate px-3.5 py-1.5 max-sm:col-span-4 max-sm:max-w-none max-sm:p-0"
              >
                {row.label}
              </td>
              {toCells(row).map((text, index) => (
                <td
                  role="cell"
                  key={t(COLUMNS[index]!)}
                  className="px-3.5 py-1.5 text-right tabular-nums max-sm:min-w-0 max-sm:p-0 max-sm:text-left max-sm:text-[13px]"
                >
                  <span aria-hidden="true" className="block text-xs text-faint sm:hidden">
                    {t(COLUMNS[index]!)}
                  </span>
                  <span className="[overflow-wrap:anywhere]">{text}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
