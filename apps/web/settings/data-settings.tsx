import { Download, Trash } from "../components/icons.tsx"
import { Fragment, useState } from "react"
import type { StorageKind } from "../../../core/protocol/index.ts"
import { Button } from "../components/button.tsx"
import { Dialog } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Form, Labelled, SubmitButton } from "../components/form.tsx"
import { Plain } from "../components/plain.tsx"
import { saveFile } from "../components/file-chip.tsx"
import { useShell } from "../shell/page.ts"
import { client } from "../state/client.ts"
import { presence } from "../state/identity.ts"
import { Section } from "../components/section.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { fileSize } from "../strings/format.ts"
import { type Key, rich, t } from "../strings/strings.ts"

const STORED: Readonly<Record<StorageKind, Key>> = {
  conversations: "settings.storageConversations",
  queryResults: "settings.storageQueryResults",
  workspace: "settings.storageWorkspace",
  documents: "settings.storageDocuments",
  files: "settings.storageFiles",
  connections: "settings.storageConnections",
  packs: "settings.storagePacks",
}

/** The storage used, the export of everything, and the deletion of everything. */
export function DataSettings() {
  const [isDeleting, setDeleting] = useState(false)
  return (
    <>
      <Storage />
      <Section title={t("settings.export")} says={t("settings.exportHint")}>
        <ExportButton />
      </Section>
      <Section title={t("settings.deleteEverything")} says={t("settings.deleteEverythingHint")}>
        <Button look="danger" onClick={() => setDeleting(true)}>
          <Trash className="size-4" /> {t("settings.deleteEverything")}
        </Button>
      </Section>
      {isDeleting && <DeleteDialog onClose={() => setDeleting(false)} />}
    </>
  )
}

function Storage() {
  const { value, trouble } = useLoaded(() => client.readStorage())
  if (!value) return trouble
  const { bytes, limitBytes, kinds } = value
  return (
    <Section title={t("settings.storage")} says={t("settings.storageHint")}>
      {trouble}
      <p className="mb-2 text-sm">
        {rich("settings.storageUsedOf", {
          used: fileSize(bytes),
          limit: fileSize(limitBytes),
          strong: (used) => <strong className="font-semibold">{used}</strong>,
        })}
      </p>
      <meter
        aria-label={t("settings.storageUsed")}
        className="mb-4 h-2 w-full max-w-sm"
        max={limitBytes}
        high={limitBytes * 0.8}
        value={bytes}
      />
      <dl className="grid max-w-sm grid-cols-[1fr_auto] gap-x-6 gap-y-1 text-sm">
        {kinds.map(({ kind, bytes: each }) => (
          <Fragment key={kind}>
            <dt className="text-soft">{t(STORED[kind])}</dt>
            <dd className="text-right">{fileSize(each)}</dd>
          </Fragment>
        ))}
      </dl>
    </Section>
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
      <Download className="size-4" /> {t(isBusy ? "settings.exporting" : "settings.exportMyData")}
    </Button>
  )
}

function DeleteDialog({ onClose }: { readonly onClose: () => void }) {
  const { name } = useShell().identity.user
  const [typed, setTyped] = useState("")
  const erase = async () => {
    if (typed !== name) return
    await client.deleteMe()
    presence.set({ is: "signed-out" })
  }
  return (
    <Dialog title={t("settings.deleteEverythingTitle")} onClose={onClose}>
      <Form onSubmit={erase}>
        <p className="mb-4 text-soft">{t("settings.deleteEverythingConfirm")}</p>
        <Labelled label={rich("settings.typeYourName", { name: <Plain text={name} /> })} className="mb-4">
          <input
            autoFocus
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            className="field"
          />
        </Labelled>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <SubmitButton look="danger" disabled={typed !== name}>
            {t("settings.deleteEverything")}
          </SubmitButton>
        </div>
      </Form>
    </Dialog>
  )
}
