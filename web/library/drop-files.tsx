import { useState } from "react"
import type { CollectionId } from "../../src/protocol/index.ts"
import { DropZone } from "../parts/drop-zone.tsx"
import { attempt } from "../parts/explain.ts"
import { client } from "../state/client.ts"

interface DropFilesProps {
  readonly collection: CollectionId
  readonly onAdded: () => Promise<unknown>
}

/** Files are sent one after another; one that cannot be read does not keep the others back. */
export function DropFiles({ collection, onAdded }: DropFilesProps) {
  const [sending, setSending] = useState<string>()
  const take = async (files: readonly File[]) => {
    for (const [index, file] of files.entries()) {
      setSending(files.length === 1 ? file.name : `${file.name} (${index + 1} of ${files.length})`)
      await attempt(async () => {
        const body = { name: file.name, content: await toBase64(file), encoding: "base64" } as const
        await client.addDocument({ params: { id: collection }, body })
      })
      await onAdded()
    }
    setSending(undefined)
  }
  return (
    <DropZone
      label="Documents"
      says={
        sending === undefined ? "Drop Markdown, text, HTML, RTF, PDF or arXiv metadata here." : `Reading ${sending} …`
      }
      choose="Choose files"
      accept=".md,.markdown,.txt,.html,.htm,.rtf,.pdf,.jsonl,.ndjson"
      multiple
      isBusy={sending !== undefined}
      onFiles={(files) => void take(files)}
      className="mt-2 py-3"
    />
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
