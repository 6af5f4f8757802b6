import { Check, ChevronDown, Pencil, Trash, X } from "../components/icons.tsx"
import { useState } from "react"
import { type Proposal, DEFAULT_GRANT_USES } from "../../../core/protocol/index.ts"
import { humanName } from "../../../client/index.ts"
import { Button } from "../components/button.tsx"
import { Form, OnlyField, SubmitButton } from "../components/form.tsx"
import { Menu, MenuItem } from "../components/menu.tsx"
import { NameBox } from "../components/plain.tsx"
import { client } from "../state/client.ts"
import { useDecide } from "./decide.ts"
import { EditForm } from "./edit-form.tsx"
import { ShowFullText } from "./arguments.tsx"
import { t } from "../strings/strings.ts"
import { quoted } from "../strings/format.ts"

interface DecisionProps {
  readonly proposal: Proposal
  /** The number of cut blocks that have not been opened. */
  readonly unseen: number
  readonly onShowEverything: () => void
}

/** Approve, edit or reject. A change can be approved only after all of it was visible. */
export function Decision({ proposal, unseen, onShowEverything }: DecisionProps) {
  const [doing, setDoing] = useState<"edit" | "reject" | undefined>()
  /** The form that was left, to restore the focus. */
  const [left, setLeft] = useState<"edit" | "reject" | undefined>()
  const { isSent, send, submit } = useDecide(proposal)
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
        onDone={(changed) => submit(() => client.editProposal({ params, body: { arguments: changed } }), close)}
      />
    )
  }
  if (doing === "reject") {
    return (
      <RejectForm
        isSent={isSent}
        onCancel={goBack}
        onDone={(reason) => submit(() => client.rejectProposal({ params, body: reason ? { reason } : {} }), close)}
      />
    )
  }
  const isGrantable = !proposal.insists && proposal.reason === undefined
  const isHeld = isSent || unseen > 0
  const isDelete = proposal.action === "destructive_delete"
  const look = isDelete ? "delete" : "main"
  return (
    <footer className="border-t border-line px-4 py-3">
      {unseen > 0 && (
        <p className="mb-2.5 text-[13px] text-warn" id={`unseen-${proposal.id}`}>
          <ShowFullText onShow={onShowEverything} />
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <div className="flex">
          <Button
            look={look}
            disabled={isHeld}
            aria-describedby={unseen > 0 ? `unseen-${proposal.id}` : undefined}
            onClick={() => approve()}
            className={isGrantable ? "rounded-r-none" : ""}
          >
            {isDelete ? <Trash className="size-4" /> : <Check className="size-4" />} {t("proposal.approve")}
          </Button>
          {isGrantable && (
            <Menu
              align="start"
              trigger={
                <Button
                  look={look}
                  disabled={isHeld}
                  aria-label={t("proposal.moreWaysToApprove")}
                  className="ml-px rounded-l-none px-2"
                >
                  <ChevronDown className="size-4" />
                </Button>
              }
            >
              <MenuItem onSelect={() => approve(true)}>
                {t("proposal.approveAlways")}
                <span className="block text-[13px] leading-snug text-soft">{t("proposal.approveAlwaysHint")}</span>
                <NameBox text={coveredBy(proposal)} />
              </MenuItem>
            </Menu>
          )}
        </div>
        <Button disabled={isSent} autoFocus={left === "edit"} onClick={() => setDoing("edit")}>
          <Pencil className="size-3.5 max-sm:hidden" /> {t("proposal.edit")}
        </Button>
        <Button disabled={isSent} autoFocus={left === "reject"} onClick={() => setDoing("reject")}>
          <X className="size-4 max-sm:hidden" /> {t("proposal.reject")}
        </Button>
      </div>
    </footer>
  )
}

/** Describes what "always" would approve in advance. */
const coveredBy = ({ tool, commandLine }: Proposal): string =>
  commandLine === undefined
    ? t("proposal.alwaysTool", { uses: DEFAULT_GRANT_USES, tool: quoted(humanName(tool)) })
    : t("proposal.alwaysCommand", { uses: DEFAULT_GRANT_USES })

interface RejectFormProps {
  readonly isSent: boolean
  readonly onDone: (reason: string) => Promise<unknown>
  readonly onCancel: () => void
}

function RejectForm({ isSent, onDone, onCancel }: RejectFormProps) {
  const [reason, setReason] = useState("")
  return (
    <Form
      className="space-y-2.5 border-t border-line px-4 py-3"
      onSubmit={async () => {
        if (!isSent) await onDone(reason.trim())
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.preventDefault()
        onCancel()
      }}
    >
      <label className="block text-sm">
        <span className="mb-1 block text-soft">{t("proposal.rejectReason")}</span>
        <OnlyField>
          <input
            autoFocus
            value={reason}
            maxLength={2000}
            onChange={(event) => setReason(event.target.value)}
            className="field"
          />
        </OnlyField>
      </label>
      <div className="flex gap-2">
        <SubmitButton look="danger" disabled={isSent}>
          {t("proposal.reject")}
        </SubmitButton>
        <Button onClick={onCancel}>{t("common.back")}</Button>
      </div>
    </Form>
  )
}
