import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { humanName } from "../parts/words.ts"
import { useLoaded } from "../parts/use-loaded.tsx"
import { client } from "../state/client.ts"

interface GrantsDialogProps {
  readonly conversationId: string
  readonly onClose: () => void
}

/** What the person has agreed to beforehand in a conversation, and taking it back. */
export function GrantsDialog({ conversationId, onClose }: GrantsDialogProps) {
  const { value, reload, trouble } = useLoaded(() => client.listGrants({ params: { id: conversationId } }))
  const grants = value?.items
  const revoke = async (tool: string) => {
    await attempt(() => client.revokeGrant({ params: { id: conversationId, tool } }))
    await reload()
  }
  return (
    <Dialog title="What it may do without asking" onClose={onClose}>
      {trouble}
      {grants?.length === 0 && (
        <p className="mb-4 text-sm text-soft">
          Nothing. To allow something, choose the arrow beside “Approve” when a change is shown to you.
        </p>
      )}
      <ul className="mb-4 space-y-2">
        {grants?.map(({ tool, left, uses }) => (
          <li key={tool} className="flex items-center gap-3 text-sm">
            <span className="flex-1">
              <Plain text={humanName(tool)} />
              <span className="block text-[13px] text-faint">
                {left} of {uses} times left
              </span>
            </span>
            <Button small onClick={() => void revoke(tool)}>
              Take back
            </Button>
          </li>
        ))}
      </ul>
      <div className="flex justify-end">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
