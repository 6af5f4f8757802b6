import { useCallback, useEffect, useState } from "react"
import { Database, RotateCw } from "../components/icons.tsx"
import { Markdown } from "../markdown/markdown.tsx"
import { Button } from "../components/button.tsx"
import { Confirm, Dialog } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { escapeHidden } from "../../../client/index.ts"
import { Plain } from "../components/plain.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { client } from "../state/client.ts"
import { type ConnectionView, loadConnections, whereOf } from "../state/connections.ts"
import { toast } from "../state/toasts.ts"
import { time } from "../strings/format.ts"
import { t } from "../strings/strings.ts"
import { ConnectionForm, ConnectionWarnings } from "./connection-form.tsx"
import { useTest } from "./use-test.ts"

interface ConnectionEntryProps {
  readonly connection: ConnectionView
  /** True for a new connection, which is tested at once. */
  readonly isNew: boolean
}

/** One connection: test it, show its tables, edit it, remove it. */
export function ConnectionEntry({ connection, isNew }: ConnectionEntryProps) {
  const { id, name, configured } = connection
  const [doing, setDoing] = useState<"edit" | "remove">()
  const [isShown, setShown] = useState(false)
  const look = useCallback(() => client.testConnection({ params: { id } }), [id])
  const { found, isTesting, runTest } = useTest(look)
  const close = () => setDoing(undefined)
  useEffect(() => {
    if (isNew) void runTest()
  }, [isNew, runTest])
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1.5 px-3.5 py-2">
      <Database className="mr-1 size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-48 flex-1 [overflow-wrap:anywhere]">
        <Plain text={name} />
        <span className="block text-[13px] text-faint">
          <Plain text={whereOf(connection)} />
        </span>
        {!configured && <span className="block text-[13px] text-warn">{t("connections.undecryptable")}</span>}
        <span role="status" className={`block text-[13px] ${found?.ok ? "text-good" : "text-danger"}`}>
          {found && <Plain text={found.text} />}
          <ConnectionWarnings found={found} />
        </span>
      </span>
      <span className="flex flex-wrap gap-2">
        <Button small disabled={isTesting} onClick={() => void runTest()}>
          {t("connections.test")}
        </Button>
        <Button small aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {t("connections.tables")}
        </Button>
        <Button small onClick={() => setDoing("edit")}>
          {t("connections.edit")}
        </Button>
        <Button small onClick={() => setDoing("remove")}>
          {t("common.remove")}
        </Button>
      </span>
      {isShown && <SchemaView id={id} key={connection.updatedAt} />}
      {doing === "edit" && (
        <Dialog title={t("connections.editTitle")} onClose={close}>
          <ConnectionForm
            connection={connection}
            onCancel={close}
            onDone={() => {
              close()
              toast(t("connections.saved"))
              void loadConnections().then(runTest)
            }}
          />
        </Dialog>
      )}
      {doing === "remove" && (
        <Confirm
          title={t("connections.removeTitle")}
          name={name}
          says={t("connections.removeHint")}
          act={t("common.remove")}
          onClose={close}
          onAct={() => {
            close()
            void attempt(() => client.removeConnection({ params: { id } })).then(loadConnections)
          }}
        />
      )}
    </li>
  )
}

/** The tables of a database, as an assistant receives them. */
function SchemaView({ id }: { readonly id: string }) {
  const [asked, setAsked] = useState(0)
  return <Schema key={asked} id={id} isAgain={asked > 0} onAgain={() => setAsked(asked + 1)} />
}

interface SchemaProps {
  readonly id: string
  /** Reads the database again instead of using the cache of the server. */
  readonly isAgain: boolean
  readonly onAgain: () => void
}

function Schema({ id, isAgain, onAgain }: SchemaProps) {
  const { value, trouble } = useLoaded(() =>
    client.readSchema({ params: { id }, query: isAgain ? { refresh: "true" } : {} }),
  )
  return (
    <div role="group" aria-label={t("connections.tables")} className="w-full min-w-0 pb-1">
      {trouble}
      {!value && !trouble && <p className="py-1 text-[13px] text-faint">{t("connections.loadingTables")}</p>}
      {value && (
        <>
          <div className="mb-1 flex items-center gap-2 text-[13px] text-faint">
            <p className="flex-1">
              {value.shown < value.tables
                ? t("connections.schemaPart", { tables: value.tables, shown: value.shown, time: time(value.readAt) })
                : t("connections.schema", { tables: value.tables, time: time(value.readAt) })}
            </p>
            <Button small look="quiet" onClick={onAgain}>
              <RotateCw className="size-3.5" /> {t("connections.readAgain")}
            </Button>
          </div>
          <div
            tabIndex={0}
            role="group"
            aria-label={t("connections.tablesAndColumns")}
            className="max-h-96 overflow-auto rounded-xl border border-line px-4 py-2 text-[13px]"
          >
            {/* Our own markup, so left to right whatever the names are. */}
            <Markdown dir="ltr" text={escapeHidden(value.markdown)} />
          </div>
        </>
      )}
    </div>
  )
}
