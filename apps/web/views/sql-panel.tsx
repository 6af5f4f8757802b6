import { Pencil, Play } from "../components/icons.tsx"
import { useId, useState } from "react"
import { escapeHidden, formatSql } from "../../../client/index.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { Button } from "../components/button.tsx"
import { explain } from "../components/explain.ts"
import { client } from "../state/client.ts"
import { noticeSignOut } from "../state/identity.ts"
import { type ShownTable, toTable } from "./shown-table.ts"
import { t } from "../strings/strings.ts"

interface SqlPanelProps {
  readonly sql: string
  readonly connectionId: string
  readonly onResult: (table: ShownTable) => void
}

/** The SQL of a result, to read, copy, edit and run again. It passes the same SQL guard as the SQL of a model. */
export function SqlPanel({ sql, connectionId, onResult }: SqlPanelProps) {
  const [isEditing, setEditing] = useState(false)
  return (
    <div className="border-b border-line bg-sunken px-3 py-2">
      {isEditing ? (
        <SqlEditor sql={sql} connectionId={connectionId} onResult={onResult} onClose={() => setEditing(false)} />
      ) : (
        <>
          <SqlText sql={sql} />
          <Button small className="mt-2" onClick={() => setEditing(true)}>
            <Pencil className="size-3.5" /> {t("views.editAndRun")}
          </Button>
        </>
      )}
    </div>
  )
}

/** Highlighted SQL, with invisible characters made visible. */
function SqlText({ sql }: { readonly sql: string }) {
  const ticks = Math.max(2, ...(sql.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = "`".repeat(ticks + 1)
  const block = `${fence}sql\n${escapeHidden(formatSql(sql))}\n${fence}`
  return (
    <div className="flat-code max-h-72 overflow-auto" tabIndex={0} role="group" aria-label="SQL">
      <Markdown text={block} />
    </div>
  )
}

interface SqlEditorProps extends SqlPanelProps {
  readonly onClose: () => void
}

function SqlEditor({ sql, connectionId, onResult, onClose }: SqlEditorProps) {
  const [text, setText] = useState(() => formatSql(sql))
  const [isRunning, setRunning] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const note = useId()
  const run = async () => {
    if (text.trim() === "" || isRunning) return
    setRunning(true)
    setProblem(undefined)
    try {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
      const answer = await client.queryConnection({ params: { id: connectionId }, body: { sql: text, timeZone } })
      const table = toTable({ ...answer, connectionId, sql: text })
      if (table) onResult(table)
    } catch (error) {
      noticeSignOut(error)
      setProblem(error)
    }
    setRunning(false)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <textarea
        autoFocus
        aria-label="SQL"
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? note : `${note} ${note}-problem`}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        rows={Math.min(16, Math.max(3, text.split("\n").length + 1))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.preventDefault()
            onClose()
          }
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void run()
        }}
        className="field font-mono text-[13px]"
      />
      {problem !== undefined && (
        <p
          id={`${note}-problem`}
          role="alert"
          className="mt-2 rounded-xl bg-danger-soft px-3.5 py-2 text-sm whitespace-pre-wrap text-danger [overflow-wrap:anywhere]"
        >
          {explain(problem)}
        </p>
      )}
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <p id={note} className="mr-auto text-[13px] text-faint">
          {t("views.sqlHint")}
        </p>
        <Button small onClick={onClose}>
          {t("common.close")}
        </Button>
        <Button small look="main" type="submit" disabled={isRunning || text.trim() === ""}>
          <Play className="size-3.5" /> {isRunning ? t("views.running") : t("views.run")}
        </Button>
      </div>
    </form>
  )
}
