import { useEffect, useRef, useState } from "react"
import { DropZone } from "../components/drop-zone.tsx"
import { explain } from "../components/explain.ts"
import { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"
import { noticeSignOut } from "../state/identity.ts"
import { t } from "../strings/strings.ts"
import { CsvPreviewForm, type CsvFormat, type Previewed } from "./csv-preview-form.tsx"

interface CsvUploadProps {
  /** A file that is chosen already and read at once. */
  readonly file?: File
  readonly onDone: (connection: ConnectionView) => void
  readonly onCancel?: () => void
}

/** Creates a database from a dropped or chosen file. The server stores nothing before the user has seen a preview. */
export function CsvUpload({ file: given, onDone, onCancel }: CsvUploadProps) {
  const [isReading, setReading] = useState(given !== undefined)
  const [read, setRead] = useState<Previewed>()
  const [problem, setProblem] = useState<string>()
  const look = async (file: File, said: CsvFormat) => {
    setReading(true)
    setProblem(undefined)
    try {
      const answer = await client.uploadCsv({ query: { ...said, preview: "true" }, file, type: typeOf(file) })
      if ("delimiter" in answer) setRead({ file, type: typeOf(file), said, preview: answer })
    } catch (error) {
      noticeSignOut(error)
      setProblem(explain(error))
    }
    setReading(false)
  }
  const latest = useRef(look)
  useEffect(() => {
    if (given) void latest.current(given, {})
  }, [given])
  const trouble = problem !== undefined && (
    <p role="alert" className="mt-2 text-sm text-danger [overflow-wrap:anywhere]">
      {problem}
    </p>
  )
  if (read) {
    return (
      <>
        <CsvPreviewForm
          read={read}
          isReading={isReading}
          onSay={(said) => void look(read.file, said)}
          onCancel={() => {
            setRead(undefined)
            onCancel?.()
          }}
          onDone={(connection) => {
            setRead(undefined)
            onDone(connection)
          }}
        />
        {trouble}
      </>
    )
  }
  return (
    <>
      <DropZone
        label={t("connections.csvFile")}
        says={t(isReading ? "connections.reading" : "connections.dropCsv")}
        choose={t("connections.chooseFile")}
        accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
        isBusy={isReading}
        onFiles={([file]) => {
          if (file) void look(file, {})
        }}
        className="py-5"
      />
      {trouble}
    </>
  )
}

const typeOf = ({ name, type }: File) =>
  type === "text/tab-separated-values" || /\.tsv$/i.test(name) ? "text/tab-separated-values" : "text/csv"
