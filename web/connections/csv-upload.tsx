import { FileUp } from "lucide-react"
import { useRef, useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"
import { CsvPreviewForm, type Previewed } from "./csv-preview-form.tsx"

interface CsvUploadProps {
  readonly onDone: (connection: ConnectionView) => void
}

/** A file becomes a database: dropped or chosen, looked at, named, made. Nothing is kept before the person says so. */
export function CsvUpload({ onDone }: CsvUploadProps) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const [isReading, setReading] = useState(false)
  const [read, setRead] = useState<Previewed>()
  const take = async (file: File | undefined) => {
    if (!file || isReading) return
    setReading(true)
    setRead(undefined)
    await attempt(async () => {
      const answer = await client.uploadCsv({ query: { preview: "true" }, file, type: typeOf(file) })
      if ("delimiter" in answer) setRead({ file, type: typeOf(file), preview: answer })
    })
    setReading(false)
  }
  if (read) {
    return (
      <CsvPreviewForm
        read={read}
        onCancel={() => setRead(undefined)}
        onDone={(connection) => {
          setRead(undefined)
          onDone(connection)
        }}
      />
    )
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
        void take(event.dataTransfer.files[0])
      }}
      className={`flex flex-wrap items-center gap-3 rounded-xl border border-dashed px-4 py-5 text-sm text-soft ${isOver ? "border-accent bg-accent-soft" : "border-line bg-sunken"}`}
    >
      <FileUp className="size-5 shrink-0 text-faint" aria-hidden="true" />
      <p className="min-w-40 flex-1">{isReading ? "Reading the file …" : "Drop a CSV or TSV file here."}</p>
      <Button disabled={isReading} onClick={() => input.current?.click()}>
        Choose a file
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="CSV file"
        accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
        onChange={(event) => {
          void take(event.target.files?.[0])
          event.target.value = "" // so that the same file can be chosen again
        }}
      />
    </div>
  )
}

const typeOf = ({ name, type }: File) =>
  type === "text/tab-separated-values" || /\.tsv$/i.test(name) ? "text/tab-separated-values" : "text/csv"
