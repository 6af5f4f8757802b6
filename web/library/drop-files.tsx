import { FileUp } from "lucide-react"
import { useRef, useState } from "react"
import type { CollectionId } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { client } from "../state/client.ts"

interface DropFilesProps {
  readonly collection: CollectionId
  readonly onAdded: () => Promise<unknown>
}

/** Files are sent one after another; one that cannot be read does not keep the others back. */
export function DropFiles({ collection, onAdded }: DropFilesProps) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
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
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void take([...event.dataTransfer.files])
      }}
      className={`mt-2 flex flex-wrap items-center gap-3 rounded-xl border border-dashed px-4 py-3 text-sm text-soft ${isOver ? "border-accent bg-accent-soft" : "border-line bg-sunken"}`}
    >
      <FileUp className="size-5 shrink-0 text-faint" aria-hidden="true" />
      <p role="status" className="min-w-40 flex-1 [overflow-wrap:anywhere]">
        {sending === undefined ? "Drop Markdown, text, HTML, PDF or arXiv metadata here." : `Reading ${sending} …`}
      </p>
      <Button disabled={sending !== undefined} onClick={() => input.current?.click()}>
        Choose files
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label="Documents"
        accept=".md,.markdown,.txt,.html,.htm,.pdf,.jsonl,.ndjson"
        onChange={(event) => {
          void take([...(event.target.files ?? [])])
          event.target.value = "" // so that the same file can be chosen again
        }}
      />
    </div>
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
