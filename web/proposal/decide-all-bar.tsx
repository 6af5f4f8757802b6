import { ChevronUp, RotateCcw } from "../icons/arrows.ts"
import type { Item, ProposalItem } from "../../src/client/index.ts"
import type { Proposal } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Menu, MenuItem } from "../parts/menu.tsx"
import { client } from "../state/client.ts"
import { useDecide } from "./decide.ts"
import { useExpired } from "./expired.ts"
import { useUnseen } from "./unseen.ts"

type Answer = "yes" | "no" | "all" | "none"

interface DecideAllBarProps {
  readonly conversationId: string
  readonly items: readonly Item[]
}

/** One answer to all that wait, where there are several; and the two answers that also say how to go on. */
export function DecideAllBar({ conversationId, items }: DecideAllBarProps) {
  const over = new Set(items.flatMap((item) => (item.type === "call" && item.isOver ? [item.key] : [])))
  const waiting = items.flatMap((item) =>
    item.type === "proposal" && isUndecided(item) && !over.has(item.proposal.callId) ? [item] : [],
  )
  const expired = useExpired(waiting.map(({ proposal }) => proposal))
  const open = waiting.filter(({ key }) => !expired.has(key))
  const [isSent, decide] = useDecide(open.map(({ key }) => key).join())
  const [unseen, showEverything] = useUnseen(open.map(({ proposal }) => proposal))
  if (open.length === 0 && waiting.length > 1) return <AgainBar proposals={waiting.map(({ proposal }) => proposal)} />
  if (open.length < 2) return null
  const deletes = open.filter(({ proposal }) => proposal.action === "destructive_delete").length
  const send = (decision: Answer) => {
    const proposalIds = open.map(({ proposal }) => proposal.id)
    decide(() => client.decideAll({ params: { id: conversationId }, body: { decision, proposalIds } }))
  }
  return (
    <div className="appear mb-2 flex flex-wrap items-center gap-2 rounded-xl border border-line bg-surface px-3 py-2 text-sm sm:px-4">
      <p className="min-w-full flex-1 sm:min-w-0">
        {open.length} changes wait for you{deletes > 0 && <span className="text-danger">, {deletesOf(deletes)}</span>}.
        {unseen > 0 && (
          <span className="block text-[13px] text-warn">
            Some texts are too long to be shown at once.{" "}
            <button type="button" onClick={showEverything} className="font-medium underline underline-offset-2">
              Show everything
            </button>{" "}
            before you approve.
          </span>
        )}
      </p>
      <Button small look={deletes > 0 ? "delete" : "main"} disabled={isSent || unseen > 0} onClick={() => send("yes")}>
        Approve all
      </Button>
      <Button small disabled={isSent} onClick={() => send("no")}>
        Reject all
      </Button>
      <Menu
        side="top"
        align="end"
        trigger={
          <Button small look="quiet" disabled={isSent} aria-label="More answers to all">
            <ChevronUp className="size-4" />
          </Button>
        }
      >
        <MenuItem disabled={unseen > 0} onSelect={() => send("all")}>
          Approve all, and stop asking
          <span className="block text-[13px] leading-snug text-soft">This conversation then writes by itself.</span>
        </MenuItem>
        <MenuItem onSelect={() => send("none")}>
          Reject all, and only look from now on
          <span className="block text-[13px] leading-snug text-soft">This conversation is then read-only.</span>
        </MenuItem>
      </Menu>
    </div>
  )
}

/** Of the run that waits: it is not settled yet, though its time may be up. */
const isUndecided = ({ proposal: { status } }: ProposalItem): boolean => status === "pending" || status === "expired"

/** All of them have expired: one click proposes them again. */
function AgainBar({ proposals }: { readonly proposals: readonly Proposal[] }) {
  const [isSent, send] = useDecide(proposals.map(({ id }) => id).join())
  const again = async () => {
    // One behind the other: while one is being proposed the conversation is busy.
    for (const { id } of proposals) await client.proposeAgain({ params: { id } })
  }
  return (
    <div className="appear mb-2 flex flex-wrap items-center gap-2 rounded-xl border border-line bg-surface px-4 py-2 text-sm">
      <p className="flex-1">{proposals.length} changes have expired. Nothing was done.</p>
      <Button small disabled={isSent} onClick={() => send(again)}>
        <RotateCcw className="size-3.5" /> Propose all again
      </Button>
    </div>
  )
}

const deletesOf = (deletes: number): string => `${deletes} of them ${deletes === 1 ? "deletes" : "delete"} something`
