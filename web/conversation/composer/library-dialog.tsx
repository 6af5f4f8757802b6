import { useState } from "react"
import type { CollectionId, MessageFile } from "../../../src/protocol/index.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { attempt } from "../../parts/explain.ts"
import { Labelled, Select } from "../../parts/labelled.tsx"
import { Plain } from "../../parts/plain.tsx"
import { useLoaded } from "../../parts/use-loaded.tsx"
import { client } from "../../state/client.ts"
import { readPages } from "../../state/read-pages.ts"
import { toast } from "../../state/toasts.ts"

interface LibraryDialogProps {
  readonly file: MessageFile
  readonly onDone: (collection: string) => void
  readonly onClose: () => void
}

const NEW = "new"

/** Puts a file that was uploaded into a collection of the library: chosen, or made here. It is not sent a second time. */
export function LibraryDialog({ file, onDone, onClose }: LibraryDialogProps) {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listCollections({ query })))
  const [said, setSaid] = useState<string>()
  const [name, setName] = useState("Papers")
  const [isSent, setSent] = useState(false)
  const chosen = said ?? value?.[0]?.id ?? NEW
  const put = async () => {
    setSent(true)
    await attempt(async () => {
      const collection = await collectionFor()
      const body = { name: file.name, file: file.id }
      const { items, failed } = await client.addDocument({ params: { id: collection.id }, body })
      if (failed > 0) return toast(items[0]?.reason ?? "It could not be read.", "bad")
      onDone(collection.name)
    })
    setSent(false)
  }
  const collectionFor = async (): Promise<{ id: CollectionId; name: string }> => {
    const known = value?.find(({ id }) => id === chosen)
    if (known) return known
    const made = await client.createCollection({ body: { name: name.trim() } })
    // Where the file itself is refused the next try finds the collection that this one has made.
    setSaid(made.id)
    await reload()
    return made
  }
  return (
    <Dialog title="Put it into the library" onClose={onClose}>
      <p className="mb-4 text-sm text-soft [overflow-wrap:anywhere]">
        <Plain text={file.name} /> is then found by the research agent, in every conversation, with the passages that an
        answer rests on.
      </p>
      {trouble}
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault()
          void put()
        }}
      >
        {value && value.length > 0 && (
          <Labelled label="Collection">
            <Select
              value={chosen}
              onChoose={setSaid}
              choices={[...value.map((each) => [each.id, each.name] as const), [NEW, "A new one"]]}
            />
          </Labelled>
        )}
        {value && chosen === NEW && (
          <Labelled label="Name of the new collection">
            <input
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
              className="field"
            />
          </Labelled>
        )}
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" type="submit" disabled={!value || isSent || (chosen === NEW && name.trim() === "")}>
            {isSent ? "Being read …" : "Put it there"}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
