import type { CallItem, ProposalItem } from "../../src/client/index.ts"
import { isSettled, type Proposal } from "../../src/protocol/index.ts"
import { Plain } from "../parts/plain.tsx"
import { duration } from "../parts/words.ts"
import { DataView, hasView } from "../views/data-view.tsx"
import { Decision } from "./decision.tsx"
import { DoubtChoices } from "./doubt-choices.tsx"
import { useExpired } from "./expired.ts"
import { ExpiredCard } from "./expired-card.tsx"
import { Expiry } from "./expiry.tsx"
import { outcomeOf } from "./outcome.ts"
import { Shown } from "./shown.tsx"
import { useUnseen } from "./unseen.ts"
import { CardContext } from "../changes/opened.ts"

const KINDS = {
  safe_create: { says: "Adds", tone: "bg-good-soft text-good" },
  safe_update: { says: "Changes", tone: "bg-accent-soft text-accent" },
  destructive_update: { says: "Overwrites", tone: "bg-danger-soft text-danger" },
  destructive_delete: { says: "Deletes", tone: "bg-danger-soft text-danger" },
} as const
const RUNS = { says: "Runs a command", tone: "bg-danger-soft text-danger" } as const
const SENDS = { says: "Sends outside", tone: "bg-warn-soft text-warn" } as const

interface ProposalCardProps {
  readonly item: ProposalItem
  /** What it was asked for with, and what became of it. */
  readonly call: CallItem | undefined
}

/** A write that waits, or waited, for the person. While it waits everything about it is in view. */
export function ProposalCard({ item, call }: ProposalCardProps) {
  const { proposal } = item
  const { status } = proposal
  const isExpired = useExpired([proposal]).has(proposal.id)
  if (isExpired) return <ExpiredCard proposal={proposal} />
  if (isSettled(status) || status === "applying") return <DecidedCard item={item} call={call} />
  return <OpenCard key={proposal.id} item={item} />
}

function OpenCard({ item }: { readonly item: ProposalItem }) {
  const { proposal } = item
  const [unseen, showEverything] = useUnseen([proposal])
  const isDoubt = proposal.status === "in_doubt"
  const heading = `proposal-${proposal.id}`
  return (
    <CardContext value={proposal.id}>
      <section
        aria-labelledby={heading}
        className="my-3 rounded-2xl border border-line bg-surface shadow-[0_1px_3px_rgb(0_0_0/0.06)]"
      >
        <header className="border-b border-line px-4 py-3">
          <div className="mb-1.5 flex items-center justify-between gap-2">
            <Kind proposal={proposal} />
            {!isDoubt && <Expiry expiresAt={proposal.expiresAt} />}
          </div>
          <h2 id={heading} className="font-medium [overflow-wrap:anywhere]">
            <Plain text={proposal.title ?? proposal.summary} />
          </h2>
        </header>
        <div className="space-y-4 px-4 py-3.5">
          <Shown proposal={proposal} />
          <p className={`text-[13px] ${proposal.undoable ? "text-faint" : "text-warn"}`}>
            {proposal.undoable ? "This can be undone afterwards." : "This cannot be undone."}
          </p>
        </div>
        {isDoubt ? (
          <DoubtChoices proposal={proposal} />
        ) : (
          <Decision proposal={proposal} unseen={unseen} onShowEverything={showEverything} />
        )}
      </section>
    </CardContext>
  )
}

/** What became of it, in one line that opens to what it was. */
function DecidedCard({ item, call }: ProposalCardProps) {
  const { proposal, reason } = item
  const { icon: Icon, tone, says } = outcomeOf(item)
  const isDrawn = hasView(call?.data)
  return (
    <>
      <details className="group/card my-2 rounded-xl border border-line bg-surface">
        <summary className="flex items-center gap-2.5 rounded-xl px-4 py-2.5 text-sm">
          <Icon
            className={`size-4 shrink-0 ${tone} ${proposal.status === "applying" ? "animate-spin" : ""}`}
            aria-hidden="true"
          />
          <span className="min-w-0 flex-1 truncate group-open/card:whitespace-normal">
            <Plain text={proposal.summary} />
          </span>
          <span className={`shrink-0 text-[13px] ${tone}`}>{says}</span>
        </summary>
        <div className="space-y-4 border-t border-line px-4 py-3">
          {reason && (
            <p className="text-sm">
              <span className="text-soft">Because: </span>
              <Plain text={reason} />
            </p>
          )}
          <Shown proposal={proposal} />
          {call?.text && (
            <p className="text-sm whitespace-pre-wrap text-soft [overflow-wrap:anywhere]">
              <Plain text={call.text} />
            </p>
          )}
          {call?.ms != null && <p className="text-xs text-faint">Took {duration(call.ms)}</p>}
        </div>
      </details>
      {call && isDrawn && <DataView data={call.data} />}
    </>
  )
}

function Kind({ proposal: { action, sends, tool } }: { readonly proposal: Proposal }) {
  const { says, tone } = sends ? SENDS : tool === "run_command" ? RUNS : KINDS[action]
  return <span className={`rounded-md px-2 py-0.5 text-xs font-semibold ${tone}`}>{says}</span>
}
