import { useCallback, useEffect, useState } from "react"
import type { Grant } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { attempt, explain } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { humanName } from "../parts/words.ts"
import { client } from "../state/client.ts"

interface GrantsDialogProps {
  readonly conversationId: string
  readonly onClose: () => void
}

/** What the person has agreed to beforehand in a conversation, and taking it back. */
export function GrantsDialog({ conversationId, onClose }: GrantsDialogProps) {
  const [grants, setGrants] = useState<readonly Grant[]>()
  const [problem, setProblem] = useState<string>()
  const load = useCallback(async () => {
    try {
      setGrants((await client.listGrants({ params: { id: conversationId } })).items)
    } catch (error) {
      setProblem(explain(error))
    }
  }, [conversationId])
  useEffect(() => void load(), [load])
  const revoke = async (tool: string) => {
    await attempt(() => client.revokeGrant({ params: { id: conversationId, tool } }))
    await load()
  }
  return (
    <Dialog title="What it may do without asking" onClose={onClose}>
      {problem && <p className="mb-4 text-sm text-danger">{problem}</p>}
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
