import { useEffect } from "react"
import type { Proposal } from "../../../core/protocol/index.ts"
import { useExpired } from "../proposal/expiry.ts"
import { client } from "../state/client.ts"
import { feed, listeners } from "../state/feed.ts"
import { noticeSignOut } from "../state/identity.ts"
import { Store, useStore } from "../state/store.ts"
import { t } from "../strings/strings.ts"

interface Waiting {
  /** Waiting proposals, those expired unseen, and those decided since the page was opened; newest first. */
  readonly proposals: readonly Proposal[]
  readonly isKnown: boolean
  readonly problem: unknown
}

const waiting = new Store<Waiting>({ proposals: [], isKnown: false, problem: undefined })

/** How long to collect events of the feed before reading again. */
const GATHER_MS = 150

/** Proposals that wait for the person in any conversation. Decided ones stay visible with their outcome. */
export function useWaiting(): Waiting {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const onFrame = ({ type }: { readonly type: string }) => {
      if (!["snapshot", "conversation", "conversation_deleted"].includes(type)) return
      clearTimeout(timer)
      timer = setTimeout(() => void refresh(), GATHER_MS)
    }
    waiting.set({ ...waiting.value, proposals: waiting.value.proposals.filter(isOpen) })
    listeners.add(onFrame)
    void refresh()
    return () => {
      clearTimeout(timer)
      listeners.delete(onFrame)
    }
  }, [])
  return useStore(waiting)
}

let reading: Promise<void> | undefined
let isAskedAgain = false

/** One read at a time: of two parallel ones the older could arrive last and show a decided proposal as open. */
export async function refresh(): Promise<void> {
  isAskedAgain = true
  await (reading ??= (async () => {
    while (isAskedAgain) {
      isAskedAgain = false
      await look()
    }
    reading = undefined
  })())
}

async function look(): Promise<void> {
  try {
    const open = [
      ...(await readAll({ status: "pending" })),
      ...(await readAll({ status: "in_doubt" })),
      ...(await readAll({ status: "expired", seen: "false" })),
    ]
    const ids = new Set(open.map(({ id }) => id))
    const others = await Promise.all(waiting.value.proposals.filter(({ id }) => !ids.has(id)).map(again))
    const proposals = [...open, ...others.filter((each) => each !== undefined)]
    proposals.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
    waiting.set({ proposals, isKnown: true, problem: undefined })
  } catch (problem) {
    noticeSignOut(problem)
    waiting.change({ problem })
  }
}

const isOpen = ({ status, seenAt }: Proposal) =>
  status === "pending" || status === "in_doubt" || (status === "expired" && seenAt === undefined)

/** The current state of a proposal. Undefined if its conversation was deleted. */
async function again(proposal: Proposal): Promise<Proposal | undefined> {
  if (!isOpen(proposal) && proposal.status !== "applying") return proposal
  return client.readProposal({ params: { id: proposal.id } }).catch(() => undefined)
}

type Wanted = { readonly status: "pending" | "in_doubt" | "expired"; readonly seen?: "false" }

async function readAll(wanted: Wanted): Promise<Proposal[]> {
  const all: Proposal[] = []
  let cursor: string | undefined
  do {
    const page = await client.listProposals({ query: { ...wanted, limit: 100, ...(cursor ? { cursor } : {}) } })
    all.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor)
  return all
}

/** How many changes wait or expired unseen, next to the word Inbox. */
export function InboxBadge() {
  const { proposals } = useStore(feed).list
  const expired = useExpired(proposals).size
  const waiting = proposals.length - expired
  if (proposals.length === 0) return null
  const look = waiting > 0 ? "bg-warn-soft text-warn" : "bg-sunken text-soft"
  return (
    <span className={`rounded-full px-2 text-xs font-semibold tabular-nums ${look}`}>
      <span aria-hidden="true">{proposals.length}</span>
      <span className="sr-only">
        {waiting > 0 && t("shell.inboxWaiting", { count: waiting })}{" "}
        {expired > 0 && t("shell.inboxExpired", { count: expired })}
      </span>
    </span>
  )
}
