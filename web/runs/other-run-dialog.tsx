import { useState } from "react"
import type { Run } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { Labelled } from "../parts/labelled.tsx"
import { Link } from "../parts/link.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"
import { client } from "../state/client.ts"
import { navigate } from "../state/router.ts"
import { headWords } from "./run-words.ts"

const NEWEST = 20

interface OtherRunDialogProps {
  readonly run: Run
  readonly onClose: () => void
}

/** Which run is to stand beside this one: one of the same conversation, or any that is named. */
export function OtherRunDialog({ run, onClose }: OtherRunDialogProps) {
  const { value, trouble } = useLoaded(() =>
    client.listRuns({ params: { id: run.conversationId }, query: { limit: NEWEST } }),
  )
  const [named, setNamed] = useState("")
  const others = value?.items.filter(({ id }) => id !== run.id)
  return (
    <Dialog title="Beside which run?" onClose={onClose}>
      {trouble}
      {others?.length === 0 && <p className="mb-4 text-sm text-soft">This conversation has no other run.</p>}
      {others && others.length > 0 && (
        <ul aria-label="Runs of this conversation" className="-mx-2 mb-4 max-h-60 overflow-y-auto">
          {others.map((other) => (
            <li key={other.id}>
              <Link
                to={`/runs/${run.id}/beside/${other.id}`}
                className="block truncate rounded-lg px-2 py-1.5 text-sm hover:bg-sunken"
              >
                {headWords(other)}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          navigate(`/runs/${run.id}/beside/${encodeURIComponent(named.trim())}`)
        }}
      >
        <Labelled label="Or one of another conversation, by its id" className="mb-4">
          <input
            value={named}
            autoComplete="off"
            placeholder="run_…"
            onChange={(event) => setNamed(event.target.value)}
            className="field font-mono text-sm"
          />
        </Labelled>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Leave it</Button>
          <Button look="main" type="submit" disabled={!named.trim().startsWith("run_")}>
            Show both
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
