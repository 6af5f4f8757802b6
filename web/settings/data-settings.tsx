import { Download, Trash2 } from "lucide-react"
import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled } from "../parts/labelled.tsx"
import { Plain } from "../parts/plain.tsx"
import { useShell } from "../shell/shell-context.ts"
import { base } from "../state/base.ts"
import { client } from "../state/client.ts"
import { presence } from "../state/identity.ts"
import { Part } from "./part.tsx"

const LOOK =
  "inline-flex h-9 items-center gap-1.5 rounded-lg border border-line bg-surface px-3.5 text-sm font-medium hover:bg-sunken"

/** Taking everything along, and leaving nothing behind. */
export function DataSettings() {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Part
        title="Export"
        says="Conversations, workspace, what was done, usage: everything of yours, as JSON lines. Never a key or a token."
      >
        <a href={`${base}/api/export`} download="pawl-export.ndjson" className={LOOK}>
          <Download className="size-4" /> Export my data
        </a>
      </Part>
      <Part
        title="Delete everything"
        says="Erases you from this server: conversations, workspace, tokens, keys, sessions. It cannot be taken back."
      >
        <Button look="danger" onClick={() => setDeleting(true)}>
          <Trash2 className="size-4" /> Delete everything
        </Button>
      </Part>
      {isDeleting && <DeleteDialog onClose={() => setDeleting(false)} />}
    </>
  )
}

function DeleteDialog({ onClose }: { readonly onClose: () => void }) {
  const { name } = useShell().identity.user
  const [typed, setTyped] = useState("")
  const erase = () =>
    attempt(async () => {
      await client.deleteMe()
      presence.set({ is: "signed-out" })
    })
  return (
    <Dialog title="Delete everything?" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (typed === name) void erase()
        }}
      >
        <p className="mb-4 text-soft">
          All that is yours on this server will be erased, also what is at work now. Nobody can bring it back.
        </p>
        <Labelled
          label={
            <>
              To go on, write your name: <Plain text={name} />
            </>
          }
          className="mb-4"
        >
          <input
            autoFocus
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            className="field"
          />
        </Labelled>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" type="submit" disabled={typed !== name}>
            Delete everything
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
