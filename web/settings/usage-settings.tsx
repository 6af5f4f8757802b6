import { useState } from "react"
import type { UsageAnswer, Used } from "../../src/protocol/index.ts"
import { Labelled } from "../parts/labelled.tsx"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { count, dollars } from "../parts/words.ts"
import { UNTITLED } from "../shell/conversation-entry.tsx"
import { client } from "../state/client.ts"
import { feed } from "../state/feed.ts"
import { useStore } from "../state/store.ts"
import { Part } from "../parts/part.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"

/** What models were used for, and what that has cost. */
export function UsageSettings() {
  const [from, setFrom] = useState("")
  return (
    <Part title="Usage" says="What your conversations have used, by days as UTC counts them.">
      <Labelled label="Since (without it: the last thirty days)" className="mb-4 max-w-60">
        <input
          type="date"
          max={new Date().toISOString().slice(0, 10)}
          value={from}
          onChange={(event) => setFrom(event.target.value)}
          className="field h-9"
        />
      </Labelled>
      <UsageSince key={from} from={from} />
    </Part>
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
        {count(totals.calls, "call")}, {count(totals.inputTokens, "token")} in, {count(totals.outputTokens, "token")}{" "}
        out: <strong className="font-semibold">{totals.cost === 0 ? "no cost" : dollars(totals.cost)}</strong>
        {totals.unpricedCalls > 0 && (
          <span className="text-faint"> and {count(totals.unpricedCalls, "call")} of which the price is not known</span>
        )}
      </p>
      <UsedTable
        name="Model"
        rows={value.byModel.map((row) => ({
          ...row,
          key: `${row.provider} ${row.model} ${row.paidBy}`,
          label: <Plain text={row.model} />,
        }))}
      />
      <UsedTable name="Day" rows={value.byDay.map((row) => ({ ...row, key: row.day, label: row.day }))} />
      <UsedTable name="Conversation" rows={value.byConversation.map((row) => toConversation(row, conversations))} />
    </>
  )
}

type Conversations = readonly { readonly id: string; readonly title: string | null }[]

function toConversation(row: UsageAnswer["byConversation"][number], conversations: Conversations): Row {
  const title = conversations.find(({ id }) => id === row.conversationId)?.title ?? UNTITLED
  const label = (
    <Link to={`/c/${row.conversationId}`} className="text-accent underline underline-offset-2">
      <Plain text={title} />
    </Link>
  )
  return { ...row, key: row.conversationId, label }
}

type Row = Used & { readonly key: string; readonly label: React.ReactNode }

const COLUMNS = ["Calls", "Tokens in", "Tokens out", "Cost"] as const

const toCells = ({ calls, inputTokens, outputTokens, cost, unpricedCalls }: Used): string[] => [
  ...[calls, inputTokens, outputTokens].map((number) => number.toLocaleString()),
  cost === 0 && unpricedCalls > 0 ? "not known" : dollars(cost),
]

function UsedTable({ name, rows }: { readonly name: string; readonly rows: readonly Row[] }) {
  if (rows.length === 0) return null
  return (
    <div
      className="mb-5 overflow-x-auto rounded-2xl border border-line bg-surface"
      tabIndex={0}
      role="group"
      aria-label={`By ${name.toLowerCase()}`}
    >
      {/* On a phone each row is two lines, with the names of the numbers above them: nothing is out of sight. */}
      <table role="table" className="w-full text-sm max-sm:block">
        <thead role="rowgroup" className="max-sm:sr-only">
          <tr role="row" className="border-b border-line text-left text-[13px] text-faint">
            <th role="columnheader" className="px-3.5 py-2 font-medium">
              {name}
            </th>
            {COLUMNS.map((each) => (
              <th role="columnheader" key={each} className="px-3.5 py-2 text-right font-medium">
                {each}
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
                  key={COLUMNS[index]}
                  className="px-3.5 py-1.5 text-right tabular-nums max-sm:min-w-0 max-sm:p-0 max-sm:text-left max-sm:text-[13px]"
                >
                  <span aria-hidden="true" className="block text-xs text-faint sm:hidden">
                    {COLUMNS[index]}
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
