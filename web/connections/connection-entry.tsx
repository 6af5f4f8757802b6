import { Database } from "../icons/things.ts"
import { useCallback, useEffect, useState } from "react"
import { Button } from "../parts/button.tsx"
import { Confirm, Dialog } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { client } from "../state/client.ts"
import { type ConnectionView, loadConnections } from "../state/connections.ts"
import { toast } from "../state/toasts.ts"
import { ConnectionForm } from "./connection-form.tsx"
import { SchemaView } from "./schema-view.tsx"
import { ConnectionWarnings } from "./connection-warnings.tsx"
import { useTest } from "./use-test.ts"
import { whereOf } from "./where-of.ts"

interface ConnectionEntryProps {
  readonly connection: ConnectionView
  /** It was stored just now: whether it works is what one wants to know. */
  readonly isNew: boolean
}

/** One connection: try it, look at what is in it, change it, forget it. */
export function ConnectionEntry({ connection, isNew }: ConnectionEntryProps) {
  const { id, name, configured } = connection
  const [doing, setDoing] = useState<"edit" | "remove">()
  const [isShown, setShown] = useState(false)
  const look = useCallback(() => client.testConnection({ params: { id } }), [id])
  const { found, isTrying, tryIt } = useTest(look)
  const close = () => setDoing(undefined)
  useEffect(() => {
    if (isNew) void tryIt()
  }, [isNew, tryIt])
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1.5 px-3.5 py-2">
      <Database className="mr-1 size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-48 flex-1 [overflow-wrap:anywhere]">
        <Plain text={name} />
        <span className="block text-[13px] text-faint">
          <Plain text={whereOf(connection)} />
        </span>
        {!configured && (
          <span className="block text-[13px] text-warn">
            What was stored cannot be opened any more. Edit it and write everything again.
          </span>
        )}
        <span role="status" className={`block text-[13px] ${found?.ok ? "text-good" : "text-danger"}`}>
          {found && <Plain text={found.says} />}
          <ConnectionWarnings found={found} />
        </span>
      </span>
      <span className="flex flex-wrap gap-2">
        <Button small disabled={isTrying} onClick={() => void tryIt()}>
          Test
        </Button>
        <Button small aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          Tables
        </Button>
        <Button small onClick={() => setDoing("edit")}>
          Edit
        </Button>
        <Button small onClick={() => setDoing("remove")}>
          Remove
        </Button>
      </span>
      {isShown && <SchemaView id={id} key={connection.updatedAt} />}
      {doing === "edit" && (
        <Dialog title="Edit this connection" onClose={close}>
          <ConnectionForm
            connection={connection}
            onCancel={close}
            onDone={() => {
              close()
              toast("Stored.")
              void loadConnections().then(tryIt)
            }}
          />
        </Dialog>
      )}
      {doing === "remove" && (
        <Confirm
          title="Remove this connection?"
          says={
            <>
              “<Plain text={name} />” will be forgotten here. The database stays as it is.
            </>
          }
          act="Remove"
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
