import { useState } from "react"
import type { CollectionId, MessageFile } from "../../../../core/protocol/index.ts"
import { Button } from "../../components/button.tsx"
import { Dialog } from "../../components/dialog.tsx"
import { Form, Labelled, Select, SubmitButton } from "../../components/form.tsx"
import { NameBox, Plain } from "../../components/plain.tsx"
import { useLoaded } from "../../components/use-loaded.tsx"
import { client } from "../../state/client.ts"
import { readPages } from "../../../../client/index.ts"
import { t } from "../../strings/strings.ts"

interface LibraryDialogProps {
  readonly file: MessageFile
  readonly onDone: (collection: string) => void
  readonly onClose: () => void
}

const NEW = "new"

/** Adds an uploaded file to a collection, existing or new. It is not uploaded a second time. */
export function LibraryDialog({ file, onDone, onClose }: LibraryDialogProps) {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listCollections({ query })))
  const [said, setSaid] = useState<string>()
  const [name, setName] = useState(() => t("conversation.papers"))
  const [refused, setRefused] = useState<string>()
  const chosen = said ?? value?.[0]?.id ?? NEW
  const put = async () => {
    setRefused(undefined)
    const collection = await collectionFor()
    const body = { name: file.name, file: file.id }
    const { items, failed } = await client.addDocument({ params: { id: collection.id }, body })
    if (failed > 0) setRefused(items[0]?.reason ?? t("conversation.fileUnreadable"))
    else onDone(collection.name)
  }
  const collectionFor = async (): Promise<{ id: CollectionId; name: string }> => {
    const known = value?.find(({ id }) => id === chosen)
    if (known) return known
    const made = await client.createCollection({ body: { name: name.trim() } })
    // If the file is refused, the next attempt uses the collection that was created.
    setSaid(made.id)
    await reload()
    return made
  }
  return (
    <Dialog title={t("conversation.addToLibrary")} onClose={onClose}>
      <p className="mb-4 text-sm text-soft [overflow-wrap:anywhere]">
        <NameBox text={file.name} />
        {t("conversation.libraryHint")}
      </p>
      {trouble}
      <Form className="space-y-3" onSubmit={put}>
        {value && value.length > 0 && (
          <Labelled label={t("conversation.collection")}>
            <Select
              value={chosen}
              onChoose={setSaid}
              choices={[...value.map((each) => [each.id, each.name] as const), [NEW, t("conversation.newCollection")]]}
            />
          </Labelled>
        )}
        {value && chosen === NEW && (
          <Labelled label={t("conversation.newCollectionName")} field="name">
            <input
              required
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
              className="field"
            />
          </Labelled>
        )}
        {refused !== undefined && (
          <p role="alert" className="text-sm text-danger">
            <Plain text={refused} />
          </p>
        )}
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <SubmitButton
            look="main"
            busy={t("conversation.addingToLibrary")}
            disabled={!value || (chosen === NEW && name.trim() === "")}
          >
            {t("common.add")}
          </SubmitButton>
        </div>
      </Form>
    </Dialog>
  )
}
