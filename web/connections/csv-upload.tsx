import { useEffect, useRef, useState } from "react"
import { DropZone } from "../parts/drop-zone.tsx"
import { attempt } from "../parts/explain.ts"
import { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"
import { takeBrought } from "../state/drop-zones.ts"
import type { CsvSaid } from "./csv-options.tsx"
import { CsvPreviewForm, type Previewed } from "./csv-preview-form.tsx"

interface CsvUploadProps {
  readonly onDone: (connection: ConnectionView) => void
}

/** A file becomes a database: dropped or chosen, looked at, named, made. Nothing is kept before the person says so. */
export function CsvUpload({ onDone }: CsvUploadProps) {
  const [isReading, setReading] = useState(false)
  const [read, setRead] = useState<Previewed>()
  const take = async (file: File | undefined) => {
    if (!file || isReading) return
    setRead(undefined)
    await look(file, {})
  }
  const look = async (file: File, said: CsvSaid) => {
    setReading(true)
    await attempt(async () => {
      const answer = await client.uploadCsv({ query: { ...said, preview: "true" }, file, type: typeOf(file) })
      if ("delimiter" in answer) setRead({ file, type: typeOf(file), said, preview: answer })
    })
    setReading(false)
  }
  const latest = useRef(take)
  // Dropped where there was no place for it, and brought here.
  useEffect(() => void latest.current(takeBrought()), [])
  if (read) {
    return (
      <CsvPreviewForm
        read={read}
        isReading={isReading}
        onSay={(said) => void look(read.file, said)}
        onCancel={() => setRead(undefined)}
        onDone={(connection) => {
          setRead(undefined)
          onDone(connection)
        }}
      />
    )
  }
  return (
    <DropZone
      label="CSV file"
      says={isReading ? "Reading the file …" : "Drop a CSV or TSV file here."}
      choose="Choose a file"
      accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
      isBusy={isReading}
      onFiles={([file]) => void take(file)}
      className="py-5"
    />
  )
}

const typeOf = ({ name, type }: File) =>
  type === "text/tab-separated-values" || /\.tsv$/i.test(name) ? "text/tab-separated-values" : "text/csv"
