import { ChevronUp, RotateCcw } from "../components/icons.tsx"
import type { Item, ProposalItem } from "../../../client/index.ts"
import type { Proposal } from "../../../core/protocol/index.ts"
import { Button } from "../components/button.tsx"
import { Menu, MenuItem } from "../components/menu.tsx"
import { client } from "../state/client.ts"
import { useDecide } from "./decide.ts"
import { dismiss, useDismissed, useExpired } from "./expiry.ts"
import { ShowFullText, useCutTexts } from "./arguments.tsx"
import { rich, t } from "../strings/strings.ts"

type Answer = "yes" | "no" | "all" | "none"

interface DecideAllBarProps {
  readonly conversationId: string
  readonly items: readonly Item[]
}

/** Decides all waiting changes at once, if there are several; two buttons also set the mode. */
export function DecideAllBar({ conversationId, items }: DecideAllBarProps) {
  const over = new Set(items.flatMap((item) => (item.type === "call" && item.isOver ? [item.key] : [])))
  const waiting = items.flatMap((item) =>
    item.type === "proposal" && isUndecided(item) && !over.has(item.proposal.callId) ? [item] : [],
  )
  const expired = useExpired(waiting.map(({ proposal }) => proposal))
  const open = waiting.filter(({ key }) => !expired.has(key))
  const { isSent, send: decide } = useDecide(open.map(({ key }) => key).join())
  const [unseen, showEverything] = useCutTexts(open.map(({ proposal }) => proposal))
  const isDismissed = useDismissed()
  const left = waiting.flatMap(({ proposal }) => (isDismissed(proposal) ? [] : [proposal]))
  if (open.length === 0 && left.length > 1) return <ProposeAgainBar proposals={left} />
  if (open.length < 2) return null
  const deletes = open.filter(({ proposal }) => proposal.action === "destructive_delete").length
  const send = (decision: Answer) => {
    const proposalIds = open.map(({ proposal }) => proposal.id)
    decide(() => client.decideAll({ params: { id: conversationId }, body: { decision, proposalIds } }))
  }
  return (
    <div className="appear mb-2 flex flex-wrap items-center gap-2 rounded-xl border border-line bg-surface px-3 py-2 text-sm sm:px-4">
      <p className="min-w-full flex-1 sm:min-w-0">
        {deletes === 0
          ? t("proposal.waiting", { count: open.length })
          : rich("proposal.waitingWithDeletes", {
              count: open.length,
              deletes,
              danger: (inner) => <span className="text-danger">{inner}</span>,
            })}
        {unseen > 0 && <ShowFullText className="block text-[13px] text-warn" onShow={showEverything} />}
      </p>
      <Button small look={deletes > 0 ? "delete" : "main"} disabled={isSent || unseen > 0} onClick={() => send("yes")}>
        {t("proposal.approveAll")}
      </Button>
      <Button small disabled={isSent} onClick={() => send("no")}>
        {t("proposal.rejectAll")}
      </Button>
      <Menu
        side="top"
        align="end"
        trigger={
          <Button small look="quiet" disabled={isSent} aria-label={t("proposal.moreForAll")}>
            <ChevronUp className="size-4" />
          </Button>
        }
      >
        <MenuItem disabled={unseen > 0} onSelect={() => send("all")}>
          {t("proposal.approveAllAutomatic")}
          <span className="block text-[13px] leading-snug text-soft">{t("proposal.approveAllAutomaticHint")}</span>
        </MenuItem>
        <MenuItem onSelect={() => send("none")}>
          {t("proposal.rejectAllReadOnly")}
          <span className="block text-[13px] leading-snug text-soft">{t("proposal.rejectAllReadOnlyHint")}</span>
        </MenuItem>
      </Menu>
    </div>
  )
}

/** Undecided, even if expired. */
const isUndecided = ({ proposal: { status } }: ProposalItem): boolean => status === "pending" || status === "expired"

/** All of them have expired: one click proposes them again. */
function ProposeAgainBar({ proposals }: { readonly proposals: readonly Proposal[] }) {
  const { isSent, send } = useDecide(proposals.map(({ id }) => id).join())
  const again = async () => {
    // One after the other: each makes the conversation busy.
    for (const { id } of proposals) await client.proposeAgain({ params: { id } })
  }
  return (
    <div className="appear mb-2 flex flex-wrap items-center gap-2 rounded-xl border border-line bg-surface px-4 py-2 text-sm">
      <p className="flex-1">{t("proposal.allExpired", { count: proposals.length })}</p>
      <Button small disabled={isSent} onClick={() => send(again)}>
        <RotateCcw className="size-3.5" /> {t("proposal.proposeAllAgain")}
      </Button>
      <Button small look="quiet" disabled={isSent} onClick={() => void dismiss(proposals)}>
        {t("proposal.dismissAll")}
      </Button>
    </div>
  )
}
