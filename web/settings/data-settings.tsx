import { Download } from "../icons/arrows.ts"
import { Trash } from "../icons/things.ts"
import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled } from "../parts/labelled.tsx"
import { Plain } from "../parts/plain.tsx"
import { saveFile } from "../parts/save-file.ts"
import { useShell } from "../shell/shell-context.ts"
import { client } from "../state/client.ts"
import { presence } from "../state/identity.ts"
import { Part } from "../parts/part.tsx"

/** Taking everything along, and leaving nothing behind. */
export function DataSettings() {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Part
        title="Export"
        says="Conversations, workspace, what was done, usage: everything of yours, as JSON lines. Never a key or a token."
      >
        <ExportButton />
      </Part>
      <Part
        title="Delete everything"
        says="Erases you from this server: conversations, workspace, tokens, keys, sessions. It cannot be taken back."
      >
        <Button look="danger" onClick={() => setDeleting(true)}>
          <Trash className="size-4" /> Delete everything
        </Button>
      </Part>
      {isDeleting && <DeleteDialog onClose={() => setDeleting(false)} />}
    </>
  )
}

function ExportButton() {
  const [isBusy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    await attempt(async () => saveFile("pawl-export.ndjson", await client.exportAll()))
    setBusy(false)
  }
  return (
    <Button disabled={isBusy} onClick={() => void save()}>
      <Download className="size-4" /> {isBusy ? "Collecting …" : "Export my data"}
    </Button>
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
