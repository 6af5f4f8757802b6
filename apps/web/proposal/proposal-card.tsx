import { useEffect, useState } from "react"
import type { CallItem, ProposalItem } from "../../../client/index.ts"
import { type Proposal, isSettled } from "../../../core/protocol/index.ts"
import { CardContext } from "../changes/blocks.ts"
import { Ban, Check, CircleAlert, Clock, type Icon, LoaderCircle, Replace, RotateCcw, X } from "../components/icons.tsx"
import { Button } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import { client } from "../state/client.ts"
import { duration } from "../strings/format.ts"
import { type Key, rich, t } from "../strings/strings.ts"
import { DataView, hasView } from "../views/data-view.tsx"
import { useDecide } from "./decide.ts"
import { Decision } from "./decision.tsx"
import { dismiss, useDismissed, useExpired } from "./expiry.ts"
import { ProposalDetails, useCutTexts } from "./arguments.tsx"

const KINDS = {
  safe_create: { label: "proposal.creates", tone: "bg-good-soft text-good" },
  safe_update: { label: "proposal.updates", tone: "bg-accent-soft text-accent" },
  destructive_update: { label: "proposal.overwrites", tone: "bg-danger-soft text-danger" },
  destructive_delete: { label: "proposal.deletes", tone: "bg-danger-soft text-danger" },
} as const
const RUNS = { label: "proposal.runsCommand", tone: "bg-danger-soft text-danger" } as const
const SENDS = { label: "proposal.sendsOut", tone: "bg-warn-soft text-warn" } as const

interface ProposalCardProps {
  readonly item: ProposalItem
  /** The call that made the proposal, with its result. */
  readonly call: CallItem | undefined
}

/** A change that waits, or waited, for a decision. While it waits, all of it is visible. */
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
  const [unseen, showEverything] = useCutTexts([proposal])
  const isDoubt = proposal.status === "in_doubt"
  const heading = `proposal-${proposal.id}`
  return (
    <CardContext value={proposal.id}>
      <article
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
          <ProposalDetails proposal={proposal} />
          {proposal.reason !== undefined && (
            <p className="text-[13px] text-warn">
              <Plain text={proposal.reason} />
            </p>
          )}
          <p className={`text-[13px] ${proposal.undoable ? "text-faint" : "text-warn"}`}>
            {t(proposal.undoable ? "proposal.undoable" : "proposal.notUndoable")}
          </p>
        </div>
        {isDoubt ? (
          <DoubtChoices proposal={proposal} />
        ) : (
          <Decision proposal={proposal} unseen={unseen} onShowEverything={showEverything} />
        )}
      </article>
    </CardContext>
  )
}

/** The outcome in one line that opens to show the change. */
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
          {reason && <p className="text-sm">{rich("proposal.reason", { reason: <Plain text={reason} /> })}</p>}
          <ProposalDetails proposal={proposal} />
          {call?.text && (
            <p className="text-sm whitespace-pre-wrap text-soft [overflow-wrap:anywhere]">
              <Plain text={call.text} />
            </p>
          )}
          {call?.ms != null && <p className="text-xs text-faint">{t("proposal.took", { time: duration(call.ms) })}</p>}
        </div>
      </details>
      {call && isDrawn && <DataView data={call.data} />}
    </>
  )
}

function Kind({ proposal: { action, sends, tool } }: { readonly proposal: Proposal }) {
  const { label, tone } = sends ? SENDS : tool === "run_command" ? RUNS : KINDS[action]
  return <span className={`rounded-md px-2 py-0.5 text-xs font-semibold ${tone}`}>{t(label)}</span>
}

const CHOICES = [
  { choice: "done", label: "proposal.doubtDone", look: "plain" },
  { choice: "retry", label: "proposal.doubtRetry", look: "plain" },
  { choice: "abandon", label: "proposal.doubtAbandon", look: "quiet" },
] as const

/** A change that was interrupted: only the person can find out whether it happened. */
function DoubtChoices({ proposal }: { readonly proposal: Proposal }) {
  const params = { id: proposal.id }
  const { isSent, send } = useDecide(proposal)
  return (
    <footer className="space-y-3 border-t border-line bg-warn-soft px-4 py-3 text-sm text-warn [border-radius:0_0_1rem_1rem]">
      <p>{t("proposal.doubt")}</p>
      <div className="flex flex-wrap gap-2">
        {CHOICES.map(({ choice, label, look }) => (
          <Button
            key={choice}
            look={look}
            disabled={isSent}
            onClick={() => send(() => client.resolveProposal({ params, body: { choice } }))}
          >
            {t(label)}
          </Button>
        ))}
      </div>
    </footer>
  )
}

/** A change that expired undecided, with a button that proposes it again and one that dismisses it. */
function ExpiredCard({ proposal }: { readonly proposal: Proposal }) {
  const isDismissed = useDismissed()
  const heading = `proposal-${proposal.id}`
  if (isDismissed(proposal)) return <ExpiredLine proposal={proposal} />
  return (
    <article aria-labelledby={heading} className="my-3 rounded-2xl border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
        <div className="min-w-0 flex-1 basis-60">
          <p className="flex items-center gap-1.5 text-xs font-semibold text-soft">
            <Clock className="size-3.5" aria-hidden="true" /> {t("proposal.expired")}
          </p>
          <h2 id={heading} className="font-medium [overflow-wrap:anywhere]">
            <Plain text={proposal.title ?? proposal.summary} />
          </h2>
          <p className="text-[13px] text-soft">{t("proposal.expiredHint")}</p>
        </div>
        <ProposeAgain proposal={proposal} />
        <Button look="quiet" onClick={() => void dismiss([proposal])}>
          {t("common.dismiss")}
        </Button>
      </div>
      <details className="border-t border-line px-4 py-2.5 text-[13px]">
        <summary className="w-fit rounded text-faint hover:text-ink">{t("proposal.details")}</summary>
        <div className="mt-2 space-y-4">
          <ProposalDetails proposal={proposal} />
        </div>
      </details>
    </article>
  )
}

/** A dismissed one: a line that opens to show the change. */
function ExpiredLine({ proposal }: { readonly proposal: Proposal }) {
  return (
    <details className="group/card my-2 rounded-xl border border-line bg-surface">
      <summary className="flex items-center gap-2.5 rounded-xl px-4 py-2.5 text-sm">
        <Clock className="size-4 shrink-0 text-soft" aria-hidden="true" />
        <span className="min-w-0 flex-1 truncate group-open/card:whitespace-normal">
          <Plain text={proposal.title ?? proposal.summary} />
        </span>
        <span className="shrink-0 text-[13px] text-soft">{t("proposal.expired")}</span>
      </summary>
      <div className="space-y-4 border-t border-line px-4 py-3">
        <ProposalDetails proposal={proposal} />
        <ProposeAgain proposal={proposal} />
      </div>
    </details>
  )
}

function ProposeAgain({ proposal }: { readonly proposal: Proposal }) {
  const { isSent, send } = useDecide(proposal)
  return (
    <Button disabled={isSent} onClick={() => send(() => client.proposeAgain({ params: { id: proposal.id } }))}>
      <RotateCcw className="size-3.5" /> {t("proposal.proposeAgain")}
    </Button>
  )
}

/** From here on the time is shown as a warning. */
const LAST_MS = 120_000

/** The time left: rounded at first, in seconds at the end. */
function Expiry({ expiresAt }: { readonly expiresAt: string }) {
  const until = Date.parse(expiresAt)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const left = until - now
  return (
    <span
      role="timer"
      className={`flex items-center gap-1 text-xs tabular-nums ${left < LAST_MS ? "text-warn" : "text-faint"}`}
    >
      <Clock className="size-3.5" aria-hidden="true" /> {timeLeft(left)}
    </span>
  )
}

/**
 * How long the change still waits: in seconds, minutes, hours or days. Each unit is rounded down, except that a change
 * proposed moments ago keeps its full number.
 */
function timeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds <= 0) return t("proposal.expired")
  if (seconds < 120) return t("proposal.secondsLeft", { count: seconds })
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return t("proposal.minutesLeft", { count: Math.floor(seconds / 60) })
  const hours = Math.round(minutes / 60)
  if (hours < 48) return t("proposal.hoursLeft", { count: Math.floor(minutes / 60) })
  return t("proposal.daysLeft", { count: Math.floor(hours / 24) })
}

interface Look {
  readonly icon: Icon
  readonly tone: string
}

const WAITS: Look = { icon: Clock, tone: "text-warn" }

const LOOKS: Record<Proposal["status"], Look> = {
  applying: { icon: LoaderCircle, tone: "text-accent" },
  applied: { icon: Check, tone: "text-good" },
  failed: { icon: CircleAlert, tone: "text-danger" },
  rejected: { icon: X, tone: "text-soft" },
  expired: { icon: Clock, tone: "text-soft" },
  superseded: { icon: Replace, tone: "text-soft" },
  abandoned: { icon: Ban, tone: "text-soft" },
  in_doubt: WAITS,
  pending: WAITS,
}

/** The outcome in a word or two. */
function outcomeOf(item: ProposalItem): Look & { readonly says: string } {
  const { status, code } = item.proposal
  const { icon, tone } = LOOKS[status]
  return { icon, tone: code === "proposal_stale" ? "text-warn" : tone, says: t(statusOf(item)) }
}

const STATUS: Readonly<Record<Proposal["status"], Key>> = {
  pending: "proposal.statusWaiting",
  in_doubt: "proposal.statusWaiting",
  applying: "proposal.statusApplying",
  applied: "proposal.statusApplied",
  failed: "proposal.statusFailed",
  rejected: "proposal.statusRejected",
  expired: "proposal.expired",
  superseded: "proposal.statusSuperseded",
  abandoned: "proposal.statusAbandoned",
}

/** Who or what approved it, if that was not a person who looked at the change. */
const APPROVED_BY: ReadonlyMap<string, Key> = new Map([
  ["policy", "proposal.statusAutomatic"],
  ["device", "proposal.statusByDevice"],
  ["grant", "proposal.statusByGrant"],
])

function statusOf({ proposal: { status, code }, decidedBy }: ProposalItem): Key {
  if (status === "failed" && code === "proposal_unmet") return "proposal.statusUnmet"
  if (status === "failed" && code === "proposal_stale") return "proposal.statusStale"
  const by = status === "applied" && decidedBy !== null ? APPROVED_BY.get(decidedBy) : undefined
  return by ?? STATUS[status]
}
