import { useState } from "react"
import { Button } from "../components/button.tsx"
import { Dialog } from "../components/dialog.tsx"
import { NameBox } from "../components/plain.tsx"
import { loadConnections } from "../state/connections.ts"
import { type DroppedTable, droppedTables } from "../state/drop-zones.ts"
import { useStore } from "../state/store.ts"
import { toast } from "../state/toasts.ts"
import { t } from "../strings/strings.ts"
import { CsvUpload } from "./csv-upload.tsx"

/** Asks what to do with each table that was dropped, on any page. */
export function TableDialog() {
  const [first] = useStore(droppedTables)
  if (!first) return null
  const close = () => droppedTables.set(droppedTables.value.slice(1))
  return <AskAboutTable key={tableKey(first)} table={first} onClose={close} />
}

const keys = new WeakMap<DroppedTable, number>()
let last = 0

function tableKey(table: DroppedTable): number {
  const key = keys.get(table) ?? ++last
  keys.set(table, key)
  return key
}

function AskAboutTable({ table, onClose }: { readonly table: DroppedTable; readonly onClose: () => void }) {
  const { file, attach, onDatabase } = table
  const [isRead, setRead] = useState(attach === undefined && onDatabase !== undefined)
  return (
    <Dialog title={t("connections.tableDialog")} onClose={onClose}>
      <NameBox text={file.name} />
      {isRead ? (
        <div className="mt-4">
          <CsvUpload
            file={file}
            onCancel={onClose}
            onDone={(connection) => {
              void loadConnections()
              if (onDatabase) onDatabase(connection.id)
              else toast(t("connections.created"))
              onClose()
            }}
          />
        </div>
      ) : (
        <div className="mt-4 space-y-3 text-sm">
          <Choice act={t("connections.create")} onChoose={() => setRead(true)}>
            {t("connections.createHint")}
          </Choice>
          {attach && (
            <Choice
              act={t("connections.attach")}
              onChoose={() => {
                attach()
                onClose()
              }}
            >
              {t("connections.attachHint")}
            </Choice>
          )}
          <div className="flex justify-end">
            <Button onClick={onClose}>{t("common.cancel")}</Button>
          </div>
        </div>
      )}
    </Dialog>
  )
}

interface ChoiceProps {
  readonly act: string
  readonly onChoose: () => void
  readonly children: string
}

const Choice = ({ act, onChoose, children }: ChoiceProps) => (
  <button
    type="button"
    onClick={onChoose}
    className="block w-full rounded-xl border border-line px-4 py-3 text-left hover:border-accent"
  >
    <span className="block font-medium">{act}</span>
    <span className="block text-[13px] text-soft">{children}</span>
  </button>
)
