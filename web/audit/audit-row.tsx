import { Undo } from "../icons/arrows.ts"
import { useState } from "react"
import { ClientError } from "../../src/client/index.ts"
import type { AuditEntry, Proposal } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { time } from "../parts/words.ts"
import { Arguments } from "../proposal/arguments.tsx"
import { Changes } from "../changes/changes.tsx"
import { UNTITLED } from "../shell/conversation-entry.tsx"
import { useShell } from "../shell/shell-context.ts"
import { client } from "../state/client.ts"
import { feed } from "../state/feed.ts"
import { navigate } from "../state/router.ts"
import { useStore } from "../state/store.ts"
import { toast } from "../state/toasts.ts"

/** One change: what it was, who agreed to it, when, where; opened, what there was before and after. */
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
            {time(entry.appliedAt)}, {whoDecided(entry.decidedBy, user.id)}
            {entry.undoneBy !== null && ", undone since"}
            {entry.undoes !== null && ", took something back"}
          </span>
        </summary>
        <div className="space-y-4 border-t border-line px-4 py-3">
          <Changes diff={{ before: entry.before, after: entry.after }} />
          <Arguments tool={entry.tool} given={entry.arguments} />
        </div>
      </details>
      <div className="flex items-center gap-3 border-t border-line px-4 py-1.5 text-[13px] text-faint">
        <span className="min-w-0 flex-1 truncate">
          In{" "}
          <Link to={`/c/${entry.conversationId}`} className="text-accent underline underline-offset-2">
            <Plain text={title ?? UNTITLED} />
          </Link>
        </span>
        {entry.undoneBy === null &&
          (entry.undoable && entry.inverse !== null ? (
            <Button small look="quiet" disabled={isSent} onClick={() => void undo()}>
              <Undo className="size-3.5" /> Undo
            </Button>
          ) : (
            <span>cannot be undone</span>
          ))}
      </div>
    </li>
  )
}

function whoDecided(by: string, me: string): string {
  if (by === me) return "approved by you"
  if (by === "policy") return "done by itself"
  if (by === "device") return "approved by the device"
  return by === "grant" ? "as you had allowed" : `approved by ${by}`
}

/** Taking back is a change like any other: it is shown, in its conversation, and decided there. */
async function proposeUndo({ id, conversationId }: AuditEntry): Promise<void> {
  try {
    await client.undoWrite({ params: { id } })
  } catch (error) {
    const proposal = error instanceof ClientError ? (error.details.proposal as Proposal | undefined) : undefined
    if (!proposal) throw error
    toast(proposal.status === "applied" ? "This was undone already." : "Undoing this waits for you already.")
  }
  navigate(`/c/${conversationId}`)
}
