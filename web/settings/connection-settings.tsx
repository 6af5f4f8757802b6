import { Database } from "lucide-react"
import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Plain } from "../parts/plain.tsx"
import { client } from "../state/client.ts"
import { ConnectionForm } from "./connection-form.tsx"
import { Part, Things } from "./part.tsx"
import { readPages } from "./read-pages.ts"
import { useLoaded } from "./use-loaded.tsx"

type ConnectionView = Awaited<ReturnType<typeof client.readConnection>>

/** Databases of the person that may be looked into. */
export function ConnectionSettings() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listConnections({ query })))
  return (
    <>
      <Part
        title="Connections"
        says="Databases of yours that may be looked into. They are only ever read. A password is stored encrypted and never shown again."
      >
        {trouble}
        {value?.length === 0 && <p className="text-sm text-faint">None yet.</p>}
        {value && value.length > 0 && (
          <Things>
            {value.map((connection) => (
              <Entry key={connection.id} connection={connection} onChanged={reload} />
            ))}
          </Things>
        )}
      </Part>
      <Part title="Connect a database">
        <ConnectionForm onDone={reload} />
      </Part>
    </>
  )
}

interface EntryProps {
  readonly connection: ConnectionView
  readonly onChanged: () => Promise<void>
}

function Entry({ connection, onChanged }: EntryProps) {
  const { id, name, configured } = connection
  const [found, setFound] = useState<{ readonly ok: boolean; readonly says: string }>()
  const [doing, setDoing] = useState<"test" | "remove">()
  const tryIt = async () => {
    setDoing("test")
    setFound(undefined)
    await attempt(async () => {
      const { ok, problem, ms } = await client.testConnection({ params: { id } })
      setFound({ ok, says: ok ? `It answers, in ${ms} ms.` : (problem ?? "It does not answer.") })
    })
    setDoing(undefined)
  }
  return (
    <li className="flex flex-wrap items-center gap-3 px-3.5 py-2">
      <Database className="size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-40 flex-1 [overflow-wrap:anywhere]">
        <Plain text={name} />
        <span className="block text-[13px] text-faint">
          <Plain text={whereOf(connection)} />
        </span>
        {!configured && (
          <span className="block text-[13px] text-warn">
            What was stored cannot be opened any more. Remove it and connect it again.
          </span>
        )}
        <span role="status" className={`block text-[13px] ${found?.ok ? "text-good" : "text-danger"}`}>
          {found && <Plain text={found.says} />}
        </span>
      </span>
      <Button small disabled={doing === "test"} onClick={() => void tryIt()}>
        Test
      </Button>
      <Button small onClick={() => setDoing("remove")}>
        Remove
      </Button>
      {doing === "remove" && (
        <Confirm
          title="Remove this connection?"
          says={
            <>
              “<Plain text={name} />” will be forgotten here. The database stays as it is.
            </>
          }
          act="Remove"
          onClose={() => setDoing(undefined)}
          onAct={() => {
            setDoing(undefined)
            void attempt(() => client.removeConnection({ params: { id } })).then(onChanged)
          }}
        />
      )}
    </li>
  )
}

function whereOf({ kind, path, user, host, port, database }: ConnectionView): string {
  if (kind === "sqlite") return `SQLite, ${path ?? ""}`
  return `PostgreSQL, ${user ?? ""}@${host ?? ""}:${port ?? ""}/${database ?? ""}`
}
