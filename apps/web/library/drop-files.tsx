import { useState } from "react"
import type { CollectionId } from "../../../core/protocol/index.ts"
import { Button } from "../components/button.tsx"
import { DropZone } from "../components/drop-zone.tsx"
import { explain } from "../components/explain.ts"
import { Plain } from "../components/plain.tsx"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { t } from "../strings/strings.ts"

interface DropFilesProps {
  readonly collection: CollectionId
  readonly onAdded: () => Promise<unknown>
}

/** A file that was not added, and why. */
interface Unsent {
  readonly file: File
  readonly why: string
}

/** How many failed files are listed by name. */
const NAMED = 5

/** Files are sent one after another; one that cannot be read or does not arrive does not keep the others back. */
export function DropFiles({ collection, onAdded }: DropFilesProps) {
  const [sending, setSending] = useState<string>()
  const [unsent, setUnsent] = useState<readonly Unsent[]>([])
  const take = async (files: readonly File[]) => {
    const failed: Unsent[] = []
    setUnsent([])
    for (const [index, file] of files.entries()) {
      setSending(
        files.length === 1
          ? t("library.uploading", { name: file.name })
          : t("library.uploadingOf", { name: file.name, index: index + 1, count: files.length }),
      )
      if (file.size === 0) {
        failed.push({ file, why: t("library.fileEmpty") })
        continue
      }
      try {
        const body = { name: file.name, content: await toBase64(file), encoding: "base64" } as const
        await client.addDocument({ params: { id: collection }, body })
      } catch (error) {
        noticeSignOut(error)
        failed.push({ file, why: explain(error) })
      }
      await onAdded()
    }
    setSending(undefined)
    setUnsent(failed)
  }
  return (
    <>
      <DropZone
        label={t("library.documents")}
        says={sending ?? t("library.drop")}
        choose={t("library.chooseFiles")}
        accept=".md,.markdown,.txt,.html,.htm,.pdf,.jsonl,.ndjson"
        multiple
        isBusy={sending !== undefined}
        onFiles={(files) => void take(files)}
        className="mt-2 py-3"
      />
      {sending !== undefined && <p className="mt-1 text-[13px] text-faint">{t("library.keepOpen")}</p>}
      {unsent.length > 0 && (
        <div
          role="alert"
          className="mt-2 flex flex-wrap items-start gap-3 rounded-xl bg-warn-soft px-4 py-2 text-sm text-warn"
        >
          <div className="min-w-40 flex-1 [overflow-wrap:anywhere]">
            <p>{t("library.filesFailed", { count: unsent.length })}</p>
            <ul>
              {unsent.slice(0, NAMED).map(({ file, why }, index) => (
                <li key={index}>
                  <Plain text={file.name} />: {why}
                </li>
              ))}
              {unsent.length > NAMED && <li>{t("library.filesFailedMore", { count: unsent.length - NAMED })}</li>}
            </ul>
          </div>
          <Button small onClick={() => void take(unsent.map(({ file }) => file))}>
            {t("common.retry")}
          </Button>
          <Button small look="quiet" onClick={() => setUnsent([])}>
            {t("common.dismiss")}
          </Button>
        </div>
      )}
    </>
  )
}

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("error", () => reject(reader.error ?? new Error("The file cannot be read.")))
    reader.addEventListener("load", () => resolve(String(reader.result).split(",")[1] ?? ""))
    reader.readAsDataURL(file)
  })
}
