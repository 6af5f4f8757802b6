import { ChevronDown } from "../icons/arrows.ts"
import { Check, X } from "../icons/signs.ts"
import { Pencil, Trash } from "../icons/things.ts"
import { useState } from "react"
import type { Proposal } from "../../src/protocol/index.ts"
import { USUAL_USES } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Menu, MenuItem } from "../parts/menu.tsx"
import { Plain } from "../parts/plain.tsx"
import { humanName } from "../parts/words.ts"
import { client } from "../state/client.ts"
import { useDecide } from "./decide.ts"
import { EditForm } from "./edit-form.tsx"

interface DecisionProps {
  readonly proposal: Proposal
  /** How many texts of the card are cut. */
  readonly unseen: number
  readonly onShowEverything: () => void
}

/** Approve, edit or reject. Nothing can be approved of which something has not been in view. */
export function Decision({ proposal, unseen, onShowEverything }: DecisionProps) {
  const [doing, setDoing] = useState<"edit" | "reject" | undefined>()
  /** Where somebody who goes back was before. */
  const [left, setLeft] = useState<"edit" | "reject" | undefined>()
  const [isSent, send] = useDecide(proposal)
  const params = { id: proposal.id }
  const close = () => setDoing(undefined)
  const goBack = () => {
    setLeft(doing)
    close()
  }
  const approve = (always?: true) => send(() => client.commitProposal({ params, body: always ? { always } : {} }))

  if (doing === "edit") {
    return (
      <EditForm
        proposal={proposal}
        isSent={isSent}
        onCancel={goBack}
        onDone={(changed) => send(() => client.editProposal({ params, body: { arguments: changed } }), close)}
      />
    )
  }
  if (doing === "reject") {
    return (
      <RejectForm
        isSent={isSent}
        onCancel={goBack}
        onDone={(reason) => send(() => client.rejectProposal({ params, body: reason ? { reason } : {} }), close)}
      />
    )
  }
  const isHeld = isSent || unseen > 0
  const isDelete = proposal.action === "destructive_delete"
  const look = isDelete ? "delete" : "main"
  return (
    <footer className="border-t border-line px-4 py-3">
      {unseen > 0 && (
        <p className="mb-2.5 text-[13px] text-warn" id={`unseen-${proposal.id}`}>
          Some of it is too long to be shown at once.{" "}
          <button type="button" onClick={onShowEverything} className="font-medium underline underline-offset-2">
            Show everything
          </button>{" "}
          before you approve.
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <div className="flex">
          <Button
            look={look}
            disabled={isHeld}
            aria-describedby={unseen > 0 ? `unseen-${proposal.id}` : undefined}
            onClick={() => approve()}
            className={proposal.insists ? "" : "rounded-r-none"}
          >
            {isDelete ? <Trash className="size-4" /> : <Check className="size-4" />} Approve
          </Button>
          {!proposal.insists && (
            <Menu
              align="start"
              trigger={
                <Button
                  look={look}
                  disabled={isHeld}
                  aria-label="More ways to approve"
                  className="ml-px rounded-l-none px-2"
                >
                  <ChevronDown className="size-4" />
                </Button>
              }
            >
              <MenuItem onSelect={() => approve(true)}>
                Approve, and do not ask again for “
                <Plain text={humanName(proposal.tool)} />”
                <span className="block text-[13px] leading-snug text-soft">
                  In this conversation, for the next {USUAL_USES}. You can take it back.
                </span>
              </MenuItem>
            </Menu>
          )}
        </div>
        <Button disabled={isSent} autoFocus={left === "edit"} onClick={() => setDoing("edit")}>
          <Pencil className="size-3.5 max-sm:hidden" /> Edit
        </Button>
        <Button disabled={isSent} autoFocus={left === "reject"} onClick={() => setDoing("reject")}>
          <X className="size-4 max-sm:hidden" /> Reject
        </Button>
      </div>
    </footer>
  )
}

interface RejectFormProps {
  readonly isSent: boolean
  readonly onDone: (reason: string) => void
  readonly onCancel: () => void
}

function RejectForm({ isSent, onDone, onCancel }: RejectFormProps) {
  const [reason, setReason] = useState("")
  return (
    <form
      className="space-y-2.5 border-t border-line px-4 py-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSent) onDone(reason.trim())
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.preventDefault()
        onCancel()
      }}
    >
      <label className="block text-sm">
        <span className="mb-1 block text-soft">Why not? The assistant is told; it may be left empty.</span>
        <input
          autoFocus
          value={reason}
          maxLength={2000}
          onChange={(event) => setReason(event.target.value)}
          className="field"
        />
      </label>
      <div className="flex gap-2">
        <Button look="danger" type="submit" disabled={isSent}>
          Reject
        </Button>
        <Button onClick={onCancel}>Back</Button>
      </div>
    </form>
  )
}
