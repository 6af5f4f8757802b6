import { Undo } from "../components/icons.tsx"
import { useState } from "react"
import { ClientError } from "../../../client/index.ts"
import type { AuditEntry, Proposal } from "../../../core/protocol/index.ts"
import { Button, Link } from "../components/button.tsx"
import { attempt } from "../components/explain.ts"
import { Plain } from "../components/plain.tsx"
import { Arguments } from "../proposal/arguments.tsx"
import { Changes } from "../changes/changes.tsx"
import { useShell } from "../shell/page.ts"
import { client } from "../state/client.ts"
import { feed } from "../state/feed.ts"
import { navigate } from "../state/router.ts"
import { useStore } from "../state/store.ts"
import { toast } from "../state/toasts.ts"
import { rich, t } from "../strings/strings.ts"
import { time } from "../strings/format.ts"

/** One change: what it was, who approved it, when and where. Its details show the values before and after. */
export function AuditRow({ entry }: { readonly entry: AuditEntry }) {
  const { user } = useShell().identity
  const [isSent, setSent] = useState(false)
  const title = useStore(feed).list.conversations.find(({ id }) => id === entry.conversationId)?.title
  const undo = async () => {
    setSent(true)
    await attempt(() => proposeUndo(entry))
    setSent(false)
  }
  return (
    <li className="my-2 rounded-xl border border-line bg-surface">
      <details className="group/entry">
        <summary className="rounded-xl px-4 py-2.5 text-sm">
          <span className="block min-w-0 truncate group-open/entry:whitespace-normal">
            <Plain text={entry.summary} />
          </span>
          <span className="block text-[13px] text-faint">
            <Plain text={factsOf(entry, user.id).join(" · ")} />
          </span>
        </summary>
        <div className="space-y-4 border-t border-line px-4 py-3">
          <Changes diff={{ before: entry.before, after: entry.after }} />
          <Arguments tool={entry.tool} given={entry.arguments} />
        </div>
      </details>
      <div className="flex items-center gap-3 border-t border-line px-4 py-1.5 text-[13px] text-faint">
        <span className="min-w-0 flex-1 truncate">
          {rich("inbox.inConversation", {
            title: <Plain text={title ?? t("common.untitled")} />,
            link: (inner) => (
              <Link to={`/c/${entry.conversationId}`} className="text-accent underline underline-offset-2">
                {inner}
              </Link>
            ),
          })}
        </span>
        {entry.undoneBy === null &&
          (entry.undoable && entry.inverse !== null ? (
            <Button small look="quiet" disabled={isSent} onClick={() => void undo()}>
              <Undo className="size-3.5" /> {t("common.undo")}
            </Button>
          ) : (
            <span>{t("audit.notUndoable")}</span>
          ))}
      </div>
    </li>
  )
}

/** When it was applied, who decided it, and whether it was undone or is an undo. */
function factsOf({ appliedAt, decidedBy, undoneBy, undoes }: AuditEntry, me: string): string[] {
  return [
    time(appliedAt),
    whoDecided(decidedBy, me),
    ...(undoneBy === null ? [] : [t("audit.undone")]),
    ...(undoes === null ? [] : [t("audit.isUndo")]),
  ]
}

function whoDecided(by: string, me: string): string {
  if (by === me) return t("audit.byYou")
  if (by === "policy") return t("audit.byPolicy")
  if (by === "device") return t("audit.byDevice")
  return t(by === "grant" ? "audit.byGrant" : "audit.byOther")
}

/** An undo is a change like any other: it is proposed in its conversation and decided there. */
async function proposeUndo({ id, conversationId }: AuditEntry): Promise<void> {
  try {
    await client.undoWrite({ params: { id } })
  } catch (error) {
    const proposal = error instanceof ClientError ? (error.details.proposal as Proposal | undefined) : undefined
    if (!proposal) throw error
    toast(proposal.status === "applied" ? t("audit.alreadyUndone") : t("audit.undoWaits"))
  }
  navigate(`/c/${conversationId}`)
}
